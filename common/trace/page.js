// Draws what the simulator saw: the source with its figures, and one request of a warp at a time.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const main = document.getElementById("main");
  const LINES_AROUND = 12; // of a long file's counted lines

  // ---- Small things ----

  const { make, draw, count, clamp, plural } = page;
  const figure = (number) => {
    if (Number.isInteger(number)) return String(number);
    return number < 99.95 ? number.toFixed(number < 9.995 ? 2 : 1) : String(Math.round(number));
  };
  const times = (list) => list.filter((n, i) => i === 0 || n !== 1 || list.slice(i).some((m) => m !== 1)).join(" × ");

  const KINDS = {
    global_load: "load from global memory", global_store: "store to global memory",
    global_atomic: "atomic on global memory", shared_load: "load from shared memory",
    shared_store: "store to shared memory", shared_atomic: "atomic on shared memory",
    constant_load: "load from constant memory", dshared_load: "load from another block's shared memory",
    dshared_store: "store to another block's shared memory", dshared_atomic: "atomic on another block's shared memory",
  };
  const isShared = (kind) => kind.startsWith("shared_");
  const unitOf = (kind) => isShared(kind) ? "wavefront" : kind === "constant_load" ? "address" : "sector";
  const units = (number, kind) => {
    const word = unitOf(kind);
    return `${number} ${number === 1 ? word : word === "address" ? "addresses" : word + "s"}`;
  };

  // How the picture of such a request is read.
  const HOW = {
    sector: "Above, the lanes. Below, the memory: a row is 128 bytes, four sectors. A request moves sectors whole; those that " +
      "it touches are outlined, and a number says which lane uses these 4 bytes.",
    wavefront: "Above, the lanes. Below, shared memory: a column is a bank, 4 bytes wide. A bank gives one word at a time, so " +
      "the one that has the most words to give, counted at the foot, says how many wavefronts the request takes.",
    address: "Above, the lanes. Below, the memory: a row is 128 bytes. Constant memory serves one address at a time: it is " +
      "fastest where all lanes read the same.",
  };

  // Blue to gold: told apart by every kind of eye, and by lightness alone.
  const STOPS = [[38, 86, 160], [96, 121, 150], [140, 140, 132], [186, 158, 82], [222, 180, 30]];
  const colourOf = (lane) => {
    const at = (lane / 31) * (STOPS.length - 1);
    const low = Math.min(Math.floor(at), STOPS.length - 2);
    const mixed = STOPS[low].map((value, i) => Math.round(value + (STOPS[low + 1][i] - value) * (at - low)));
    return `rgb(${mixed.join(",")})`;
  };
  const inkOn = (lane) => (lane < 13 ? "#ffffff" : "#10151b");

  // ---- What the figures say ----

  const lineKey = (line) => line.file + ":" + line.line;

  // Of a line: sectors, conflicts and addresses, taken and fewest.
  const figuresOf = (view, line) => {
    const c = (name) => line.counters[name] || 0;
    const traced = view.tracedAt.get(lineKey(line));
    const fewest = (traced && traced.fewest) || {};
    const sectors = c("global_load_sectors") + c("global_store_sectors");
    const constants = c("constant_load_requests");
    const best = traced ? (fewest.global_load_sectors || 0) + (fewest.global_store_sectors || 0) : sectors;
    const bestConstants = traced ? fewest.constant_load_requests || 0 : constants;
    return {
      sectors, best, constants, bestConstants,
      requests: c("global_load_requests") + c("global_store_requests"),
      conflicts: c("shared_load_conflicts") + c("shared_store_conflicts"),
      shared: c("shared_load_requests") + c("shared_store_requests"),
      atomics: c("global_atomic_requests") + c("shared_atomic_requests"),
      excess: sectors - best + c("shared_load_conflicts") + c("shared_store_conflicts") + constants - bestConstants,
    };
  };

  for (const view of data.views) {
    view.tracedAt = new Map(view.trace.lines.map((line) => [lineKey(line), line]));
    view.linesAt = new Map(view.lines.map((line) => [lineKey(line), line]));
    for (const line of view.lines) line.figures = figuresOf(view, line);
    view.worst = view.lines.filter((line) => line.figures.excess > 0)
      .sort((a, b) => b.figures.excess - a.figures.excess || a.line - b.line).slice(0, 4);
  }

  // Which bytes each lane touches: {lane, array, offset}.
  const lanesOf = (request, arrays) => {
    const lanes = [];
    for (const [lane, number, array, offset, stride] of request.lanes) {
      for (let i = 0; i < number; ++i) lanes.push({ lane: lane + i, array: arrays[array], offset: offset + i * stride });
    }
    return lanes;
  };

  // ---- The drawing of one request ----

  const CELL = 19, LEFT = 92, TOP = 24, GAP = 7;

  const drawRequest = (pane, request) => {
    const arrays = pane.view.trace.arrays;
    const lanes = lanesOf(request, arrays);
    const banked = isShared(request.kind);
    const gap = banked ? 0 : GAP;
    const xOf = (word) => LEFT + word * CELL + Math.floor(word / 8) * gap;
    const width = xOf(31) + CELL + 6;

    // Rows of 128 bytes: four sectors, or all banks once.
    const rows = new Map();
    for (const lane of lanes) {
      const first = lane.array.phase + lane.offset;
      lane.words = [];
      for (let byte = first - (first % 4); byte < first + request.bytes; byte += 4) {
        const row = Math.floor(byte / 128);
        const key = arrays.indexOf(lane.array) * 1e10 + row;
        if (!rows.has(key)) rows.set(key, { key, row, array: lane.array, words: new Map() });
        const words = rows.get(key).words;
        const word = (byte % 128) / 4;
        if (!words.has(word)) words.set(word, []);
        words.get(word).push(lane.lane);
        lane.words.push({ key, word });
      }
    }
    const listed = [...rows.values()].sort((a, b) => a.key - b.key);
    const high = listed.length > 14 ? 13 : CELL - 2; // of a cell
    const step = high + (listed.length > 14 ? 2 : 8);
    const firstRow = TOP + CELL + (listed.length > 4 ? 96 : 74);
    listed.forEach((row, i) => { row.y = firstRow + i * step; });
    const bottom = firstRow + listed.length * step;
    const height = bottom + (banked ? 64 : 6);
    const picked = lanes.find((lane) => lane.lane === pane.lane);

    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": pane.said });
    const all = draw("g", picked ? { class: "pick" } : {});
    svg.append(all);
    const pick = (lane) => { pane.lane = pane.lane === lane ? -1 : lane; pane.update(); };

    all.append(draw("text", { x: 2, y: TOP + 14, "font-size": 12 }, "lanes"));
    const wires = draw("g");
    all.append(wires);
    const touched = new Map(lanes.map((lane) => [lane.lane, lane]));
    for (let i = 0; i < 32; ++i) {
      const x = xOf(i);
      const lane = touched.get(i);
      const box = draw("g", lane ? { class: "lane", onclick: () => pick(i) } : {});
      box.append(draw("rect", { x: x + 0.5, y: TOP + 0.5, width: CELL - 1, height: CELL - 1, rx: 3,
        ...(lane ? { fill: colourOf(i) } : { class: "off" }) }));
      box.append(draw("text", { x: x + CELL / 2, y: TOP + 13.5, "font-size": 10, "text-anchor": "middle",
        style: `fill:${lane ? inkOn(i) : "var(--faint)"}` }, String(i)));
      all.append(box);
      if (!lane) continue;
      const middle = lane.words.reduce((sum, { word }) => sum + xOf(word), 0) / lane.words.length + CELL / 2;
      const y = rows.get(lane.words[0].key).y;
      const from = x + CELL / 2, top = TOP + CELL;
      wires.append(draw("path", { class: "wire" + (picked === lane ? " picked" : ""), stroke: colourOf(i),
        d: `M${from} ${top} C${from} ${top + 34} ${middle} ${Math.max(firstRow - 44, y - 70)} ${middle} ${y}` }));
    }

    if (banked) {
      all.append(draw("text", { x: 2, y: firstRow - 6, "font-size": 11, class: "small" }, "bank"));
      for (let i = 0; i < 32; ++i) {
        all.append(draw("text", { x: xOf(i) + CELL / 2, y: firstRow - 6, "font-size": 9, class: "small",
          "text-anchor": "middle" }, String(i)));
      }
    }
    let named = null;
    for (const row of listed) {
      const begin = row.row * 128 - row.array.phase;
      // The name once, then where in the array the row begins.
      const name = row.array.name === "dynamic shared memory" ? "dynamic" : row.array.name;
      const label = (named === row.array ? "" : name.length > 11 ? name.slice(0, 10) + "…" : name);
      if (label) {
        all.append(draw("text", { x: 2, y: row.y + high / 2 + 4, "font-size": 10.5 }, label, draw("title", {}, row.array.name)));
      }
      named = row.array;
      all.append(draw("text", { x: LEFT - 6, y: row.y + high / 2 + 3, "font-size": 9, class: "small", "text-anchor": "end" },
        label && label.length > 5 && String(begin).length > 3 ? "" : (begin < 0 ? String(begin) : "+" + begin)));
      for (let sector = 0; sector < 4 && !banked; ++sector) {
        const used = [...row.words.keys()].some((word) => Math.floor(word / 8) === sector);
        all.append(draw("rect", { x: xOf(sector * 8) - 1.5, y: row.y - 1, width: 8 * CELL + 3, height: high + 2, rx: 3,
          class: used ? "sector" : "empty" }));
      }
      if (banked) {
        all.append(draw("rect", { x: xOf(0), y: row.y, width: 32 * CELL, height: high, class: "empty" }));
      }
      for (const [word, its] of row.words) {
        const x = xOf(word);
        const shown = its.length === 1 ? String(its[0]) : "×" + its.length;
        const lane = its[0];
        const cell = draw("g", { class: "lane", onclick: () => pick(lane) });
        cell.append(draw("rect", { x: x + 0.7, y: row.y + 0.5, width: CELL - 1.4, height: high - 1, rx: 2, fill: colourOf(lane) }));
        cell.append(draw("text", { x: x + CELL / 2, y: row.y + high / 2 + 3.4, "font-size": 9.5, "text-anchor": "middle",
          style: `fill:${inkOn(lane)}` }, shown));
        cell.append(draw("title", {}, (its.length === 1 ? "lane " : "lanes ") + its.join(", ")));
        all.append(cell);
        if (picked && its.includes(picked.lane)) {
          all.append(draw("rect", { x, y: row.y - 0.5, width: CELL, height: high + 1, rx: 2, class: "picked-box" }));
        }
      }
    }
    if (banked) {
      // How many different words each bank has to give.
      const depth = Array(32).fill(0);
      for (const row of listed) for (const word of row.words.keys()) ++depth[word];
      const most = Math.max(...depth);
      all.append(draw("text", { x: 2, y: bottom + 24, "font-size": 11 }, "words of"));
      all.append(draw("text", { x: 2, y: bottom + 38, "font-size": 11 }, "each bank"));
      depth.forEach((words, bank) => {
        if (!words) return;
        const tall = 34 * words / most;
        all.append(draw("rect", { x: xOf(bank) + 2, y: bottom + 44 - tall, width: CELL - 4, height: tall,
          class: words === most && most > 1 ? "bar most" : "bar" }));
        all.append(draw("text", { x: xOf(bank) + CELL / 2, y: bottom + 57, "font-size": 9.5, "text-anchor": "middle" }, String(words)));
      });
    }
    return svg;
  };

  // ---- A pane: one view of the data, with its own line, warp and step ----

  class Pane {
    constructor(number) {
      this.number = number;
      this.node = make("section", { class: "pane" });
      this.node.addEventListener("pointerdown", () => activate(this));
      this.node.addEventListener("focusin", () => activate(this));
      this.lane = -1;
      this.timer = 0;
    }

    show(index) {
      this.stop();
      this.index = index;
      this.view = data.views[index];
      this.countable = this.view.lines.filter((line) => this.view.tracedAt.has(lineKey(line)));
      this.build();
      const first = this.view.worst.find((line) => this.countable.includes(line)) || this.countable[0];
      if (first) this.choose(lineKey(first));
      else this.update();
    }

    // ---- The source ----

    build() {
      const view = this.view;
      const c = (name) => view.counters[name] || 0;
      const facts = [["grid", times(view.grid)], ["block", times(view.block)]];
      if (view.shared_bytes) facts.push(["shared memory", count(view.shared_bytes) + " B a block"]);
      const add = (word, sectors, requests) => {
        if (requests) facts.push([word, `${plural(sectors, "sector")}, ${figure(sectors / requests)} a request`]);
      };
      add("loads", c("global_load_sectors"), c("global_load_requests"));
      add("stores", c("global_store_sectors"), c("global_store_requests"));
      if (c("shared_load_requests") + c("shared_store_requests")) {
        facts.push(["bank conflicts", count(c("shared_load_conflicts") + c("shared_store_conflicts"))]);
      }
      for (const { array, times: often } of view.repeated) facts.push([array, `asked for ${figure(often)} times over`]);
      const head = make("div", { class: "head" },
        make("h2", {}, view.name),
        make("div", { class: "kernel" }, view.kernel),
        make("div", { class: "facts" }, ...facts.map(([name, value]) => make("span", {}, name + " ", make("b", {}, value)))));
      if (view.findings.length) {
        head.append(make("ul", { class: "findings" }, ...view.findings.slice(0, 5).map((finding) =>
          make("li", {}, `${finding.kind.replaceAll("_", " ")}, line ${finding.line}: ${finding.message}`))));
      }
      this.worstButtons = [];
      const several = new Set(view.lines.map((line) => line.file)).size > 1;
      if (view.worst.length) {
        head.append(make("ul", { class: "worst" }, make("li", {}, "worst lines:"), ...view.worst.map((line) => {
          const words = [];
          const f = line.figures;
          if (f.sectors > f.best) words.push(`${count(f.sectors - f.best)} sectors too many`);
          if (f.conflicts) words.push(plural(f.conflicts, "conflict"));
          if (f.constants > f.bestConstants) words.push(`${count(f.constants - f.bestConstants)} addresses too many`);
          const button = make("button", { type: "button", "aria-pressed": "false", onclick: () => this.choose(lineKey(line)) },
            `${several ? line.file.split("/").pop() + ":" : ""}${line.line}: ${words.join(", ")}`);
          this.worstButtons.push([lineKey(line), button]);
          return make("li", {}, button);
        })));
      } else {
        head.append(make("p", {}, "No line takes more sectors or wavefronts than its bytes need."));
      }

      const body = make("tbody");
      this.rows = new Map();
      const files = [...new Set(view.lines.map((line) => line.file))];
      const isShown = (numbers, n, length) => length <= 220 || numbers.some((m) => Math.abs(n - m) <= LINES_AROUND);
      for (const file of files) {
        if (files.length > 1) body.append(make("tr", { class: "file" }, make("td", { colspan: 4 }, file)));
        const text = data.files[file];
        const counted = view.lines.filter((line) => line.file === file);
        const numbers = counted.map((line) => line.line);
        if (!text) {
          for (const line of counted) body.append(this.sourceRow(line.line, "(the file is not here)", line));
          continue;
        }
        let skipping = false;
        text.forEach((words, i) => {
          if (!isShown(numbers, i + 1, text.length)) {
            if (!skipping) body.append(make("tr", { class: "gap" }, make("td", { colspan: 4 }, "⋯")));
            skipping = true;
            return;
          }
          skipping = false;
          body.append(this.sourceRow(i + 1, words, this.view.linesAt.get(file + ":" + (i + 1))));
        });
      }
      this.source = make("div", { class: "source", tabindex: "0", role: "region", "aria-label": "source of " + view.name },
        make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "line"),
          make("th", { title: "Sectors of global memory a request; c: addresses a read of constant memory" }, "sectors a request"),
          make("th", { title: "Bank conflicts of shared memory a request" }, "conflicts a request"),
          make("th", {}, files.length === 1 ? files[0] : "source"))), body));
      this.controls = make("div", { class: "controls" });
      this.strip = make("div", { class: "strip", title: "What was kept of the warp's requests, in order; the tall marks are those of the chosen line" });
      this.caption = make("p", { class: "caption", "aria-live": "polite" });
      this.how = make("p", { class: "how" });
      this.drawing = make("div", { class: "drawing", tabindex: "0", role: "region", "aria-label": "lanes of a request" });
      this.node.replaceChildren(head, make("div", { class: "parts" },
        make("div", {}, this.source, make("p", { class: "legend" },
          make("span", {}, make("i", { class: "s" }), " as few sectors as can be … 8 times as many"),
          make("span", {}, make("i", { class: "c" }), " no conflict … 31 a request"))),
        make("div", {}, this.controls, this.strip, this.caption, this.drawing, this.how)));
    }

    sourceRow(number, text, line) {
      if (!line) {
        return make("tr", {}, make("td", { class: "number" }, String(number)), make("td"), make("td"), make("td", {}, text));
      }
      const f = line.figures;
      // The root: a little too much is to be seen as well.
      const heat = (value) => "--heat:" + Math.sqrt(clamp(value, 0, 1)).toFixed(3);
      const sectors = [];
      if (f.requests) sectors.push(figure(f.sectors / f.requests));
      if (f.bestConstants) sectors.push(figure(f.constants / f.bestConstants) + " c");
      const waste = Math.max(f.best ? f.sectors / f.best : 1, f.bestConstants ? f.constants / f.bestConstants : 1);
      const key = lineKey(line);
      const can = this.view.tracedAt.has(key);
      const button = make("button", { type: "button", "aria-pressed": "false", onclick: () => this.choose(key) }, String(number));
      const row = make("tr", { class: can ? "counted" : "", onclick: () => can && this.choose(key) },
        make("td", { class: "number" }, can ? button : String(number)),
        make("td", { class: sectors.length ? "sectors" : "", style: heat(Math.log2(waste) / 3),
          title: f.requests ? `${count(f.sectors)} sectors in ${plural(f.requests, "request")}; their bytes need ${count(f.best)}` : "" }, sectors.join(" ")),
        make("td", { class: f.shared ? "conflicts" : "", style: heat(f.shared ? Math.log2(1 + f.conflicts / f.shared) / 5 : 0),
          title: f.shared ? `${plural(f.conflicts, "conflict")} in ${plural(f.shared, "request")}` : "" },
          f.shared ? figure(f.conflicts / f.shared) : ""),
        make("td", {}, text));
      this.rows.set(key, { row, button });
      return row;
    }

    // ---- What is chosen ----

    // The warps that were kept for the line, with why.
    warpsOf(key) {
      const traced = this.view.tracedAt.get(key);
      const why = new Map();
      for (const word of ["first", "middle", "worst"]) {
        if (traced[word] >= 0) why.set(traced[word], [...(why.get(traced[word]) || []), word]);
      }
      return [...why].map(([warp, words]) => ({ warp, words: words.join(", ") }));
    }
    requestsAt() {
      return this.view.trace.warps[this.warp].requests.filter((request) => lineKey(request) === this.key &&
        (this.kind === "all" || request.kind === this.kind));
    }
    kindsAt() {
      return [...new Set(this.view.trace.warps[this.warp].requests.filter((request) => lineKey(request) === this.key)
        .map((request) => request.kind))];
    }
    // A line, its worst warp, and of its kinds the one that takes most beyond the fewest.
    choose(key, warp = null, request = null) {
      this.key = key;
      const kept = this.warpsOf(key);
      this.warp = warp !== null ? warp : this.view.tracedAt.get(key).worst;
      if (!kept.some((one) => one.warp === this.warp)) this.warp = kept[0].warp;
      const excess = (kind) => this.view.trace.warps[this.warp].requests
        .filter((one) => lineKey(one) === key && one.kind === kind)
        .reduce((sum, one) => sum + one.taken - one.fewest, 0);
      const kinds = this.kindsAt();
      this.kind = request ? request.kind : kinds.reduce((best, kind) => (excess(kind) > excess(best) ? kind : best), kinds[0]);
      this.at = request ? this.requestsAt().indexOf(request) : 0;
      this.update(true);
    }
    moveLine(by) {
      const keys = this.countable.map(lineKey);
      if (keys.length) this.choose(keys[clamp(keys.indexOf(this.key) + by, 0, keys.length - 1)]);
    }
    moveStep(to) {
      this.at = clamp(to, 0, this.requestsAt().length - 1);
      this.update();
    }
    nextWarp() {
      const kept = this.warpsOf(this.key).map((one) => one.warp);
      this.choose(this.key, kept[(kept.indexOf(this.warp) + 1) % kept.length]);
    }
    nextKind() {
      const kinds = this.kindsAt();
      if (kinds.length > 1) kinds.push("all");
      this.kind = kinds[(kinds.indexOf(this.kind) + 1) % kinds.length];
      this.at = 0;
      this.update();
    }
    moveLane(by) {
      const request = this.requestsAt()[this.at];
      if (!request) return;
      const lanes = lanesOf(request, this.view.trace.arrays).map((lane) => lane.lane);
      const at = lanes.indexOf(this.lane);
      this.lane = at < 0 ? lanes[by > 0 ? 0 : lanes.length - 1] : lanes[clamp(at + by, 0, lanes.length - 1)];
      this.update();
    }
    stop() {
      clearInterval(this.timer);
      this.timer = 0;
    }
    play() {
      if (this.timer) {
        this.stop();
      } else {
        this.timer = setInterval(() => {
          this.at = (this.at + 1) % Math.max(this.requestsAt().length, 1);
          this.update();
        }, 800);
      }
      this.update();
    }

    // ---- What is shown of it ----

    update(scroll = false) {
      for (const [key, { row, button }] of this.rows) {
        row.classList.toggle("chosen", key === this.key);
        button.setAttribute("aria-pressed", String(key === this.key));
      }
      for (const [key, button] of this.worstButtons) button.setAttribute("aria-pressed", String(key === this.key));
      if (!this.key) {
        this.caption.textContent = "No request of this kernel was kept.";
        return;
      }
      const chosen = this.rows.get(this.key);
      if (scroll && chosen) {
        const box = this.source;
        const top = chosen.row.offsetTop;
        if (top < box.scrollTop + 60 || top > box.scrollTop + box.clientHeight - 60) box.scrollTop = top - box.clientHeight / 2;
      }
      const requests = this.requestsAt();
      const request = requests[this.at];
      this.updateControls(requests);
      this.updateStrip(request);
      this.updateCaption(request, requests);
      this.drawing.replaceChildren(request ? drawRequest(this, request) : "");
      remember();
    }

    updateControls(requests) {
      const focused = this.controls.contains(document.activeElement) ? document.activeElement.dataset.name : null;
      const button = (name, text, action, pressed = null, disabled = false, label = null) =>
        make("button", { type: "button", "data-name": name, "aria-pressed": pressed === null ? null : String(pressed),
          disabled, "aria-label": label, title: label, onclick: action }, text);
      const parts = [];
      for (const { warp, words } of this.warpsOf(this.key)) {
        const its = this.view.trace.warps[warp];
        parts.push(button("warp" + warp, `warp ${its.warp} of block (${its.block.join(", ")}): ${words}`,
          () => this.choose(this.key, warp), warp === this.warp));
      }
      const kinds = this.kindsAt();
      // A word before what is to choose, on the same line as the first of it.
      const introduced = (word, from) => {
        parts[from] = make("span", { class: "introduced" }, make("span", { class: "name" }, word), parts[from]);
      };
      introduced("kept:", 0);
      if (kinds.length > 1) {
        const from = parts.length;
        for (const kind of [...kinds, "all"]) {
          parts.push(button(kind, kind === "all" ? "all" : kind.replace("_", " "), () => { this.kind = kind; this.at = 0; this.update(); }, kind === this.kind));
        }
        introduced("its requests:", from);
      }
      parts.push(make("span", { style: "white-space:nowrap" },
        button("back", "◀", () => this.moveStep(this.at - 1), null, this.at <= 0, "the step before"), " ",
        make("span", {}, `${this.at + 1} of ${requests.length}`), " ",
        button("next", "▶", () => this.moveStep(this.at + 1), null, this.at + 1 >= requests.length, "the next step"), " ",
        button("play", this.timer ? "pause" : "play", () => this.play(), Boolean(this.timer))));
      this.controls.replaceChildren(...parts);
      if (focused) {
        const again = this.controls.querySelector(`[data-name="${focused}"]`);
        if (again && !again.disabled) again.focus();
      }
    }

    // All that was kept of the warp, in the order in which it happened.
    updateStrip(now) {
      const warp = this.view.trace.warps[this.warp];
      const steps = Math.max(warp.steps, 1);
      const svg = draw("svg", { viewBox: "0 0 1000 34", preserveAspectRatio: "none", role: "img",
        "aria-label": `what was kept of the warp's ${steps} requests, in order` });
      const wide = clamp(1000 / steps - 1, 1.6, 14);
      for (const request of warp.requests) {
        const x = (request.step + 0.5) * 1000 / steps;
        const own = lineKey(request) === this.key;
        const high = own ? 24 : 12;
        svg.append(draw("rect", { class: "tick", x: x - wide / 2, y: 30 - high, width: wide, height: high,
          fill: isShared(request.kind) ? "rgb(var(--conflicts))" : "rgb(var(--sectors))", opacity: own ? 1 : 0.45,
          onclick: () => this.choose(lineKey(request), this.warp, request) },
        draw("title", {}, `step ${request.step + 1}, line ${request.line}: ${KINDS[request.kind]}`)));
        if (request === now) svg.append(draw("rect", { class: "now", x: x - wide / 2 - 3, y: 2, width: wide + 6, height: 30, rx: 2, "vector-effect": "non-scaling-stroke" }));
      }
      this.strip.replaceChildren(svg);
    }

    updateCaption(request, requests) {
      if (!request) {
        this.said = "";
        this.how.textContent = "";
        this.caption.textContent = "Nothing of this kind was kept.";
        return;
      }
      const warp = this.view.trace.warps[this.warp];
      const lanes = lanesOf(request, this.view.trace.arrays);
      const what = `Step ${request.step + 1} of ${warp.steps}, line ${request.line}: ${KINDS[request.kind]}, ` +
        `${plural(lanes.length, "lane")} of ${plural(request.bytes, "byte")}`;
      const names = [...new Set(lanes.map((lane) => lane.array.name))].join(", ");
      let cost = "";
      if (request.taken) {
        cost = request.taken > request.fewest ? `${units(request.taken, request.kind)}, where ${request.fewest} would do`
          : `${units(request.taken, request.kind)}, the fewest`;
      }
      const parts = [what + `, ${names}`];
      if (cost) parts.push(": ", make("span", { class: request.taken > request.fewest ? "bad" : "" }, cost));
      parts.push(".");
      if (request.why) parts.push(" " + request.why);
      const picked = lanes.find((lane) => lane.lane === this.lane);
      if (picked) {
        const at = picked.array.phase + picked.offset;
        parts.push(` Lane ${picked.lane}: byte ${count(picked.offset)} of ${picked.array.name}, ` +
          (isShared(request.kind) ? `bank ${Math.floor(at / 4) % 32}.` : `sector ${count(Math.floor(at / 32))}.`));
      }
      this.said = `${what}, ${names}: ${cost}. ${request.why || ""}`;
      this.how.textContent = HOW[unitOf(request.kind)];
      this.caption.replaceChildren(...parts);
    }
  }

  // ---- The page ----

  const panes = [new Pane(0), new Pane(1)];
  let active = panes[0];
  let beside = -1;
  const activate = (pane) => {
    active = pane;
    for (const one of panes) one.node.classList.toggle("active", one === pane);
  };

  const options = (chosen, none) => [
    ...(none ? [make("option", { value: "-1", selected: chosen < 0 }, "nothing")] : []),
    ...data.views.map((view, i) => make("option", { value: String(i), selected: i === chosen },
      view.name === view.short ? view.name : `${view.name}: ${view.short}`)),
  ];
  const box = make("div");
  const besideBox = make("div", { class: "compared-box" });
  const compare = () => {
    if (beside < 0) {
      besideBox.replaceChildren();
      return;
    }
    const [a, b] = [panes[0].view, panes[1].view];
    const names = [...new Set([...Object.keys(a.counters), ...Object.keys(b.counters)])]
      .filter((name) => a.counters[name] || b.counters[name]);
    const differ = names.filter((name) => (a.counters[name] || 0) !== (b.counters[name] || 0));
    const rows = differ.map((name) => {
      const [x, y] = [a.counters[name] || 0, b.counters[name] || 0];
      return make("tr", {}, make("th", { scope: "row" }, name.replaceAll("_", " ")), make("td", {}, count(x)),
        make("td", {}, count(y)), make("td", {}, x ? "× " + figure(y / x) : ""));
    });
    besideBox.replaceChildren(make("details", { open: innerWidth > 700 && differ.length > 0 && differ.length < 5 }, make("summary", {},
      differ.length ? `Counters that differ: ${differ.length} of ${names.length}` : "All counters are equal"),
      make("table", { class: "compared" }, make("thead", {}, make("tr", {}, make("th"), make("th", {}, a.name),
        make("th", {}, b.name), make("th"))), make("tbody", {}, ...rows))));
  };
  const layout = () => {
    box.className = "panes " + (beside < 0 ? "one" : "two");
    box.replaceChildren(...(beside < 0 ? [panes[0].node] : panes.map((pane) => pane.node)));
    activate(beside < 0 ? panes[0] : active);
    compare();
  };
  const left = make("select", { onchange: () => { panes[0].show(Number(left.value)); compare(); } });
  const right = make("select", { onchange: () => {
    beside = Number(right.value);
    if (beside >= 0) panes[1].show(beside); else panes[1].stop();
    layout();
    remember();
  } });

  // Where one is, in the address: to be linked to.
  let remembering = false;
  const remember = () => {
    if (!remembering) return;
    const parts = [`view=${panes[0].index}`];
    if (beside >= 0) parts.push(`beside=${beside}`);
    if (panes[0].key) parts.push(`line=${panes[0].key.split(":").pop()}`, `step=${panes[0].at}`);
    history.replaceState(null, "", "#" + parts.join("&"));
  };
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (name, otherwise) => (asked.has(name) && Number.isInteger(Number(asked.get(name))) ? Number(asked.get(name)) : otherwise);
  const within = (index, least) => (index >= least && index < data.views.length ? index : least);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
    const pane = active;
    if (!pane.key) return;
    const actions = {
      ArrowDown: () => pane.moveLine(1), ArrowUp: () => pane.moveLine(-1),
      ArrowRight: () => pane.moveStep(pane.at + 1), ArrowLeft: () => pane.moveStep(pane.at - 1),
      Home: () => pane.moveStep(0), End: () => pane.moveStep(1e9),
      w: () => pane.nextWarp(), k: () => pane.nextKind(), p: () => pane.play(),
      "[": () => pane.moveLane(-1), "]": () => pane.moveLane(1),
      Escape: () => { pane.lane = -1; pane.update(); },
      v: () => { if (beside >= 0) activate(pane === panes[0] ? panes[1] : panes[0]); },
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });

  if (data.views.length === 0) {
    main.append(make("p", {}, "No kernel was launched."));
    return;
  }
  const start = within(number("view", 0), 0);
  beside = within(number("beside", data.beside), -1);
  left.append(...options(start, false));
  right.append(...options(beside, true));
  if (data.views.length > 1) {
    main.append(make("div", { class: "choice" }, make("label", {}, "shown", left), make("label", {}, "beside it", right)));
  }
  main.append(besideBox, box);
  panes[0].show(start);
  if (beside >= 0) panes[1].show(beside);
  layout();
  const line = number("line", 0);
  for (const pane of beside >= 0 ? panes : [panes[0]]) {
    const known = pane.countable.find((one) => one.line === line);
    if (known) {
      pane.choose(lineKey(known));
      pane.moveStep(number("step", 0));
    }
  }
  for (const pane of panes) if (pane.key) pane.update(true); // now that there is a place to scroll in
  remembering = true;
  // For tests and for whoever looks at it from the console.
  window.halo = { panes, active: () => active };
})();
