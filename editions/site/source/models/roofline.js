"use strict";
// The roofline of d2lhelpers.machine.MachineLimits, with the reader's own limits.
{
    const {say, number, share, inUnits, time, bytes, range, element, slider, plain, axes, decades, line, dot,
           show} = window.modelTools;
    const flops = inUnits([1e15, "Pflop/s"], [1e12, "Tflop/s"], [1e9, "Gflop/s"], [1e6, "Mflop/s"], [1e3, "kflop/s"],
                          [1, "flop/s"]);
    const EXAMPLE = "memory 20 GB/s\narithmetic 100 Gflop/s\none dispatch 20 µs";

    // What `limits()` prints, or two or three numbers: GB/s, Gflop/s, µs. Returns null if there are none.
    function limitsIn(text) {
        const labels = [/memory\s+([\d.]+)\s*GB\/s/, /arithmetic\s+([\d.]+)\s*Gflop\/s/,
                        /dispatch\s+([\d.]+)\s*[µμu]s/];
        const printed = labels.map(label => text.match(label)?.[1]);
        const found = printed[0] && printed[1] ? printed : text.match(/\d+\.?\d*(e[+-]?\d+)?/g) ?? [];
        const [bandwidth, peak, dispatch] = [0, 1, 2].map(n => Number(found[n] ?? 0));
        if (!(bandwidth > 0 && peak > 0)) return null;
        return {bandwidth: bandwidth * 1e9, peak: peak * 1e9, dispatch: dispatch * 1e-6};
    }

    function regime(operations, size, {bandwidth, peak, dispatch}) {
        const bounds = [["overhead-bound", dispatch], ["memory-bound", size / bandwidth],
                        ["compute-bound", operations / peak]];
        return bounds.reduce((most, bound) => bound[1] > most[1] ? bound : most);
    }

    const roof = (intensity, {bandwidth, peak}) => Math.min(peak, intensity * bandwidth);
    const KINDS = {"overhead-bound": say("overhead-bound"), "memory-bound": say("memory-bound"),
                   "compute-bound": say("compute-bound")};
    const colours = {"overhead-bound": "grey", "memory-bound": "green", "compute-bound": "blue"};
    const intensities = range(-4, 10).map(power => 2 ** power);
    const sizes = range(1, 10).flatMap(power => [1, 2, 5].map(digit => digit * 10 ** power)).slice(0, -2);

    function draw({text: pasted, size, intensity}, width) {
        const read = limitsIn(pasted);
        const limits = read ?? limitsIn(EXAMPLE);
        const operations = size * intensity;
        const [kind, seconds] = regime(operations, size, limits);
        const speed = operations / seconds;
        const ridge = limits.peak / limits.bandwidth;
        const edges = [Math.min(intensities[0], ridge / 4), Math.max(intensities.at(-1), ridge * 4)];
        const x = {min: edges[0], max: edges[1], log: true, label: say("operations per byte")};
        const y = {...decades([roof(edges[0], limits), limits.peak * 2, speed]), label: say("Gflop/s"),
                   words: each => number(each / 1e9)};
        const picture = axes({width, height: 320, x, y}, (px, py) => {
            const points = intensities => intensities.map(each => [px(each), py(roof(each, limits))]);
            const bar = [[px(intensity) - 16, py(speed)], [px(intensity) + 16, py(speed)]];
            return line("green", points([edges[0], ridge])) + line("blue", points([ridge, edges[1]]))
                + (kind === "overhead-bound" ? line("grey", bar) : "") + dot(colours[kind], px(intensity), py(speed));
        });
        const text = [
            read ? "" : say("There are no limits in your text, so these are an example's. Paste what limits() prints, "
                            + "or two numbers: GB/s and Gflop/s."),
            say("{0}, {1} operations per byte: {2}, at least {3}.", bytes(size), number(intensity), KINDS[kind],
                time(seconds)),
            say("That is {0}, {1} of the peak.", flops(speed), share(speed / limits.peak)),
            say("The roof bends at {0} operations per byte.", number(ridge)),
        ].join(" ").trim();
        return {text,
                key: [["green", say("memory, {0} GB/s", number(limits.bandwidth / 1e9))],
                      ["blue", say("arithmetic, {0} Gflop/s", number(limits.peak / 1e9))],
                      ["grey", limits.dispatch ? say("one dispatch, {0}", time(limits.dispatch))
                          : say("dispatch, not given")],
                      [`${colours[kind]} point`, say("this work, at most {0}", flops(speed))]],
                picture: {...picture, label: say("Roofline, and {0} operations per byte on {1}", number(intensity),
                                                 bytes(size))},
                table: [[say("operations per byte"), say("roof, Gflop/s")],
                        ...intensities.filter((_, n) => n % 2 === 0).map(each =>
                            [number(each), number(roof(each, limits) / 1e9)])]};
    }

    show("roofline", {
        title: say("Interactive model: the roofline of your machine"),
        style: ".model-inputs > div:has(textarea) { grid-column: 1 / -1; } .model textarea { width: 100%; }"
            + ".model .swatch.point { width: 0.8rem; height: 0.8rem; margin-bottom: 0; border-radius: 50%; }",
        functions: {limitsIn, regime, roof},
        inputs: [plain("text", say("Your limits, as limits() prints them"), EXAMPLE,
                       () => element("textarea", {rows: 3, spellcheck: "false"})),
                 slider("size", say("Bytes read and written"), sizes, 5e8, bytes),
                 slider("intensity", say("Operations per byte"), intensities, 0.125)],
        draw,
    });
}
