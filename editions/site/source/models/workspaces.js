"use strict";
// The theory of "Automatic parallelism": products take 1 each, and those with the same workspace take turns.
{
    const {say, range, slider, choice, axes, rect, block, show} = window.modelTools;

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
    const ORDERS = [["all of cpu(0) first", say("all of cpu(0) first")], ["five and five", say("five and five")],
                    ["two and two", say("two and two")], ["alternately", say("alternately")]];

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
        const x = {min: 0, max: end, label: say("time, in products")};
        const letter = number => String.fromCharCode(65 + number % workspaces);
        const picture = axes({width, height: row(2) + 52, x, rows}, px =>
            [0, 1].map(device => rect("waiting", px(0), px(end), row(device), 34)).join("")
            + products.map(([device, start, stop], number) =>
                block(`pass F device${device}`, px(start), px(stop), row(device), 34, letter(number))).join(""));
        const names = device => products.map(([each], number) => each === device ? letter(number) : "").join("");
        const starts = device => products.filter(([each]) => each === device).map(([, start]) => start).join(" ");
        const waited = waitedFor(products);
        const text = [
            say("Workspaces: {0}, {1}.", workspaces, new Map(ORDERS).get(order)),
            say("When cpu(1) begins, {0} of {1} products of cpu(0) are done.", waited, count),
            say("All {0} are done after {1}; {2} would be best.", 2 * count, end, count),
        ].join(" ");
        const label = say("Workspaces of cpu(0): {0}, of cpu(1): {1}; end at {2}", names(0), names(1), end);
        return {text,
                key: [["F device0", say("products of cpu(0)")], ["F device1", say("products of cpu(1)")],
                      ["waiting", say("idle")]],
                picture: {...picture, label},
                table: [[say("device"), say("workspaces, in order"), say("starts")], ...[0, 1].map(device =>
                    [`cpu(${device})`, names(device), starts(device)])]};
    }

    show("workspaces", {
        title: say("Interactive model: two devices share workspaces"),
        functions: {theory, waitedFor, orderOf},
        inputs: [slider("workspaces", say("Workspaces"), [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 64], 4),
                 slider("count", say("Products per device"), range(1, 12), 10),
                 choice("order", say("Order"), ORDERS, "all of cpu(0) first")],
        draw,
    });
}
