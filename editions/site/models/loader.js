"use strict";
// The formula of PyTorch's lesson 03, and a schedule that follows it: each worker is at most two batches ahead.
{
    const {number, time, range, slider, axes, rect, block, show} = window.modelTools;
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
        const rows = [...range(0, workers - 1).map(n => [row(n) + 15, `worker ${n}`]), [row(workers) + 15, "loop"]];
        const x = {min: 0, max: end, label: `time of the first ${SHOWN} batches`, words: ms => time(ms / 1e3)};
        const picture = axes({width, height: row(workers + 1) + 52, left: 84, x, rows}, px =>
            rect("waiting", px(0), px(end), row(workers), 30) + made.map(([worker, start, ready, begin, stop], batch) =>
                block("pass loading", px(start), px(ready), row(worker < 0 ? workers : worker), 30, `${batch}`)
                + block("pass F device0", px(begin), px(stop), row(workers), 30, `${batch}`)).join(""));
        const each = period(workers, load, train);
        const ms = value => time(value / 1e3);
        const names = workers === 1 ? "1 worker" : `${workers} workers`;
        return {text: `${names}: a batch every ${ms(each)}, once all have started. Loading takes ${ms(load)}, training `
                    + `${ms(train)}. ${each > train ? `The loop waits ${ms(each - train)} per batch.` : "The loop never waits."}`,
                key: [["pass loading", "a batch is loaded"], ["F device0", "the loop trains"], ["waiting", "the loop waits"]],
                picture: {...picture, label: `${names}, a batch every ${ms(each)}; ${SHOWN} batches take ${ms(end)}`},
                table: [["workers", "a batch every", "the loop waits"], ...range(0, 4).map(n =>
                    [number(n), ms(period(n, load, train)), ms(period(n, load, train) - train)])]};
    }

    const times = [5, 10, 20, 50, 100, 200, 500];
    show("loader", {
        title: "A model to play with: workers that load batches",
        functions: {period, schedule},
        inputs: [slider("workers", "Workers", range(0, 4), 1),
                 slider("load", "Loading a batch", times, 100, ms => time(ms / 1e3)),
                 slider("train", "Training with a batch", times, 50, ms => time(ms / 1e3))],
        draw,
    });
}
