"use strict";
// The formula of PyTorch's lesson 03, and a schedule that follows it: each worker is at most two batches ahead.
{
    const {say, number, time, range, slider, axes, rect, block, show} = window.modelTools;
    const SHOWN = 8; // batches in the picture

    const period = (workers, load, train) => workers === 0 ? load + train : Math.max(load / workers, train);

    // For each batch [worker, start and end of loading, start and end of training]; worker −1 is the loop itself.
    function schedule(workers, load, train, batches) {
        const made = [];
        for (const batch of range(0, batches - 1)) {
            const free = made.at(-1)?.[4] ?? 0; // when the loop asks for this batch
            const asked = workers === 0 ? free : made[batch - 2 * workers]?.[3] ?? 0;
            const start = Math.max(asked, made[batch - workers]?.[2] ?? 0);
            const begin = Math.max(start + load, free);
            made.push([workers === 0 ? -1 : batch % workers, start, start + load, begin, begin + train]);
        }
        return made;
    }

    function draw({workers, load, train}, width) {
        const made = schedule(workers, load, train, SHOWN);
        const end = made.at(-1)[4];
        const row = worker => 6 + 36 * worker; // the loop is the last row
        const rows = [...range(0, workers - 1).map(n => [row(n) + 15, say("worker {0}", n)]),
                      [row(workers) + 15, say("loop")]];
        const x = {min: 0, max: end, label: say("time of the first {0} batches", SHOWN), words: ms => time(ms / 1e3)};
        const picture = axes({width, height: row(workers + 1) + 52, left: 84, x, rows}, px =>
            rect("waiting", px(0), px(end), row(workers), 30) + made.map(([worker, start, ready, begin, stop], batch) =>
                block("pass loading", px(start), px(ready), row(worker < 0 ? workers : worker), 30, `${batch}`)
                + block("pass F device0", px(begin), px(stop), row(workers), 30, `${batch}`)).join(""));
        const each = period(workers, load, train);
        const ms = value => time(value / 1e3);
        const names = workers === 1 ? say("1 worker") : say("{0} workers", workers);
        const text = [
            say("{0}: a batch every {1}, once all have started.", names, ms(each)),
            say("Loading takes {0}, training {1}.", ms(load), ms(train)),
            each > train ? say("The loop waits {0} per batch.", ms(each - train)) : say("The loop never waits."),
        ].join(" ");
        return {text,
                key: [["pass loading", say("a batch is loaded")], ["F device0", say("the loop trains")],
                      ["waiting", say("the loop waits")]],
                picture: {...picture, label: say("{0}, a batch every {1}; {2} batches take {3}", names, ms(each), SHOWN,
                                                 ms(end))},
                table: [[say("workers"), say("a batch every"), say("the loop waits")], ...range(0, 4).map(n =>
                    [number(n), ms(period(n, load, train)), ms(period(n, load, train) - train)])]};
    }

    const times = [5, 10, 20, 50, 100, 200, 500];
    show("loader", {
        title: say("Interactive model: workers that load batches"),
        style: ".model .loading { --tint: color-mix(in srgb, #009e73 60%, white); }",
        functions: {period, schedule},
        inputs: [slider("workers", say("Workers"), range(0, 4), 1),
                 slider("load", say("Loading a batch"), times, 100, ms => time(ms / 1e3)),
                 slider("train", say("Training with a batch"), times, 50, ms => time(ms / 1e3))],
        draw,
    });
}
