"use strict";
// The engine of "A serving engine", replayed without a network.
{
    const {say, number, range, slider, choice, axes, rect, show} = window.modelTools;
    // Arrival, prompt and answer of each user. The first 48 tokens of all prompts are the same.
    const USERS = ("6,80,5 6,80,60 14,72,60 15,64,10 16,56,20 29,148,10 31,56,20 32,72,60 34,64,60 35,72,5 40,56,5 "
        + "44,56,60 49,64,20 53,64,10 54,64,60 54,148,60 54,72,5 57,148,10 67,148,20 69,80,20 71,64,10 76,148,20 "
        + "78,64,10 86,56,60").split(" ").map(user => user.split(",").map(Number));
    const sum = (list, of) => list.reduce((total, each) => total + of(each), 0);

    // A batch of 24 is always open. Passes are [start, end, [[user, tokens, reads], …], places filled, taken], and
    // users [arrival, time to first token, longest gap, end].
    function serve(batch, most, number, size, sharing, every) {
        const users = USERS.map(([arrival, tokens, count], id) =>
            ({id, arrival: arrival * every / 3, tokens, count, done: 0, pages: [], times: []}));
        const passes = [], known = []; // known[page] is the text that fills it
        const text = ({id}, n) => (n + 1) * size > 48 ? 99 * (id + 1) + n : n;
        let free = range(0, number - 1), now = 0, here;

        function giveBack(user) {
            user.done = 0;
            free.push(...user.pages.splice(0).filter(page => !users.some(({pages}) => pages.includes(page))));
        }

        function fits(user) {
            const {id, tokens, pages} = user;
            while (sharing && pages.length * size === user.done && user.done + size < tokens) {
                const page = known.indexOf(text(user, pages.length));
                if (page < 0) break;
                free = free.filter(each => each !== page);
                pages.push(page);
                user.done += size;
            }
            user.part = Math.min(user.part, tokens - user.done);
            const missing = Math.ceil((user.done + user.part) / size) - pages.length;
            const newer = here.filter(each => each.id > id && each.pages.length);
            while (missing > free.length && newer.length) giveBack(newer.pop());
            if (missing > free.length) return false;
            return pages.push(...free.splice(0, missing).filter(page => delete known[page]));
        }

        for (;;) {
            const left = users.filter(({times, count}) => times.length < count);
            const start = Math.max(now, left[0]?.arrival);
            here = left.filter(({arrival}) => arrival <= start);
            const begun = here.filter(({pages}) => pages.length);
            const asked = batch < 24 && begun.length ? begun : here.slice(0, batch);
            let budget = most;
            for (const user of asked) budget -= user.part = Math.min(user.tokens - user.done, budget);
            const work = asked.filter(user => user.part && fits(user));
            if (!work.length) {
                return {passes, left: left.length, users: users.map(({arrival, times, count}) =>
                    [arrival, times[0] - arrival, Math.max(...times.slice(1).map((time, n) => time - times[n])),
                     times[count - 1] ?? NaN])};
            }
            now = start + Math.max(1, sum(work, ({part}) => part) / 16);
            for (const user of work) user.done += user.part;
            passes.push([start, now, work.map(({id, part, times}) => [id, part, part > 1 || !times.length]),
                         sum(here, ({done}) => done), sum(here, ({pages}) => pages.length * size)]);
            for (const user of work) {
                user.pages.forEach((page, n) => {
                    if ((n + 1) * size <= user.done && !known.includes(text(user, n))) known[page] = text(user, n);
                });
                if (user.done === user.tokens) user.tokens = USERS[user.id][1] + user.times.push(now);
                if (user.times.length === user.count) giveBack(user);
            }
        }
    }

    // Passes, end, median time to first token, longest gap, promises kept, share of places filled.
    function figures({passes, users}) {
        const sorted = users.map(user => user[1]).sort((one, two) => one - two);
        const over = n => sum(passes, pass => pass[n] * (pass[1] - pass[0]));
        return [passes.length, passes.at(-1)[1], (sorted[11] + sorted[12]) / 2, Math.max(...users.map(user => user[2])),
                users.filter(([, first, gap]) => first <= 30 && gap <= 2).length, over(3) / over(4)];
    }

    function draw({batch, most, memory, size, sharing, every}, width) {
        const pages = Math.floor(memory / size);
        const record = serve(batch, most, pages, size, sharing, every);
        const {passes, left, users} = record;
        const text = left ? say("{0} pages are too few: {1} of 24 users do not get their answers.", pages, left)
            : say("{0} passes, all done at {1}. First token after {2} (median), longest gap {3}, both promises kept to "
                  + "{4} of 24 users. {6} pages; those taken were {5} full.", ...figures(record).map(number), pages);
        const end = Math.max(1, users[23][0], ...passes.map(pass => pass[1]));
        const bars = [...users.map(([arrival, , , done], id) => ["waiting", id, arrival, done || end]),
                      ...passes.flatMap(([from, to, work]) => work.map(([id, , reads]) =>
                          [`slim pass device0 ${reads ? "F" : "B"}`, id, from, to]))];
        const rows = [0, 7, 15, 23].map(id => [14 * id + 12, say("user {0}", id + 1)]);
        const x = {min: 0, max: end, label: say("time, in readings of the weights")};
        const picture = axes({width, height: 394, x, rows}, px => bars.map(([kind, id, from, to]) =>
            rect(kind, px(from), px(to), 14 * id + 6, 12)).join(""));
        return {text, picture: {...picture, label: text},
                key: [["waiting", say("waiting")], ["F device0", say("prompt")], ["B device0", say("answer")]],
                table: [[say("user"), say("arrival"), say("first token"), say("longest gap"), say("end")],
                        ...users.map((user, id) => [id + 1, ...user].map(each => isFinite(each) ? number(each) : "–"))]};
    }

    show("engine", {
        title: say("Interactive model: who waits?"),
        style: ".model .slim { stroke-width: 0.12px; }",
        functions: {serve, figures},
        inputs: [choice("batch", say("Policy"), [[1, say("one after another")], [8, say("batch by batch")],
                                                 [24, say("continuous")]], 24),
                 slider("most", say("Budget, in tokens"), [4, 8, 16, 32, 64, 4000], 16),
                 slider("memory", say("Memory, in tokens"), [128, 208, 256, 320, 512, 1024, 2048], 320, String),
                 slider("size", say("Tokens per page"), [4, 8, 16, 32, 64, 256], 16),
                 slider("every", say("Time between arrivals"), [0, 1, 2, 3, 4, 6], 3),
                 choice("sharing", say("Common beginning"), [[1, say("shared")], ["", say("not shared")]], 1)],
        draw,
    });
}
