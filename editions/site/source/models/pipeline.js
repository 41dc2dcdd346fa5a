"use strict";
// Schedules of pipelines, replayed as if messages took no time. I and W are halves of B, a backward pass.
{
    const {say, share, range, slider, choice, axes, rect, block, show} = window.modelTools;
    const SCHEDULES = [["GPipe", "GPipe"], ["1F1B", "1F1B"], ["interleaved", say("interleaved")],
                       ["ZB-H1", "ZB-H1"], ["ZB-H2", "ZB-H2"], ["ZB-V", "ZB-V"], ["forward only", say("forward only")]];
    const stagesOf = way => ["interleaved", "ZB-V"].includes(way) ? 2 : 1;

    // A list of [kind, part, stage]; F' is F in a second stage.
    function order(way, ranks, parts, rank) {
        const later = ranks - 1 - rank;
        const second = ranks + (way === "ZB-V" ? later : rank);
        const most = way === "ZB-V" ? Math.max(parts, 2 * ranks - 1) : parts;
        const passes = [], next = {};
        const add = (times, ...kinds) => range(1, times).forEach(() => kinds.forEach(kind => {
            const part = next[kind] ?? 0;
            if (part < most) passes.push([kind[0], part, kind[1] ? second : rank]);
            next[kind] = Math.min(part + 1, most);
        }));
        if (way === "ZB-V") {
            add(2 * later + 1, "F");
            add(rank, "F'", "F");
            add(later + 1, "F'", "I'", "W'");
            while (next["F'"] < most) add(1, "F", "I", "W", "F'", "I'", "W'");
            add(rank, "I", "I'");
            add(later + 1, "I", "W");
            add(most, "W'"); add(most, "W");
        } else if (way === "interleaved") {
            const size = Math.ceil(parts / Math.max(1, Math.floor(parts / ranks)));
            const ahead = size + 2 * later;
            for (const n of range(0, 99)) {
                add(1, ["F", "F'"][Math.floor(n / size) % 2]);
                if (n >= ahead) add(1, ["B'", "B"][Math.floor((n - ahead) / size) % 2]);
            }
        } else if (way.startsWith("ZB")) {
            const times = +way.at(-1);
            add(times * later + 1, "F");
            for (const part of range(0, parts - 1)) add(1, "I", ...part < times * rank ? [] : ["W"], "F");
            add(parts, "W");
        } else {
            add(way === "1F1B" ? later + 1 : parts, "F");
            if (way !== "forward only") add(parts, "B", "F");
        }
        return passes.filter(([, part]) => part < parts);
    }

    // Per device a list of [kind, part, start, end, stage].
    function schedule(way, ranks, parts) {
        const waiting = range(0, ranks - 1).map(rank => order(way, ranks, parts, rank));
        const last = ranks * stagesOf(way) - 1;
        const done = waiting.map(() => []);
        const ends = {};
        for (let rank = 0; waiting.some(passes => passes.length); rank = (rank + 1) % ranks) {
            while (waiting[rank].length) {
                const [kind, part, stage] = waiting[rank][0];
                const back = 2 * last + 1 - stage; // steps of a micro-batch; W is none
                const step = {F: stage, W: back + 1}[kind] ?? back;
                const ready = step ? ends[[part, step - 1]] : 0;
                if (ready === undefined) break;
                const start = Math.max(done[rank].at(-1)?.[3] ?? 0, ready);
                const end = start + (kind === "B" ? 2 : 1) / stagesOf(way);
                if (kind !== "W") ends[[part, step]] = end;
                done[rank].push([kind, part, start, end, stage]);
                waiting[rank].shift();
            }
        }
        return done;
    }

    const bubble = (ranks, parts) => (ranks - 1) / (parts + ranks - 1);
    const endOf = record => Math.max(...record.map(passes => passes.at(-1)[3]));

    function idle(record) {
        const work = record.flat().reduce((sum, pass) => sum + pass[3] - pass[2], 0);
        return 1 - work / (record.length * endOf(record));
    }

    function alive(passes) {
        let now = 0, most = 0;
        for (const [kind] of passes) {
            now += {F: 1, I: 0}[kind] ?? -1;
            most = Math.max(most, now);
        }
        return most / new Set(passes.map(pass => pass[4])).size;
    }

    const tint = kind => kind === "I" ? "B" : kind;

    function draw({way, ranks, parts}, width) {
        const record = schedule(way, ranks, parts);
        const end = endOf(record);
        const row = rank => 6 + 36 * rank;
        const rows = record.map((_, rank) => [row(rank) + 15, say("device {0}", rank)]);
        const x = {min: 0, max: end, label: say("time, in forward passes")};
        const picture = axes({width, height: row(ranks) + 52, x, rows}, px => record.map((passes, rank) =>
            rect("waiting", px(0), px(end), row(rank), 30) + passes.map(([kind, part, start, stop, stage]) =>
                block(`pass ${tint(kind)} device${rank}`, px(start), px(stop), row(rank), 30, kind + part)
                + (stage === rank ? "" : rect("second", px(start), px(stop), row(rank) + 25, 5))
            ).join("")).join(""));
        const kept = record.map(alive);
        const waiting = share(idle(record));
        const memory = way === "forward only" ? say("Without a backward pass, no device keeps activations.")
            : say("Devices 0 to {0} keep at most {1} of {2} micro-batches: on device 0 that is {3} of the batch.",
                  ranks - 1, kept.join(", "), parts, share(kept[0] / parts));
        const plan = say("{0}, {1} devices, {2} micro-batches", new Map(SCHEDULES).get(way), ranks, parts);
        const kinds = {F: say("F, a forward pass"), B: say("B, a backward pass: twice the work"),
                       I: say("I, the gradient of a stage's input"), W: say("W, those of its weights")};
        const done = Object.entries(kinds).filter(([kind]) => record[0].some(pass => pass[0] === kind));
        return {text: say("{0}: devices wait for {1} of the time. {2}", plan, waiting, memory),
                key: [["waiting", say("waiting, {0}", waiting)],
                      ...done.map(([kind, words]) => [`pass ${tint(kind)} device0`, words]),
                      ...stagesOf(way) === 2 ? [["second", say("second stage")]] : []],
                picture: {...picture, label: say("Which device works when, {0}", plan)},
                table: [[say("device"), say("waiting"), say("alive"), say("order")], ...record.map((passes, rank) =>
                    [rank, waiting, way === "forward only" ? say("none") : kept[rank],
                     passes.map(([kind, part]) => kind + part).join(" ")])]};
    }

    show("pipeline", {
        title: say("Interactive model: a pipeline's schedule"),
        style: ["#cc79a7", "#e69f00", "#56b4e9", "#5b4a9b"].map((colour, n) =>
            `.model .device${n + 2} { --of: ${colour}; }`).join(" ")
            + " .model .W { --tint: var(--of); } .model .second { background: #000; outline: 1px solid; }",
        functions: {schedule, bubble, idle, alive},
        inputs: [choice("way", say("Schedule"), SCHEDULES, "GPipe"),
                 slider("ranks", say("Devices"), range(2, 6), 4),
                 slider("parts", say("Micro-batches"), range(1, 16), 4)],
        draw,
    });
}
