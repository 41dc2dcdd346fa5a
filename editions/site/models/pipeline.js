"use strict";
// The schedules of "Splitting the network", replayed as if messages took no time: a forward pass takes 1, a backward 2.
{
    const {share, range, slider, choice, axes, rect, block, show} = window.modelTools;
    const UNITS = {F: 1, B: 2};

    function order(way, stages, parts, stage) {
        const forward = range(0, parts - 1).map(part => ["F", part]);
        const backward = range(0, parts - 1).map(part => ["B", part]);
        if (way === "forward only") return forward;
        if (way === "GPipe") return [...forward, ...backward];
        const ahead = Math.min(parts, stages - stage); // 1F1B: so many before the first backward pass
        const turns = backward.flatMap((pass, n) => [pass, ...forward.slice(ahead + n, ahead + n + 1)]);
        return [...forward.slice(0, ahead), ...turns];
    }

    // For each stage a list of [kind, part, start, end].
    function schedule(way, stages, parts) {
        const waiting = range(0, stages - 1).map(stage => order(way, stages, parts, stage));
        const done = waiting.map(() => []);
        const ends = {};
        while (waiting.some(passes => passes.length)) {
            waiting.forEach((passes, stage) => {
                while (passes.length) {
                    const [kind, part] = passes[0];
                    const neighbour = kind === "F" ? stage - 1 : stage + 1;
                    const needed = neighbour < 0 || neighbour >= stages ? 0 : ends[[kind, part, neighbour]];
                    if (needed === undefined) return;
                    const start = Math.max(done[stage].at(-1)?.[3] ?? 0, needed);
                    ends[[kind, part, stage]] = start + UNITS[kind];
                    done[stage].push([kind, part, start, start + UNITS[kind]]);
                    passes.shift();
                }
            });
        }
        return done;
    }

    const bubble = (stages, parts) => (stages - 1) / (parts + stages - 1);

    function idle(record) {
        const end = Math.max(...record.map(passes => passes.at(-1)[3]));
        const work = record.flat().reduce((sum, pass) => sum + pass[3] - pass[2], 0);
        return 1 - work / (record.length * end);
    }

    function alive(passes) {
        let now = 0, most = 0;
        for (const [kind] of passes) {
            now += kind === "F" ? 1 : -1;
            most = Math.max(most, now);
        }
        return most;
    }

    function draw({way, stages, parts}, width) {
        const record = schedule(way, stages, parts);
        const end = Math.max(...record.map(passes => passes.at(-1)[3]));
        const row = stage => 6 + 36 * stage;
        const rows = record.map((_, stage) => [row(stage) + 15, `stage ${stage}`]);
        const x = {min: 0, max: end, label: "time, in forward passes"};
        const picture = axes({width, height: row(stages) + 52, x, rows}, px => record.map((passes, stage) =>
            rect("waiting", px(0), px(end), row(stage), 30) + passes.map(([kind, part, start, stop]) =>
                block(`pass ${kind} device${stage}`, px(start), px(stop), row(stage), 30, kind + part)
            ).join("")).join(""));
        const kept = record.map(alive);
        const waiting = share(idle(record));
        const memory = way === "forward only" ? "Without a backward pass, no stage keeps activations."
            : `Stages 0 to ${stages - 1} keep at most ${kept.join(", ")} of ${parts} micro-batches: `
              + `on stage 0 that is ${share(kept[0] / parts)} of the batch.`;
        const plan = `${way}, ${stages} stages, ${parts} micro-batches`;
        return {text: `${plan}: stages wait for ${waiting} of the time. ${memory}`,
                key: [["waiting", `waiting, ${waiting}`], ["F device0", "F, a forward pass"],
                      ...way === "forward only" ? [] : [["B device0", "B, a backward pass: twice the work"]]],
                picture: {...picture, label: `Which stage works when, ${plan}`},
                table: [["stage", "waiting", "alive", "order"], ...record.map((passes, stage) =>
                    [stage, waiting, way === "forward only" ? "none" : kept[stage],
                     passes.map(([kind, part]) => kind + part).join(" ")])]};
    }

    show("pipeline", {
        title: "A model to play with: a pipeline's schedule",
        functions: {schedule, bubble, idle, alive},
        inputs: [choice("way", "Schedule", ["GPipe", "1F1B", "forward only"], "GPipe"),
                 slider("stages", "Stages", range(2, 6), 4),
                 slider("parts", "Micro-batches", range(1, 16), 4)],
        draw,
    });
}
