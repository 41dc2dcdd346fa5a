"use strict";
// What checkpoints and failures cost, by the formula of PyTorch's "Many machines". All is counted in training steps.
{
    const {say, number, share, slider, axes, decades, line, dot, show} = window.modelTools;
    const saving = (every, steps, save) => steps * save / every;
    const repeating = (every, failures) => failures * (every - 1) / 2;
    const cost = (every, steps, save, failures, restart) =>
        saving(every, steps, save) + repeating(every, failures) + failures * restart;
    const best = (steps, save, failures) => Math.sqrt(2 * steps * save / failures);
    const intervals = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000];

    function draw({every, steps, save, failures, restart}, width) {
        const total = s => cost(s, steps, save, failures, restart);
        const least = Math.max(1, Math.round(best(steps, save, failures)));
        const kinds = [["grey", say("saving"), s => saving(s, steps, save)],
                       ["orange", say("steps run twice"), s => repeating(s, failures)],
                       ["blue", say("all, with restarts"), total]];
        const x = {min: 1, max: 2000, log: true, label: say("steps between two saves")};
        const y = {...decades([1, ...intervals.map(total)]), label: say("cost of the run, in steps")};
        const inside = value => Math.max(value, y.min);
        const picture = axes({width, height: 300, left: 90, x, y}, (px, py) => kinds.map(([colour, , kind]) =>
            line(colour, intervals.map(s => [px(s), py(inside(kind(s)))]))).join("")
            + (least <= x.max ? `<path class="limit" d="M${px(least)} ${py(y.min)}V${py(y.max)}"/>` : "")
            + dot("blue", px(every), py(total(every))));
        const [saved, repeated, waited] = [saving(every, steps, save), repeating(every, failures), failures * restart];
        const text = [
            say("A save after every {0} steps: {1} steps go into saving, {2} are run twice, {3} pass in restarts.",
                number(every), number(saved), number(repeated), number(waited)),
            say("In all that is {0} of the run.", share(total(every) / steps)),
            say("Best is a save after every {0} steps: {1}.", number(least), share(total(least) / steps)),
        ].join(" ");
        return {text,
                key: [...kinds.map(([colour, name, kind]) => [colour, `${name}: ${number(kind(every))}`]),
                      ["limit", say("least, at {0}", number(least))]],
                picture: {...picture, label: say("Cost of a run against steps between two saves, at {0}",
                                                 number(every))},
                table: [[say("steps between two saves"), ...kinds.map(([, name]) => name)],
                        ...intervals.filter((_, n) => n % 2 === 0).map(s =>
                            [number(s), ...kinds.map(([, , kind]) => number(kind(s)))])]};
    }

    const asSteps = value => say("{0} steps", number(value));
    show("checkpoints", {
        title: say("Interactive model: how often to save"),
        style: ".model .limit { stroke: currentColor; stroke-width: 2; stroke-dasharray: 6 4; } .model .swatch.limit {"
            + "height: 0; background: none; border-top: 2px dashed; margin-bottom: 0.3rem; }",
        functions: {cost, best},
        inputs: [slider("every", say("Steps between two saves"), intervals, 100),
                 slider("steps", say("Steps of the run"), [2000, 5000, 10000, 20000, 50000, 100000], 10000),
                 slider("save", say("A save takes as long as"), [0.1, 0.2, 0.5, 1, 2, 5, 10, 20], 2, asSteps),
                 slider("failures", say("Failures"), [1, 2, 3, 5, 10, 20, 50, 100], 10),
                 slider("restart", say("A restart takes as long as"), [0, 1, 2, 5, 10, 20, 50, 100], 20, asSteps)],
        draw,
    });
}
