"use strict";
// What all models share: inputs, axes and words. A model's own file calls show, as CONTRIBUTING.md says.
window.models = {};
window.modelTools = (() => {
    // In the language of words.js, if the page has it; {0} is values[0].
    const say = (text, ...values) => (window.modelWords?.[text] ?? text).replace(/\{(\d)\}/g, (_, n) => values[n]);
    const number = value => value.toLocaleString("en-US", {maximumSignificantDigits: 3});
    const share = value => `${number(100 * value)} %`;
    const inUnits = (...units) => value => {
        if (value === 0) return "0";
        const [least, unit] = units.find(([least]) => value >= least) ?? units.at(-1);
        return `${number(value / least)} ${unit}`;
    };
    const time = inUnits([1, "s"], [1e-3, "ms"], [1e-6, "µs"]);
    const bytes = inUnits([1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "bytes"]);
    const range = (first, last) => Array.from({length: Math.max(0, last - first + 1)}, (_, n) => first + n);

    function element(name, attributes = {}, ...children) {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...children);
        return made;
    }

    // A slider goes through a list, so that each press of an arrow key changes something.
    function slider(name, label, values, start, words = number) {
        return {name, label, start, make: first => {
            const shown = element("span", {class: "model-value", "aria-hidden": "true"});
            const input = element("input", {type: "range", min: 0, max: values.length - 1});
            input.value = values.indexOf(first);
            return {parts: [shown, input], read: () => {
                const value = values[input.value];
                shown.textContent = words(value);
                input.setAttribute("aria-valuetext", shown.textContent);
                return value;
            }};
        }};
    }

    // An input that `create` makes, read as it is.
    const plain = (name, label, start, create) => ({name, label, start, make: first => {
        const input = create();
        input.value = first;
        return {parts: [input], read: () => input.value};
    }});

    // `options` are pairs of a value and its words.
    const choice = (name, label, options, start) => plain(name, label, start, () =>
        element("select", {}, ...options.map(([value, words]) => element("option", {value}, words))));

    // About `most` round numbers from min to max.
    function ticks({min, max, log}, most) {
        if (log) {
            const powers = range(Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9));
            const every = Math.ceil(powers.length / most);
            return powers.filter((_, n) => n % every === 0).map(power => 10 ** power);
        }
        const rough = (max - min) / most;
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = power * [1, 2, 5, 10].find(each => each * power >= rough - 1e-9);
        return range(Math.ceil(min / step - 1e-9), Math.floor(max / step + 1e-9)).map(n => n * step);
    }

    // Axes with their numbers; `draw` gets functions from values to pixels, and returns the inside.
    function axes({width, height, x, y, left = 70, rows = []}, draw) {
        const right = 34, top = y ? 30 : 6, bottom = 48;
        const place = ({min, max, log}, from, to) => {
            const position = log ? Math.log : value => value;
            return value => from + (to - from) * (position(value) - position(min)) / (position(max) - position(min));
        };
        const px = place(x, left, width - right);
        const py = y && place(y, height - bottom, top);
        const base = height - bottom;
        const text = (anchor, x, y, words) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
        let svg = `<path class="axis" d="M${left} ${top}V${base}H${width - right}"/>`
            + text("end", width - right, height - 6, x.label) + (y ? text("start", 4, 16, y.label) : "");
        for (const tick of ticks(x, width / 90)) {
            svg += `<path class="axis" d="M${px(tick)} ${base}v5"/>`
                + text("middle", px(tick), base + 20, (x.words ?? number)(tick));
        }
        for (const tick of y ? ticks(y, height / 45) : []) {
            svg += `<path class="grid" d="M${left} ${py(tick)}H${width - right}"/>`
                + text("end", left - 8, py(tick) + 5, (y.words ?? number)(tick));
        }
        for (const [middle, words] of rows) svg += text("end", left - 8, middle + 5, words);
        return {height, svg: svg + draw(px, py)};
    }

    const HATCH = `<defs><pattern id="model-hatch" width="8" height="8" patternUnits="userSpaceOnUse">`
        + `<path class="hatch" d="M-1 9L9 -1"/></pattern></defs>`;
    const decades = values => ({log: true, min: 10 ** Math.floor(Math.log10(Math.min(...values)) + 1e-9),
                                max: 10 ** Math.ceil(Math.log10(Math.max(...values)) - 1e-9)});
    const line = (colour, points) =>
        `<polyline class="line ${colour}" points="${points.map(point => point.join()).join(" ")}"/>`;
    const rect = (kind, from, to, top, height) =>
        `<rect class="${kind}" x="${from}" y="${top}" width="${to - from}" height="${height}"/>`;
    const block = (kind, from, to, top, height, words) => rect(kind, from, to, top, height)
        + (to - from < 9 * words.length + 2 ? ""
            : `<text class="inside" x="${(from + to) / 2}" y="${top + height / 2 + 5}">${words}</text>`);
    const dot = (colour, x, y) => `<circle class="dot ${colour}" cx="${x}" cy="${y}" r="6"/>`;

    function tableOf([head, ...rows]) {
        const row = (kind, cells) => element("tr", {}, ...cells.map(cell => element(kind, {}, cell)));
        return element("table", {}, element("thead", {}, row("th", head)),
                       element("tbody", {}, ...rows.map(cells => row("td", cells))));
    }

    // A click on a choice opens the model.
    function build(place, model) {
        const [, question, choices, predicted, result, introduction, end] = place.children;
        const start = JSON.parse(place.dataset.start);
        const inputs = element("div", {class: "model-inputs"});
        const read = {};
        for (const {name, label, start: usual, make} of model.inputs) {
            const made = make(start[name] ?? usual);
            read[name] = made.read;
            made.parts.at(-1).id = `model-${name}`;
            inputs.append(element("div", {}, element("label", {for: `model-${name}`}, label), ...made.parts));
        }
        const key = element("ul", {class: "model-key", "aria-hidden": "true"});
        const picture = element("div", {class: "model-picture"});
        const table = element("div", {class: "model-table", tabindex: 0});
        const numbers = element("details", {}, element("summary", {}, say("The same in numbers")), table);
        const body = element("div", {class: "closed"}, result, introduction, inputs, key, picture, numbers, end);

        function update() {
            const values = Object.fromEntries(Object.entries(read).map(([name, value]) => [name, value()]));
            const width = Math.max(280, picture.clientWidth);
            const drawn = model.draw(values, width);
            const {height, svg, label} = drawn.picture;
            const words = [label, ...drawn.key.map(([, text]) => text)].join("; ");
            picture.innerHTML = `<svg role="img" viewBox="0 0 ${width} ${height}">${HATCH}${svg}</svg>`;
            picture.firstChild.setAttribute("aria-label", words);
            key.replaceChildren(...drawn.key.map(([colour, text]) =>
                element("li", {}, element("span", {class: `swatch ${colour}`}), text)));
            table.replaceChildren(tableOf(drawn.table));
            const text = drawn.text.replace(/([。：]) /g, "$1"); // these have their space in them
            if (result.textContent !== text) result.textContent = text;
        }

        choices.append(element("li", {}, say("Skip")));
        for (const each of choices.children) {
            const button = element("button", {"aria-expanded": false}, each.firstChild);
            each.append(button);
            button.onclick = () => {
                if (!body.className) return;
                body.className = "";
                for (const {firstChild} of choices.children) firstChild.setAttribute("aria-expanded", true);
                predicted.textContent = each.nextSibling ? say("You predicted: {0}.", button.textContent) : "";
                result.textContent = ""; // read aloud when it comes
                setTimeout(update, 99);
            };
        }
        inputs.addEventListener("input", update);
        question.before(element("style", {}, model.style ?? ""), element("p", {class: "model-title"}, model.title));
        predicted.after(body);
        introduction.hidden = false;
        place.setAttribute("aria-label", model.title);
        update();
        new ResizeObserver(update).observe(picture);
    }

    function show(name, model) {
        window.models[name] = model.functions;
        for (const place of document.querySelectorAll(`[data-model="${name}"]`)) build(place, model);
    }

    return {say, number, share, inUnits, time, bytes, range, element, slider, choice, plain, axes, decades, line, rect,
            block, dot, show};
})();
