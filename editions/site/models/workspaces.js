"use strict";
// The theory of "Automatic parallelism": products take 1 each, and those with the same workspace take turns.
{
    const {range, slider, choice, axes, rect, block, show} = window.modelTools;

    // `order` lists the devices, 0 or 1, of all products. Returns [device, start, end] of each.
    function theory(workspaces, order) {
        const products = [];
        const free = [0, 0];
        order.forEach((device, number) => {
            const before = number >= workspaces ? products[number - workspaces][2] : 0;
            const start = Math.max(free[device], before);
            products.push([device, start, start + 1]);
            free[device] = start + 1;
        });
        return products;
    }

    function waitedFor(products) {
        const begin = Math.min(...products.filter(([device]) => device === 1).map(([, start]) => start));
        return products.filter(([device, , end]) => device === 0 && end <= begin).length;
    }

    const GROUPS = {"all of cpu(0) first": Infinity, "five and five": 5, "two and two": 2, "alternately": 1};

    function orderOf(name, count) {
        const group = Math.min(count, GROUPS[name]);
        const rounds = range(0, Math.ceil(count / group) - 1).map(round => Math.min(group, count - round * group));
        return rounds.flatMap(size => [...Array(size).fill(0), ...Array(size).fill(1)]);
    }

    function draw({workspaces, order, count}, width) {
        const products = theory(workspaces, orderOf(order, count));
        const end = Math.max(...products.map(product => product[2]));
        const row = device => 6 + 40 * device;
        const rows = [0, 1].map(device => [row(device) + 17, `cpu(${device})`]);
        const x = {min: 0, max: end, label: "time, in products"};
        const letter = number => String.fromCharCode(65 + number % workspaces);
        const picture = axes({width, height: row(2) + 52, x, rows}, px =>
            [0, 1].map(device => rect("waiting", px(0), px(end), row(device), 34)).join("")
            + products.map(([device, start, stop], number) =>
                block(`pass F device${device}`, px(start), px(stop), row(device), 34, letter(number))).join(""));
        const names = device => products.map(([each], number) => each === device ? letter(number) : "").join("");
        const starts = device => products.filter(([each]) => each === device).map(([, start]) => start).join(" ");
        const waited = waitedFor(products);
        const text = `Workspaces: ${workspaces}, ${order}. When cpu(1) begins, ${waited} of ${count} products of `
            + `cpu(0) are done. All ${2 * count} are done after ${end}; ${count} would be best.`;
        const label = `Workspaces of cpu(0): ${names(0)}, of cpu(1): ${names(1)}; end at ${end}`;
        return {text,
                key: [["F device0", "products of cpu(0)"], ["F device1", "products of cpu(1)"], ["waiting", "idle"]],
                picture: {...picture, label},
                table: [["device", "workspaces, in order", "starts"], ...[0, 1].map(device =>
                    [`cpu(${device})`, names(device), starts(device)])]};
    }

    show("workspaces", {
        title: "A model to play with: two devices share workspaces",
        functions: {theory, waitedFor, orderOf},
        inputs: [slider("workspaces", "Workspaces", [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 64], 4),
                 slider("count", "Products per device", range(1, 12), 10),
                 choice("order", "Order", Object.keys(GROUPS), "all of cpu(0) first")],
        draw,
    });
}
