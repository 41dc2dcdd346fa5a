"use strict";
// What a rank holds under ZeRO, as the table of "Sharding" has it: float32, 4 bytes per number.
{
    const {say, number, bytes, range, slider, choice, axes, rect, show} = window.modelTools;
    const PARTS = [["blue", say("parameters")], ["orange", say("gradients")], ["pink", say("optimizer's state")]];
    const WAYS = [say("replicated"), "ZeRO-1", "ZeRO-2", "FSDP"];
    const STATE = {"AdamW": 8, "SGD with momentum": 4, "SGD": 0}; // bytes per parameter
    const OPTIMIZERS = [["AdamW", "AdamW"], ["SGD with momentum", say("SGD with momentum")], ["SGD", "SGD"]];

    // For each way the bytes of parameters, gradients and state. Each stage divides one more of them by N.
    const memory = (P, N, state) => WAYS.map((_, stage) =>
        [4 * P, 4 * P, state * P].map((size, part) => part + stage > 2 ? size / N : size));

    const billions = P => say("{0} billion", number(P / 1e9));
    const sum = sizes => sizes.reduce((total, size) => total + size, 0);
    const row = way => 6 + 42 * way;

    function draw({P, N, optimizer, device}, width) {
        const held = memory(P, N, STATE[optimizer]);
        const totals = held.map(sum);
        const limit = device * 1e9;
        const most = Math.max(totals[0], limit) * width / (width - 180); // leaves room for the total behind a bar
        const x = {min: 0, max: most, label: say("bytes that a rank holds"), words: bytes};
        const rows = WAYS.map((way, n) => [row(n) + 17, way]);
        const picture = axes({width, height: row(4) + 52, left: 84, x, rows}, px => {
            const bars = held.map((sizes, way) => sizes.map((size, part) => {
                const from = px(sum(sizes.slice(0, part)));
                return rect(`bar ${PARTS[part][0]}`, from, from + px(size) - px(0), row(way), 34);
            }).join("")
                + `<text class="total" x="${px(totals[way]) + 6}" y="${row(way) + 22}">${bytes(totals[way])}</text>`);
            return `<path class="limit" d="M${px(limit)} 0V${row(4)}"/>` + bars.join("");
        });
        const fit = WAYS.filter((_, way) => totals[way] <= limit);
        const text = [
            say("{0} parameters, {1}, {2} ranks: a rank holds {3} replicated, {4} with FSDP.", billions(P),
                new Map(OPTIMIZERS).get(optimizer), N, bytes(totals[0]), bytes(totals[3])),
            say("What fits on GPUs of {0} GB: {1}.", device, fit.join(", ") || say("none of these")),
        ].join(" ");
        const label = say("A rank holds {0}", WAYS.map((way, n) => `${way} ${bytes(totals[n])}`).join(", "));
        return {text,
                key: [...PARTS, ["limit", say("memory of a GPU, {0} GB", device)]],
                picture: {...picture, label},
                table: [["", ...PARTS.map(([, part]) => part), say("all")],
                        ...WAYS.map((way, n) => [way, ...held[n].map(bytes), bytes(totals[n])])]};
    }

    show("sharding", {
        title: say("Interactive model: what a rank holds"),
        style: ".model .bar { fill: currentColor; stroke: var(--pst-color-background); } .model-picture text.total {"
            + "paint-order: stroke; stroke: var(--pst-color-background); stroke-width: 10px; }"
            + ".model .limit { stroke: currentColor; stroke-width: 2; stroke-dasharray: 6 4; } .model .swatch.limit {"
            + "height: 0; background: none; border-top: 2px dashed; margin-bottom: 0.3rem; }",
        functions: {memory},
        inputs: [slider("P", say("Parameters"), [1e8, 1e9, 3e9, 8e9, 13e9, 30e9, 70e9, 180e9, 405e9], 8e9,
                        billions),
                 slider("N", say("Ranks"), range(0, 10).map(power => 2 ** power), 8),
                 slider("device", say("Memory of a GPU"), [16, 24, 40, 80, 141, 192], 80, GB => `${GB} GB`),
                 choice("optimizer", say("Optimizer"), OPTIMIZERS, "AdamW")],
        draw,
    });
}
