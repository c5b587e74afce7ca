// What moves on the site's pages. Nothing is loaded, so that it works from disk; without it the pages say the same.
"use strict";
(() => {
  const make = (name, attributes = {}, ...children) => {
    const node = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value !== null) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  };
  const button = (text, label, action, more = {}) => make("button", { type: "button", "aria-label": label, title: label, onclick: action, ...more }, text);

  // ---- Traces: a frame is as high as its page says ----

  addEventListener("message", (event) => {
    if (!event.data || event.data.halo !== "height") return;
    for (const frame of document.querySelectorAll("iframe.trace")) {
      if (frame.contentWindow === event.source) frame.style.height = event.data.height + 4 + "px";
    }
  });

  // ---- Steppers: rows of boxes, each computed from rows before it ----

  // A row: its name, what is said of it, and boxes {at: column, value, name, from: [[row, box], ...]}.
  const butterfly = (way) => {
    const combine = way === "sum" ? (a, b) => a + b : Math.max;
    const rows = [{ name: "lanes", said: "Each of eight lanes has a number.",
      boxes: [3, 1, 4, 1, 5, 9, 2, 6].map((value, i) => ({ at: i, value, name: "lane " + i, from: [] })) }];
    for (const distance of [4, 2, 1]) {
      const before = rows[rows.length - 1].boxes, above = rows.length - 1;
      rows.push({ name: "distance " + distance, boxes: before.map((box, i) => ({ at: i, value: combine(box.value, before[i ^ distance].value),
        name: `${i} and ${i ^ distance}`, from: [[above, i], [above, i ^ distance]] })),
      said: `Lane i takes the number of lane i ^ ${distance}, in one shuffle, and keeps the ${way} of both.` +
        (distance === 1 ? " After three shuffles all lanes have the same." : "") });
    }
    return rows;
  };

  const winograd = (way) => {
    const [d, g] = { "1 2 3 4": [[1, 2, 3, 4], [2, 1, -1]], "an edge": [[0, 0, 5, 5], [-1, 0, 1]], "one tap": [[3, 1, 4, 1], [0, 1, 0]] }[way];
    const box = (at, name, value, from) => ({ at, name, value, from });
    const t = [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]];
    const u = [g[0], (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2, g[2]];
    const m = t.map((value, i) => value * u[i]);
    const direct = [0, 1].map((i) => g.reduce((sum, tap, j) => sum + tap * d[i + j], 0));
    const sums = (i) => g.map((tap, j) => `${d[i + j]}·${tap < 0 ? `(${tap})` : tap}`).join(" + ") + " = " + direct[i];
    return [
      { name: "given", said: "Four cells and three taps. Two outputs take six multiplications.",
        boxes: [...d.map((value, i) => box(i, "d" + i, value, [])), ...g.map((value, i) => box(i + 4.5, "g" + i, value, []))] },
      { name: "values", said: "Cells and taps become values at four points: additions only, and of the taps once for all tiles.",
        boxes: [...["d0 - d2", "d1 + d2", "d2 - d1", "d1 - d3"].map((name, i) => box(i, name, t[i], [[[0, 0], [0, 2]], [[0, 1], [0, 2]], [[0, 2], [0, 1]], [[0, 1], [0, 3]]][i])),
          ...["g0", "(g0+g1+g2)/2", "(g0-g1+g2)/2", "g2"].map((name, i) => box(i + 4, name, u[i], [[[0, 4]], [[0, 4], [0, 5], [0, 6]], [[0, 4], [0, 5], [0, 6]], [[0, 6]]][i]))] },
      { name: "products", said: "Four multiplications, one for each point.", boxes: m.map((value, i) => box(i + 2, "m" + i, value, [[1, i], [1, i + 4]])) },
      { name: "outputs", said: `Additions give the two outputs. Directly: ${sums(0)}, ${sums(1)}.`,
        boxes: [box(3, "m0+m1+m2", m[0] + m[1] + m[2], [[2, 0], [2, 1], [2, 2]]), box(4, "m1-m2-m3", m[1] - m[2] - m[3], [[2, 1], [2, 2], [2, 3]])] },
    ];
  };

  const STEPPERS = { butterfly: { rows: butterfly, ways: ["maximum", "sum"] }, winograd: { rows: winograd, ways: ["1 2 3 4", "an edge", "one tap"] } };

  const drawRows = (rows, now) => {
    const left = 84, wide = 92, high = 34, step = 84;
    const columns = Math.max(...rows.flatMap((row) => row.boxes.map((box) => box.at))) + 1;
    const x = (box) => left + box.at * wide, y = (row) => 8 + row * step;
    const svg = make("svg:svg", { viewBox: `0 0 ${left + columns * wide} ${y(rows.length - 1) + high + 22}`, role: "img", "aria-label": rows[now].said });
    rows.slice(0, now + 1).forEach((row, r) => {
      for (const box of row.boxes) {
        for (const [above, i] of box.from) {
          const from = rows[above].boxes[i];
          svg.append(make("svg:line", { x1: x(from) + wide / 2 - 4, y1: y(above) + high + 15, x2: x(box) + wide / 2 - 4, y2: y(r), class: r === now ? "now" : "" }));
        }
      }
    });
    rows.forEach((row, r) => {
      const state = r === now ? "now" : r < now ? "past" : "later";
      svg.append(make("svg:text", { x: 0, y: y(r) + 21, class: "name " + state }, row.name));
      for (const box of row.boxes) {
        svg.append(make("svg:rect", { x: x(box) + 2, y: y(r), width: wide - 12, height: high, rx: 5, class: state }));
        if (r > now) continue;
        svg.append(make("svg:text", { x: x(box) + wide / 2 - 4, y: y(r) + 22, class: "value " + state }, String(box.value)));
        svg.append(make("svg:text", { x: x(box) + wide / 2 - 4, y: y(r) + high + 12, class: "formula" }, box.name));
      }
    });
    return svg;
  };

  for (const node of document.querySelectorAll(".stepper")) {
    const { rows: rowsOf, ways } = STEPPERS[node.dataset.stepper];
    let way = ways[0], now = 0, timer = 0;
    const picture = make("div", { class: "picture" }), said = make("p", { "aria-live": "polite" }), controls = make("div", { class: "controls" });
    const last = rowsOf(way).length - 1;
    const go = (to) => {
      now = Math.min(Math.max(to, 0), last);
      const rows = rowsOf(way);
      picture.replaceChildren(drawRows(rows, now));
      said.textContent = rows[now].said;
      for (const one of controls.querySelectorAll("[data-way]")) one.setAttribute("aria-pressed", String(one.dataset.way === way));
      place.textContent = `${now + 1} of ${last + 1}`;
    };
    const play = () => {
      clearInterval(timer);
      timer = timer ? 0 : setInterval(() => go(now === last ? 0 : now + 1), 1600);
      playing.textContent = timer ? "pause" : "play";
    };
    const place = make("span"), playing = button("play", "play or pause (p)", play);
    controls.append(button("◀", "the step before (←)", () => go(now - 1)), place, button("▶", "the next step (→)", () => go(now + 1)), playing,
      ...ways.map((one) => button(one, "with: " + one, () => { way = one; go(now); }, { "data-way": one })));
    node.append(controls, said, picture);
    node.tabIndex = 0;
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", node.dataset.stepper + ", step by step: arrow keys");
    node.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const act = { ArrowRight: () => go(now + 1), ArrowLeft: () => go(now - 1), Home: () => go(0), End: () => go(last), p: play }[event.key];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    go(0);
  }

  // ---- Predict: the numbers in bold among the answers can be tried before one looks ----

  const asNumber = (text) => Number(text.replace(/[,\s]/g, "") || "none");
  // "Answers to Predict" are below another heading, those of a box below its own. A question is an item of a list, or the
  // paragraph above the answer.
  const tried = [];
  for (const folded of document.querySelectorAll("details")) {
    const [, of] = /^Answers? to (.+)/.exec(folded.querySelector("summary")?.textContent || "") || [];
    const heading = of && document.getElementById(of.toLowerCase().replace(/\W+/g, "-"));
    let questions = of && heading;
    while (questions && questions !== folded && questions.tagName !== "OL") questions = questions.nextElementSibling;
    const answers = folded.querySelectorAll(questions === folded ? ":scope > p" : ":scope > ol > li");
    if (questions) answers.forEach((answer, i) => tried.push([answer, questions === folded ? folded.previousElementSibling : questions.children[i]]));
  }
  tried.forEach(([answer, question], i) => {
    const wanted = [...answer.querySelectorAll("strong")].map((one) => one.textContent).filter((text) => !Number.isNaN(asNumber(text)));
    if (!wanted.length || !question) return;
    const boxes = wanted.map((_, k) => make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": `number ${k + 1} of question ${i + 1}` }));
    const verdict = make("output");
    const form = make("form", { class: "predict", onsubmit: (event) => {
      event.preventDefault();
      // As exactly as the answer is written.
      const right = wanted.map((text, k) => {
        const decimals = (text.split(".")[1] || "").length;
        return Number(asNumber(boxes[k].value).toFixed(decimals)) === asNumber(text);
      });
      boxes.forEach((box, k) => box.setAttribute("aria-invalid", String(!right[k])));
      verdict.textContent = right.every(Boolean) ? "✓ right" : `${right.filter(Boolean).length} of ${right.length} right`;
    } }, ...boxes, button("check", "check", () => {}, { type: "submit" }), verdict);
    question.append(form);
  });
})();
