"use strict";
// The two formulas of "Asynchronous computation": t1 is a dispatch, t2 the operator's run, t3 the extra time of a wait.
{
    const {say, number, time, range, slider, axes, rect, show} = window.modelTools;
    const SHOWN = 5; // calls in the picture

    const waitingEach = (t1, t2, t3, n) => n * (t1 + t2 + t3);
    const waitingOnce = (t1, t2, t3, n) => t1 + (n - 1) * Math.max(t1, t2) + t2 + t3;

    // Of each call: the end of its dispatch, then start and end of its run. `each` says whether Python waits for it.
    function calls(t1, t2, t3, n, each) {
        const made = [];
        for (const call of range(0, n - 1)) {
            const asked = (each ? call * (t1 + t2 + t3) : call * t1) + t1;
            const start = Math.max(asked, made.at(-1)?.[2] ?? 0);
            made.push([asked, start, start + t2]);
        }
        return made;
    }

    function draw({t1, t2, t3, n}, width) {
        const drawn = Math.min(n, SHOWN);
        const x = {min: 0, max: waitingEach(t1, t2, t3, drawn), label: say("time of the first {0} calls", drawn),
                   words: us => time(us / 1e6)};
        const ways = [[true, 26, say("a wait after each call")], [false, 134, say("one wait at the end")]];
        const rows = ways.flatMap(([, top]) => [[top + 15, "Python"], [top + 49, say("device")]]);
        const picture = axes({width, height: 268, x, rows}, px => ways.map(([each, top, name]) => {
            const box = (kind, row, from, to) => rect(kind, px(from), px(to), top + 34 * row, 30);
            const made = calls(t1, t2, t3, drawn, each);
            const last = made.at(-1);
            return `<text x="78" y="${top - 8}">${name}</text>`
                + made.map(([asked, start, end]) => box("pass python", 0, asked - t1, asked)
                    + box("pass F device0", 1, start, end) + (each ? box("waiting", 0, asked, end + t3) : "")).join("")
                + (!each && n === drawn ? box("waiting", 0, last[0], last[2] + t3) : "");
        }).join(""));
        const [often, once] = [waitingEach(t1, t2, t3, n), waitingOnce(t1, t2, t3, n)];
        const slower = t1 > t2 ? say("Python is the slower row: the work is overhead-bound.")
            : t1 < t2 ? say("The device is the slower row.") : say("Both rows are equally slow.");
        const [slow, fast] = [time(often / 1e6), time(once / 1e6)];
        const text = say("{0} calls take {1} with a wait after each, {2} with one wait at the end: {3} times as fast.",
                         number(n), slow, fast, number(often / once));
        const inTime = (formula, calls) => time(formula(t1, t2, t3, calls) / 1e6);
        return {text: `${text} ${slower}`,
                key: [["pass python", say("t1, a dispatch: {0}", us(t1))],
                      ["F device0", say("t2, the run: {0}", us(t2))],
                      ["waiting", say("Python waits, t3 of it extra: {0}", us(t3))]],
                picture: {...picture, label: say("Python and the device; {0} calls take {1} or {2}", number(n), slow,
                                                 fast)},
                table: [[say("calls"), ...ways.map(([, , name]) => name)], ...[1, 10, 100, 1000].map(calls =>
                    [number(calls), inTime(waitingEach, calls), inTime(waitingOnce, calls)])]};
    }

    const times = [1, 2, 5, 10, 20, 50, 100, 200, 500];
    const us = value => `${number(value)} µs`;
    show("queue", {
        title: say("Interactive model: Python, the queue and the device"),
        style: ".model .python { --tint: #b4b4b4; }",
        functions: {waitingEach, waitingOnce, calls},
        inputs: [slider("t1", say("t1, Python's dispatch"), times, 20, us),
                 slider("t2", say("t2, the operator's run"), times, 50, us),
                 slider("t3", say("t3, the extra time of a wait"), [0, ...times], 50, us),
                 slider("n", say("Calls"), [1, 2, 3, 5, 10, 20, 50, 100, 200, 1000], 200)],
        draw,
    });
}
