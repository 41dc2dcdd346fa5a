"use strict";
// The schedules of "Splitting the network", replayed as if messages took no time: a forward pass takes 1, a backward 2.
{
    const {say, share, range, slider, choice, axes, rect, block, show} = window.modelTools;
    const UNITS = {F: 1, B: 2};
    const SCHEDULES = [["GPipe", "GPipe"], ["1F1B", "1F1B"], ["forward only", say("forward only")]];

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
        const rows = record.map((_, stage) => [row(stage) + 15, say("stage {0}", stage)]);
        const x = {min: 0, max: end, label: say("time, in forward passes")};
        const picture = axes({width, height: row(stages) + 52, x, rows}, px => record.map((passes, stage) =>
            rect("waiting", px(0), px(end), row(stage), 30) + passes.map(([kind, part, start, stop]) =>
                block(`pass ${kind} device${stage}`, px(start), px(stop), row(stage), 30, kind + part)
            ).join("")).join(""));
        const kept = record.map(alive);
        const waiting = share(idle(record));
        const memory = way === "forward only" ? say("Without a backward pass, no stage keeps activations.")
            : say("Stages 0 to {0} keep at most {1} of {2} micro-batches: on stage 0 that is {3} of the batch.",
                  stages - 1, kept.join(", "), parts, share(kept[0] / parts));
        const plan = say("{0}, {1} stages, {2} micro-batches", new Map(SCHEDULES).get(way), stages, parts);
        return {text: say("{0}: stages wait for {1} of the time. {2}", plan, waiting, memory),
                key: [["waiting", say("waiting, {0}", waiting)], ["F device0", say("F, a forward pass")],
                      ...way === "forward only" ? [] : [["B device0", say("B, a backward pass: twice the work")]]],
                picture: {...picture, label: say("Which stage works when, {0}", plan)},
                table: [[say("stage"), say("waiting"), say("alive"), say("order")], ...record.map((passes, stage) =>
                    [stage, waiting, way === "forward only" ? say("none") : kept[stage],
                     passes.map(([kind, part]) => kind + part).join(" ")])]};
    }

    show("pipeline", {
        title: say("Interactive model: a pipeline's schedule"),
        style: ".model .device2 { --of: #cc79a7; } .model .device3 { --of: #e69f00; } "
            + ".model .device4 { --of: #56b4e9; } .model .device5 { --of: #5b4a9b; }",
        functions: {schedule, bubble, idle, alive},
        inputs: [choice("way", say("Schedule"), SCHEDULES, "GPipe"),
                 slider("stages", say("Stages"), range(2, 6), 4),
                 slider("parts", say("Micro-batches"), range(1, 16), 4)],
        draw,
    });
}
