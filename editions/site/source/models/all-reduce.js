"use strict";
// The three plans of "A thousand machines", and a binary tree that sends whole arrays up and down.
{
    const {say, number, time, bytes, slider, choice, axes, decades, line, dot, show} = window.modelTools;
    const EACH = 2e-6; // seconds that a machine is busy with one message

    const oneServer = (P, k, link, each, latency) => 2 * (k * (P / link + each) + latency);
    const servers = (P, k, link, each, latency) => 2 * ((k - 1) * (P / k / link + each) + latency);
    const ring = (P, k, link, each, latency) => 2 * (k - 1) * (P / k / link + each + latency);
    const tree = (P, k, link, each, latency) => 2 * Math.ceil(Math.log2(k)) * (P / link + each + latency);

    const plans = [[say("one server"), oneServer, "orange"], [say("a server beside each worker"), servers, "green"],
                   [say("ring"), ring, "blue dashed"], [say("tree of whole arrays"), tree, "pink"]];
    const count = value => value.toLocaleString("en-US");
    const machines = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
    const sizes = [3, 4, 5, 6, 7, 8, 9].flatMap(power => [1, 2, 5].map(digit => digit * 10 ** power)).slice(0, -2);

    function draw({axis, k, P, link, latency}, width) {
        const seconds = (plan, at) => plan(axis === "bytes" ? at : P, axis === "bytes" ? k : at, link * 1e9 / 8,
                                           EACH, latency * 1e-6);
        const here = axis === "bytes" ? P : k;
        const along = axis === "bytes" ? sizes : machines;
        const words = axis === "bytes" ? bytes : count;
        const x = {min: along[0], max: along.at(-1), log: true, words,
                   label: axis === "bytes" ? say("size of the array") : say("machines")};
        const y = {...decades(plans.flatMap(([, plan]) => along.map(at => seconds(plan, at)))),
                   label: say("time of an exchange"), words: time};
        const picture = axes({width, height: 300, x, y}, (px, py) => plans.map(([, plan, colour]) =>
            line(colour, along.map(at => [px(at), py(seconds(plan, at))]))
            + dot(colour, px(here), py(seconds(plan, here)))).join(""));
        const now = plans.map(([name, plan, colour]) => [colour, `${name}: ${time(seconds(plan, here))}`]);
        const [best] = [...plans].sort((a, b) => seconds(a[1], here) - seconds(b[1], here));
        const moved = 2 * (k - 1) / k * P / (link * 1e9 / 8);
        const rounds = seconds(ring, here) - moved;
        const text = [
            say("{0} machines, {1} each: no plan is faster than {2}, {3}.", count(k), bytes(P), best[0],
                time(seconds(best[1], here))),
            say("On the ring the bytes take {0}, and the {1} rounds {2} more:", time(moved), count(2 * (k - 1)),
                time(rounds)),
            moved > rounds ? say("bandwidth is the bottleneck.")
                : say("latency is the bottleneck."),
        ].join(" ");
        const rows = along.filter((_, n) => axis === "machines" || n % 3 === 0);
        return {text, key: now,
                picture: {...picture, label: say("Time of an exchange against {0}, at {1}", x.label, words(here))},
                table: [[x.label, ...plans.map(([name]) => name)],
                        ...rows.map(at => [words(at), ...plans.map(([, plan]) => time(seconds(plan, at)))])]};
    }

    show("all-reduce", {
        title: say("Interactive model: four plans for an all-reduce"),
        style: ".model td { white-space: nowrap; } .model .line.dashed { stroke-dasharray: 12 6; } .model .swatch.dashed { background: "
            + "repeating-linear-gradient(90deg, currentColor 0 0.65rem, transparent 0 0.95rem); }",
        functions: {oneServer, servers, ring, tree},
        inputs: [slider("k", say("Machines"), machines, 64, count),
                 slider("P", say("Size of the array"), sizes, 1e7, bytes),
                 slider("link", say("Bandwidth of a link"), [1, 10, 25, 50, 100, 200, 400, 3600], 10,
                        n => `${number(n)} Gbit/s`),
                 slider("latency", say("Latency of a message"), [1, 2, 5, 10, 25, 50, 100, 1000], 25,
                        n => `${number(n)} µs`),
                 choice("axis", say("Horizontal axis"), [["machines", say("machines")], ["bytes", say("bytes")]],
                        "machines")],
        draw,
    });
}
