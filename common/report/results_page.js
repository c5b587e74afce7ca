// Draws results: ratios against the fastest library, one problem's variants against the roofs, all of them on a
// roofline, and two files side by side. What is shown is one set of problems: those of one backend with the same fields.
(() => {
  const { make, draw, count, clamp, plural } = page;
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  const files = data.files;
  const two = files.length === 2;
  const MOST_VALUES = 24; // of a field that one may choose from
  const MOST_NAMED = 10; // of the rows that became slower or faster

  // ---- Figures in words ----

  const digits = (value, significant = 3) => {
    if (!(value > 0)) return "0";
    const behind = clamp(significant - 1 - Math.floor(Math.log10(value)), 0, 9);
    return value.toLocaleString("en", { minimumFractionDigits: behind, maximumFractionDigits: behind });
  };
  const duration = (ms) => ms < 1 ? `${digits(ms * 1000)} µs` : ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1000)} s`;
  const ratioText = (ratio) => ratio < 0.095 ? ratio.toFixed(3) : ratio < 99.5 ? ratio.toFixed(2) : count(Math.round(ratio));
  const percent = (share) => `${(100 * share).toFixed(share < 9.995 ? 1 : 0)} %`;
  const valueText = (value) => typeof value === "number" ? count(value) : value;
  const numberOf = (stage) => stage.split("_")[0];
  const nameOf = (row) => row.role === "variant" && /^\d/.test(row.stage) ? `${numberOf(row.stage)} ${row.variant}` : row.variant;
  const letterOf = (file) => "AB"[file];
  const letter = (file) => make("span", { class: "letter" + (file ? " second" : "") }, letterOf(file));

  // ---- The rows in sets of problems ----

  const setKey = (row) => row.backend + " " + Object.keys(row.problem).join(" ");
  const idOf = (row) => row.stage + "/" + row.variant;
  const sets = [];
  for (const row of data.rows) {
    let set = sets.find((one) => one.key === setKey(row));
    if (!set) {
      set = { key: setKey(row), backend: row.backend, fields: Object.keys(row.problem), rows: [], problems: new Map() };
      sets.push(set);
    }
    set.rows.push(row);
    row.key = JSON.stringify(row.problem);
    if (!set.problems.has(row.key)) set.problems.set(row.key, { key: row.key, problem: row.problem, label: row.label, rows: [] });
    set.problems.get(row.key).rows.push(row);
  }
  for (const set of sets) {
    set.timed = set.rows.some((row) => row.hot);
    set.list = [...set.problems.values()];
    set.stages = [...new Set(set.rows.filter((row) => row.role === "variant").map((row) => row.stage))];
    set.cold = set.rows.some((row) => row.cold);
    const values = (field) => [...new Set(set.list.map((one) => one.problem[field]))];
    const varying = set.fields.filter((field) => values(field).length > 1);
    for (const one of set.list) {
      one.named = one.label || varying.map((field) => `${field.replaceAll("_", " ")} ${valueText(one.problem[field])}`).join(", ") || "the problem";
    }
    // A field that says the same as one before it (W beside H) is no second choice.
    const seen = new Set();
    set.choices = varying.filter((field) => {
      const pattern = set.list.map((one) => values(field).indexOf(one.problem[field])).join();
      const fresh = !seen.has(pattern);
      seen.add(pattern);
      return fresh && values(field).length <= MOST_VALUES && set.list.length > 4;
    }).map((field) => ({ field, values: values(field).sort((a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))) }));
    const numbers = [...new Set(set.stages.map(numberOf))];
    const where = { gpu: "on the GPU", cpu: "on the CPU" }[set.backend] || set.backend;
    set.named = (numbers.length === 0 ? "peers" : numbers.length === 1 ? `stage ${numbers[0]}` : `stages ${numbers.join(", ")}`) +
      ` ${where}: ${plural(set.list.length, "problem")}`;
  }
  const shown = sets.filter((set) => set.timed);

  // ---- What is chosen ----

  const state = { set: shown[0], stage: "", filters: {}, cold: false, variant: "", problem: "" };
  const timeOf = (row) => (state.cold ? row.cold : row.hot) || null;
  const inStage = (row) => row.role === "variant" && (!state.stage || row.stage === state.stage);
  const problems = () => state.set.list.filter((one) => Object.entries(state.filters).every(([field, value]) => String(one.problem[field]) === value));
  const variants = () => [...new Map(state.set.rows.filter((row) => inStage(row) && row.hot).map((row) => [idOf(row), row])).values()];
  const isShown = (row) => inStage(row) && (!state.variant || idOf(row) === state.variant);

  // Time of `other` / time of `ours`, and whether that is more than the measurement can tell: as halo compare has it.
  const ratioOf = (other, ours) => {
    const low = (other.p10 || other.median) / (ours.p90 || ours.median);
    const high = (other.p90 || other.median) / (ours.p10 || ours.median);
    const median = other.median / ours.median;
    const noise = Math.max(other.aa || 0, ours.aa || 0);
    return { median, low, high, tie: (low <= 1 && 1 <= high) || Math.abs(median - 1) <= noise };
  };
  const fastest = (rows) => rows.filter((row) => timeOf(row)).reduce((best, row) => !best || timeOf(row).median < timeOf(best).median ? row : best, null);
  // Of one file: the fastest rows of ours that count, and the fastest library beside it, on each problem.
  const contests = (file, counts) => {
    const found = [];
    for (const one of problems()) {
      const rows = one.rows.filter((row) => row.file === file);
      const ours = fastest(rows.filter((row) => row.role === "variant" && counts(row)));
      const theirs = fastest(rows.filter((row) => row.role === "peer"));
      if (ours && theirs) found.push({ key: one.key, named: one.named, ours, theirs, ...ratioOf(timeOf(theirs), timeOf(ours)) });
    }
    return found.sort((a, b) => a.median - b.median);
  };
  const sumUp = (ratios) => ratios.length === 0 ? null : {
    problems: ratios.length,
    wins: ratios.filter((one) => !one.tie && one.median > 1).length,
    ties: ratios.filter((one) => one.tie).length,
    losses: ratios.filter((one) => !one.tie && one.median <= 1).length,
    mean: Math.exp(ratios.reduce((sum, one) => sum + Math.log(one.median), 0) / ratios.length),
    worst: ratios[0], best: ratios[ratios.length - 1],
  };
  // A line for each variant and file; first the fastest of all.
  const standings = () => {
    const lines = [];
    const add = (id, named) => files.forEach((_, file) => {
      const sum = sumUp(contests(file, (row) => inStage(row) && (!id || idOf(row) === id)));
      if (sum) lines.push({ id, named, file, ...sum });
    });
    const all = variants();
    if (all.length > 1) add("", "the fastest of ours");
    for (const row of all) add(idOf(row), nameOf(row));
    return lines;
  };

  // ---- The head ----

  const fileCard = (file, number) => {
    const line = (name, ...value) => value.some(Boolean) ? [make("dt", {}, name), make("dd", {}, ...value)] : [];
    const roofs = Object.entries(file.roofs).map(([backend, roof]) => [
      roof.copy_gb_per_s && `${backend === "gpu" ? "GPU" : "CPU"}: copy ${digits(roof.copy_gb_per_s, 4)} GB/s`,
      roof.fp32_gflop_per_s && `fp32 ${digits(roof.fp32_gflop_per_s, 4)} GFLOP/s`].filter(Boolean).join(", ")).join("; ");
    return make("div", { class: "file" }, make("div", {}, ...(two ? [letter(number), " "] : []), make("b", {}, file.name)),
      make("dl", {}, ...line("machine", [file.gpu, file.cpu && `${file.cpu}, ${plural(file.cpu_threads, "thread")}`].filter(Boolean).join("; ")),
        ...line("date", file.date), ...line("command", make("code", {}, file.command || "unknown")), ...line("roofs", roofs),
        ...line("made with", [file.driver && `driver ${file.driver}`, file.cuda && `CUDA ${file.cuda}`, file.compiler, ...file.libraries].filter(Boolean).join(", "),
          file.build && file.build !== "optimised" ? make("span", { class: "bad" }, ` (${file.build})`) : "")));
  };
  main.append(make("div", { class: "files" }, ...files.map(fileCard)));
  if (two && data.comparison.machines) {
    main.append(make("p", { class: "said" }, make("b", {}, "The machines differ: "), data.comparison.machines, ". What differs below may be theirs."));
  }

  // ---- Choices ----

  const controls = make("div", { class: "choice controls" });
  const choice = (name, label, values, chosen, change) => make("label", {}, label, make("select", {
    "data-name": name, onchange: (event) => change(event.target.value) },
    ...values.map(([value, text]) => make("option", { value, selected: value === chosen }, text))));
  const drawControls = () => {
    const focused = controls.contains(document.activeElement) ? document.activeElement.dataset.name : null;
    const set = state.set;
    const parts = [];
    if (shown.length > 1) parts.push(choice("set", "of", shown.map((one, i) => [String(i), one.named]), String(shown.indexOf(set)), (value) => choose({ set: shown[Number(value)] })));
    if (set.stages.length > 1) {
      parts.push(choice("stage", "stage", [["", "all"], ...set.stages.map((stage) => [stage, stage.replaceAll("_", " ")])], state.stage, (value) => choose({ stage: value })));
    }
    const all = variants();
    if (all.length > 1) {
      parts.push(choice("variant", "variant", [["", "the fastest of ours"], ...all.map((row) => [idOf(row), nameOf(row)])], state.variant, (value) => choose({ variant: value })));
    }
    for (const { field, values } of set.choices) {
      parts.push(choice("by-" + field, field.replaceAll("_", " "), [["", "all"], ...values.map((value) => [String(value), valueText(value)])], state.filters[field] || "",
        (value) => choose({ filters: { ...state.filters, [field]: value } })));
    }
    if (set.list.length > 1) parts.push(choice("problem", "problem", problems().map((one) => [one.key, one.named]), state.problem, (value) => choose({ problem: value })));
    if (set.cold) {
      const button = (cold, text) => make("button", { type: "button", "data-name": text, "aria-pressed": String(state.cold === cold), onclick: () => choose({ cold }) }, text);
      parts.push(make("span", { role: "group", "aria-label": "caches" }, button(false, "warm"), " ", button(true, "cold")));
    }
    controls.replaceChildren(...parts);
    if (focused) controls.querySelector(`[data-name="${focused}"]`)?.focus();
  };

  // ---- Ratios, sorted ----

  // What a chart may use, where so many lie side by side in a wide window.
  const widthOf = (number) => Math.max(280, (innerWidth < 1100 ? main.clientWidth : main.clientWidth / number - 14 * (number - 1)) - 16);

  // Marks of a ratio's axis: powers of two, or where all lie close to 1 what is between them.
  const ticksOf = (low, high) => {
    if (high - low < 1.2) {
      const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((one) => (2 ** high - 2 ** low) / one <= 9) || 0.5;
      return Array.from({ length: 100 }, (_, i) => (i - 50) * step + 1).filter((value) => value > 0 && low <= Math.log2(value) && Math.log2(value) <= high)
        .map((value) => [value, value.toFixed(2)]);
    }
    const every = Math.ceil((high - low) / 8);
    return Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, i) => i + Math.ceil(low)).filter((power) => power % every === 0)
      .map((power) => [2 ** power, power < 0 ? `1/${2 ** -power}` : String(2 ** power)]);
  };

  // The ends of an axis, as logarithms, for all these charts: what lies side by side is compared.
  const axisOf = (charts) => {
    const shown = charts.filter((items) => items.length > 0);
    const ends = [Math.log2(Math.min(...shown.map((items) => items[0].median))), Math.log2(Math.max(...shown.map((items) => items[items.length - 1].median)))];
    const close = Math.max(-ends[0], ends[1]) < 0.5;
    return [close ? Math.min(ends[0] * 1.1, -0.08) : Math.min(-1, Math.floor(ends[0] - 0.001)), close ? Math.max(ends[1] * 1.1, 0.08) : Math.max(1, Math.ceil(ends[1] + 0.001))];
  };

  const steps = (items, [low, high], what, pick, width) => {
    const height = 250, left = 46, right = 8, top = 10, bottom = 12;
    const y = (ratio) => top + (high - Math.log2(ratio)) / (high - low) * (height - top - bottom);
    const step = (width - left - right) / items.length;
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": what });
    for (const [value, text] of ticksOf(low, high)) {
      svg.append(draw("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
        draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text));
    }
    let marked = null;
    items.forEach((item, i) => {
      const from = Math.min(y(item.median), y(1)), tall = Math.max(Math.abs(y(item.median) - y(1)), 1);
      // Narrow ones overlap, or their seams would make a pattern.
      const x = left + i * step, wide = step > 5 ? step - 1.5 : step + 0.4;
      svg.append(draw("rect", { class: item.tie ? "even" : item.median > 1 ? "win" : "behind", x, y: from, width: wide, height: tall }));
      if (item.chosen) marked = draw("rect", { class: "chosen", x: x - 2, y: from - 2, width: wide + 4, height: tall + 4 });
      svg.append(draw("rect", { class: "hit", x, y: top, width: Math.max(step, 0.5), height: height - top - bottom, onclick: () => pick(item) },
        draw("title", {}, `${item.named}: ${ratioText(item.median)}${item.tie ? ", a tie" : ""}`)));
    });
    svg.append(draw("line", { class: "one", x1: left, x2: width - right, y1: y(1), y2: y(1) }));
    if (marked) svg.append(marked);
    return svg;
  };

  const standingsBox = make("div", { class: "scroll" });
  const ratiosBox = make("div", { class: "pair" });
  const ratiosSaid = make("p", { class: "said" });
  const ratios = make("section", {}, make("h2", {}, "Against the fastest library"), ratiosSaid, standingsBox, ratiosBox);
  const shownName = () => state.variant ? state.variant.split("/")[1] : "the fastest of ours";
  const drawRatios = () => {
    const lines = standings();
    ratios.hidden = false;
    ratiosBox.className = "pair" + (two ? " both" : "");
    if (lines.length === 0) {
      ratiosSaid.textContent = `No library was timed on these problems${state.cold ? " with cold caches" : ""}: there is nothing to be ahead of.`;
      standingsBox.replaceChildren();
      ratiosBox.replaceChildren();
      return;
    }
    ratiosSaid.textContent = `The library's time / ours, ${state.cold ? "cold" : "warm"} caches: over 1 we are faster. The mean is geometric; beside it the worst.`;
    const cells = (line) => [make("th", { scope: "row" }, make("button", { type: "button", "aria-pressed": String(line.id === state.variant), onclick: () => choose({ variant: line.id }) }, line.named)),
      ...(two ? [make("td", {}, letter(line.file))] : []), make("td", {}, count(line.problems)), make("td", {}, count(line.wins)), make("td", {}, count(line.ties)),
      make("td", { class: line.losses ? "loss" : "" }, count(line.losses)), make("td", { class: line.mean < 1 ? "loss" : "" }, ratioText(line.mean)),
      make("td", { class: line.worst.median < 1 ? "loss" : "" }, ratioText(line.worst.median)), make("td", { class: "small" }, line.worst.named), make("td", {}, ratioText(line.best.median)), make("td", { class: "small" }, line.best.named)];
    standingsBox.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...["variant", ...(two ? ["file"] : []), "problems", "ahead", "tie", "behind", "mean", "worst", "", "best", ""].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...lines.map((line) => make("tr", { class: line.id === state.variant ? "chosen" : "" }, ...cells(line))))));
    const charts = files.map((_, file) => contests(file, isShown).map((one) => ({ ...one, chosen: one.key === state.problem })));
    const axis = axisOf(charts);
    ratiosBox.replaceChildren(...files.map((_, file) => {
      const items = charts[file];
      if (items.length === 0) return make("div", { class: "chart" }, make("p", { class: "said" }, ...(two ? [letter(file), " "] : []), "nothing to compare"));
      const now = items.find((one) => one.chosen);
      const said = now ? [make("b", {}, now.named), `: ${now.ours.variant} ${duration(timeOf(now.ours).median)}, ${now.theirs.variant} ${duration(timeOf(now.theirs).median)}: `,
        make("span", { class: !now.tie && now.median < 1 ? "loss" : "" }, ratioText(now.median)), ` (${ratioText(now.low)} to ${ratioText(now.high)}${now.tie ? ", a tie" : ""})`] : ["this problem was not compared"];
      return make("div", { class: "chart" }, steps(items, axis, `${shownName()} against the fastest library on ${plural(items.length, "problem")}, sorted, from ${ratioText(items[0].median)} to ${ratioText(items[items.length - 1].median)}`, (item) => choose({ problem: item.key }), widthOf(two ? 2 : 1)),
        make("p", { class: "said" }, ...(two ? [letter(file), " "] : []), ...said));
    }));
  };

  // ---- One problem: bars against the roof ----

  const roofsOf = (row) => files[row.file].roofs[row.backend] || {};
  // The share of the roof that binds: what the problem must move or compute at least, as time, by the time taken.
  const shareOf = (row, time) => {
    const roof = roofsOf(row);
    const copy = row.gb_per_s && roof.copy_gb_per_s ? row.gb_per_s / roof.copy_gb_per_s : 0;
    const fp32 = row.gflop_per_s && roof.fp32_gflop_per_s ? row.gflop_per_s / roof.fp32_gflop_per_s : 0;
    return { share: Math.max(copy, fp32) * row.hot.median / time.median, binds: fp32 > copy ? "fp32" : "copy" };
  };
  const ladderSaid = make("p", { class: "said" });
  const ladderBox = make("div");
  const notRun = make("div", { class: "said" });
  const ladder = make("section", {}, make("h2", {}, "One problem, every variant"), ladderSaid, ladderBox, notRun);
  const drawLadder = () => {
    const one = state.set.problems.get(state.problem);
    const rows = one.rows.filter((row) => row.role !== "variant" || inStage(row));
    const timed = rows.filter((row) => row.hot);
    const shares = timed.flatMap((row) => [row.hot, row.cold].filter(Boolean).map((time) => shareOf(row, time).share));
    const scale = Math.max(1.02, Math.min(1.5, Math.max(0, ...shares)));
    const first = timed.find((row) => row.role === "variant") || timed[0];
    const binds = first ? shareOf(first, first.hot).binds : "copy";
    const roof = first ? roofsOf(first) : {};
    ladderSaid.replaceChildren(make("b", {}, one.named), binds === "fp32" ? `: arithmetic is the roof here, ${digits(roof.fp32_gflop_per_s || 0, 4)} GFLOP/s of multiply-adds` : `: memory is the roof here, a copy at ${digits(roof.copy_gb_per_s || 0, 4)} GB/s`,
      "; the line is 100 % of it. Beyond it are data that the caches held, and methods with fewer operations than the definition has.");
    const groups = new Map();
    for (const row of timed) {
      const group = row.role === "variant" ? row.stage : row.role === "copy" ? "copies of as many bytes" : row.role === "peer" ? "libraries" : "beside them, less exact";
      if (!groups.has(group)) groups.set(group, new Map());
      const id = row.role + row.variant;
      if (!groups.get(group).has(id)) groups.get(group).set(id, []);
      groups.get(group).get(id).push(row);
    }
    // Ours in the order of the stages, then what they are compared with.
    const order = ["copies of as many bytes", "libraries", "beside them, less exact"];
    const names = [...groups.keys()].sort((a, b) => order.indexOf(a) - order.indexOf(b) || (order.includes(a) ? 0 : a.localeCompare(b)));
    const libraryOf = (file, cold) => {
      const times = timed.filter((row) => row.file === file && row.role === "peer").map((row) => cold ? row.cold : row.hot).filter(Boolean);
      return times.reduce((best, time) => !best || time.median < best.median ? time : best, null);
    };
    const bar = (row, cold) => {
      const time = cold ? row.cold : row.hot;
      const { share } = shareOf(row, time);
      const library = row.role === "variant" ? libraryOf(row.file, cold) : null;
      const against = library && ratioOf(library, time);
      const kind = { peer: "library", copy: "copy" }[row.role] || (row.role === "variant" ? "" : "library");
      return make("div", { class: "line", title: `${row.variant}: ${duration(time.median)}, p10 ${duration(time.p10 || time.median)}, p90 ${duration(time.p90 || time.median)}; ${row.method}` },
        make("span", { class: "state" }, (two ? letterOf(row.file) + " " : "") + (state.set.cold ? cold ? "cold" : "warm" : "")),
        make("span", { class: "track" }, make("i", { class: [kind, cold ? "cold" : "", row.file ? "second" : ""].join(" "), style: `width: ${100 * Math.min(share, scale) / scale}%` }), make("b", { style: `left: ${100 / scale}%` })),
        make("span", {}, percent(share)), make("span", {}, duration(time.median)),
        make("span", { class: against && !against.tie && against.median < 1 ? "loss" : "" }, against ? `× ${ratioText(against.median)}` : ""));
    };
    const parts = [make("div", { class: "rung heads", "aria-hidden": "true" }, make("span"), make("div", { class: "line" }, make("span"), make("span"), make("span", {}, "of roof"), make("span", {}, "time"), make("span", {}, "× library")))];
    for (const name of names) {
      parts.push(make("div", { class: "rung stage" }, name.replaceAll("_", " ")));
      for (const list of groups.get(name).values()) {
        const about = list[0].detail || list[0].description || "";
        parts.push(make("div", { class: "rung" + (idOf(list[0]) === state.variant ? " now" : "") }, make("div", { class: "name", title: about }, list[0].variant),
          make("div", {}, ...list.flatMap((row) => [bar(row, false), ...(row.cold ? [bar(row, true)] : [])]))));
      }
    }
    ladderBox.replaceChildren(...parts);
    const without = rows.filter((row) => !row.hot);
    notRun.replaceChildren(...without.map((row) => make("div", {}, make("span", { class: row.check === "FAIL" ? "bad" : "" }, row.check === "FAIL" ? "FAIL" : "NOT RUN"), ` ${two ? letterOf(row.file) + " " : ""}${row.variant}${row.reason ? ": " + row.reason : ""}`)));
  };

  // ---- The roofline ----

  const rooflineSaid = make("p", { class: "said" });
  const rooflineBox = make("div", { class: "chart" });
  const roofline = make("section", {}, make("h2", {}, "Roofline"), rooflineSaid, rooflineBox);
  const drawRoofline = () => {
    const points = [];
    const roofs = files.map((file) => file.roofs[state.set.backend]).map((roof) => roof && roof.copy_gb_per_s && roof.fp32_gflop_per_s ? roof : null);
    const best = new Map(); // the row that is shown of each file and problem
    files.forEach((_, file) => contests(file, isShown).forEach((one) => best.set(one.ours, one)));
    for (const one of problems()) {
      files.forEach((_, file) => {
        const ours = fastest(one.rows.filter((row) => row.file === file && isShown(row)));
        if (ours && !best.has(ours)) best.set(ours, null);
      });
      for (const row of one.rows) {
        if (!timeOf(row) || !row.gflop_per_s || !row.gb_per_s || (row.role === "variant" && !inStage(row))) continue;
        points.push({ row, one, x: row.gflop_per_s / row.gb_per_s, y: row.gflop_per_s * row.hot.median / timeOf(row).median });
      }
    }
    roofline.hidden = points.length === 0 || !roofs.some(Boolean);
    if (roofline.hidden) return;
    rooflineSaid.textContent = "Across: operations for each byte that must move. Up: operations per second. A point is a variant on a problem; " +
      `strong ones are ${shownName()}. Bytes are the fewest possible, so what the caches hold may lie above the slope; operations are the definition's, of which some methods need fewer.`;
    const width = widthOf(1), height = 430, left = 58, right = 16, top = 24, bottom = 42;
    const xs = points.map((point) => point.x), ys = points.map((point) => point.y);
    const ridges = roofs.filter(Boolean).map((roof) => roof.fp32_gflop_per_s / roof.copy_gb_per_s);
    const x0 = Math.log10(Math.min(...xs) / 1.6), x1 = Math.log10(Math.max(...xs, ...ridges) * 1.6);
    const y1 = Math.log10(Math.max(...ys, ...roofs.filter(Boolean).map((roof) => roof.fp32_gflop_per_s)) * 1.5), y0 = Math.min(Math.log10(Math.min(...ys) / 1.5), y1 - 1);
    const x = (value) => left + (Math.log10(value) - x0) / (x1 - x0) * (width - left - right);
    const y = (value) => top + (y1 - Math.log10(value)) / (y1 - y0) * (height - top - bottom);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `roofline with ${plural(points.length, "point")}` });
    for (let power = Math.ceil(y0); power <= y1; ++power) {
      const value = 10 ** power;
      svg.append(draw("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }), draw("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value >= 1000 ? `${value / 1000} T` : `${value} G`));
    }
    for (let power = Math.floor(x0 * Math.log2(10)); power <= x1 * Math.log2(10); ++power) {
      const value = 2 ** power;
      if (Math.log10(value) < x0 || power % Math.ceil((x1 - x0) * Math.log2(10) / (width / 90)) !== 0) continue;
      svg.append(draw("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - bottom }), draw("text", { x: x(value), y: height - bottom + 17, "text-anchor": "middle" }, value < 1 ? `1/${1 / value}` : count(value)));
    }
    svg.append(draw("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "FLOP/byte"), draw("text", { x: 4, y: 12 }, "FLOP/s"));
    roofs.forEach((roof, file) => {
      if (!roof) return;
      const ridge = roof.fp32_gflop_per_s / roof.copy_gb_per_s;
      const begin = Math.max(10 ** x0, 10 ** y0 / roof.copy_gb_per_s);
      svg.append(draw("polyline", { class: "roof" + (file ? " second" : ""), points: [[x(begin), y(begin * roof.copy_gb_per_s)], [x(ridge), y(roof.fp32_gflop_per_s)], [width - right, y(roof.fp32_gflop_per_s)]].map((at) => at.join()).join(" ") }));
    });
    const rank = (point) => (point.one.key === state.problem ? 2 : 0) + (best.has(point.row) ? 1 : 0);
    for (const point of points.sort((a, b) => rank(a) - rank(b))) {
      const is = best.has(point.row), contest = best.get(point.row);
      const lost = contest && !contest.tie && contest.median < 1;
      const size = is ? 4.5 : 3;
      const about = `${two ? letterOf(point.row.file) + " " : ""}${point.row.variant}, ${point.one.named}: ${digits(point.y)} GFLOP/s, ${duration(timeOf(point.row).median)}`;
      const kind = "point" + (point.row.role === "variant" ? "" : " library") + (is ? " shown" : "") + (lost ? " lost" : "");
      const at = [x(point.x), y(point.y)];
      const pick = () => choose({ problem: point.one.key });
      svg.append(point.row.file ? draw("rect", { class: kind, x: at[0] - size, y: at[1] - size, width: 2 * size, height: 2 * size, onclick: pick }, draw("title", {}, about))
        : draw("circle", { class: kind, cx: at[0], cy: at[1], r: size, onclick: pick }, draw("title", {}, about)));
      if (point.one.key === state.problem && is) svg.append(draw("circle", { class: "chosen", cx: at[0], cy: at[1], r: size + 3.5 }));
    }
    const sign = (colour, text, faint) => make("span", {}, make("i", { style: `background: var(--${colour})` + (faint ? "; opacity: 0.35" : "") }), text);
    rooflineBox.replaceChildren(svg, make("div", { class: "legend" }, sign("ours", shownName()), sign("loss", "the same, slower than a library"), sign("ours", "other variants", true), sign("others", "libraries"),
      ...(two ? [make("span", {}, "circles and the full line: A; squares and the broken line: B")] : [])));
  };

  // ---- A beside B ----

  const besideSaid = make("p", { class: "said" });
  const besideBox = make("div", { class: "pair both" });
  const beside = make("section", {}, make("h2", {}, "A beside B"), besideSaid, besideBox);
  const pairsOf = (counts) => data.comparison.pairs.filter((pair) => {
    const key = JSON.stringify(pair.problem);
    const known = setKey(pair) === state.set.key && problems().find((one) => one.key === key);
    if (!known || !counts(pair) || !(state.cold ? pair.cold : pair.hot)) return false;
    pair.key = key;
    pair.named = `${nameOf(pair)}, ${known.named}`;
    return true;
  }).map((pair) => ({ ...(state.cold ? pair.cold : pair.hot), pair, key: pair.key, named: pair.named })).sort((a, b) => a.median - b.median);
  const drawBeside = () => {
    const items = pairsOf(isShown);
    const others = sumUp(pairsOf((pair) => pair.role === "copy" || pair.role === "peer"));
    if (items.length === 0) {
      besideSaid.textContent = "No row of these is timed in both files.";
      besideBox.replaceChildren();
      return;
    }
    const sum = sumUp(items);
    besideSaid.replaceChildren(`Time in A / time in B: over 1, B is faster. ${state.variant ? state.variant.split("/")[1] : "All our variants"}: `,
      make("b", {}, `${count(sum.wins)} faster in B, ${plural(sum.ties, "tie")}, `), make("b", { class: sum.losses ? "loss" : "" }, `${count(sum.losses)} slower`),
      `; mean ${ratioText(sum.mean)}, worst ${ratioText(sum.worst.median)} (${sum.worst.named}), best ${ratioText(sum.best.median)} (${sum.best.named}).`,
      others ? ` Copies and libraries, whose code is the same: mean ${ratioText(others.mean)}, from ${ratioText(others.worst.median)} to ${ratioText(others.best.median)}.` : "");
    const listed = (title, list) => list.length === 0 ? [] : [make("p", { class: "said" }, make("b", {}, title)), make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...list.slice(0, MOST_NAMED).map((item) =>
      make("tr", {}, make("th", { scope: "row" }, item.named), make("td", { class: item.median < 1 ? "loss" : "" }, ratioText(item.median)), make("td", { class: "small" }, `${ratioText(item.low)} to ${ratioText(item.high)}`)))))),
      ...(list.length > MOST_NAMED ? [make("p", { class: "said" }, `and ${count(list.length - MOST_NAMED)} more: halo compare`)] : [])];
    const marked = items.map((item) => ({ ...item, chosen: item.key === state.problem && (!state.variant || idOf(item.pair) === state.variant) }));
    besideBox.replaceChildren(make("div", { class: "chart" }, steps(marked, axisOf([marked]), `time in A / time in B of ${plural(items.length, "row")}, sorted`, (item) => choose({ problem: item.key, variant: idOf(item.pair) }), widthOf(2))),
      make("div", {}, ...listed("Slower in B", items.filter((item) => !item.tie && item.median < 1)), ...listed("Faster in B", items.filter((item) => !item.tie && item.median > 1).reverse())));
  };

  // ---- The page ----

  const update = () => {
    drawControls();
    drawRatios();
    if (two) drawBeside();
    drawLadder();
    drawRoofline();
    history.replaceState(null, "", "#" + new URLSearchParams({ ...(shown.length > 1 ? { set: shown.indexOf(state.set) } : {}), ...(state.stage ? { stage: state.stage } : {}),
      ...(state.variant ? { variant: state.variant } : {}), ...Object.fromEntries(Object.entries(state.filters).filter(([, value]) => value).map(([field, value]) => ["by-" + field, value])),
      ...(state.cold ? { cold: 1 } : {}), problem: [...state.set.problems.keys()].indexOf(state.problem) }));
  };
  // What no longer fits what was chosen is chosen anew.
  const settle = () => {
    state.filters = Object.fromEntries(Object.entries(state.filters).filter(([field, value]) => value && state.set.choices.some((one) => one.field === field && one.values.some((known) => String(known) === value))));
    if (problems().length === 0) state.filters = {};
    if (!state.set.stages.includes(state.stage)) state.stage = "";
    if (!variants().some((row) => idOf(row) === state.variant)) state.variant = "";
    if (!state.set.cold) state.cold = false;
    if (!problems().some((one) => one.key === state.problem)) {
      // The one in the middle: neither the worst nor the best.
      const order = walk();
      state.problem = order[order.length >> 1].key;
    }
  };
  const choose = (changes) => {
    Object.assign(state, changes);
    if (changes.set) Object.assign(state, { stage: "", filters: {}, variant: "", problem: "" });
    settle();
    update();
  };
  // Problems in the order of the chart: from the worst to the best.
  const walk = () => {
    const compared = contests(0, isShown).map((one) => state.set.problems.get(one.key));
    return compared.length ? compared : problems();
  };
  const move = (by) => {
    const order = walk();
    const at = order.findIndex((one) => one.key === state.problem);
    choose({ problem: order[clamp(at + by, 0, order.length - 1)].key });
  };
  const moveVariant = (by) => {
    const ids = ["", ...variants().map(idOf)];
    choose({ variant: ids[(ids.indexOf(state.variant) + by + ids.length) % ids.length] });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    const actions = {
      ArrowRight: () => move(1), ArrowLeft: () => move(-1), w: () => move(-Infinity), b: () => move(Infinity),
      "]": () => moveVariant(1), "[": () => moveVariant(-1), c: () => choose({ cold: !state.cold }),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });

  main.append(controls, ratios, ...(two ? [beside] : []), ladder, roofline);
  const asked = new URLSearchParams(location.hash.slice(1));
  state.set = shown[Number(asked.get("set"))] || shown[0];
  Object.assign(state, { stage: asked.get("stage") || "", variant: asked.get("variant") || "", cold: asked.has("cold"),
    problem: [...state.set.problems.keys()][asked.has("problem") ? Number(asked.get("problem")) : -1] || "",
    filters: Object.fromEntries([...asked].filter(([name]) => name.startsWith("by-")).map(([name, value]) => [name.slice(3), value])) });
  settle();
  update();
  // Charts are as wide as the window lets them.
  let width = main.clientWidth;
  addEventListener("resize", () => {
    if (width === main.clientWidth) return;
    width = main.clientWidth;
    update();
  });
  // For tests and for whoever looks at it from the console.
  window.halo = { data, state, choose, standings, shown };
})();
