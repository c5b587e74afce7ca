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
    memory: "A row is 32 words of an array; a number says which lane touched the word last, ×8 that eight did. In full colour: this step; pale: the " +
      "steps of this warp before it.",
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

  // ---- The colours of the source ----

  // In the order in which they are tried: comments, texts, what the preprocessor reads, numbers, words.
  const TOKENS = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])')|(^\s*#\s*\w+)|(\b\d[\w.']*)|([A-Za-z_]\w*)/g;
  const WORDS = new Set(("alignas auto bool break case char class const constexpr continue default do double else enum extern false float for " +
    "half if inline int long namespace nullptr operator private public return short signed sizeof static static_assert struct switch " +
    "template this true typename union unsigned using void volatile while size_t int8_t int32_t int64_t uint8_t uint32_t uint64_t " +
    "float2 float4 int2 int4 dim3").split(" "));
  const CUDA = /^(__\w+|threadIdx|blockIdx|blockDim|gridDim|warpSize|cuda\w+)$/;
  // A function that turns one line after the other into nodes: a comment may go over several.
  const painter = () => {
    let inside = false;
    return (text) => {
      const nodes = [];
      let at = 0;
      const add = (words, kind) => { if (words) nodes.push(kind ? make("span", { class: kind }, words) : words); };
      if (inside) {
        const end = text.indexOf("*/");
        if (end < 0) return [make("span", { class: "t-comment" }, text)];
        inside = false;
        at = end + 2;
        add(text.slice(0, at), "t-comment");
      }
      TOKENS.lastIndex = at;
      for (let found = TOKENS.exec(text); found; found = TOKENS.exec(text)) {
        const [all, comment, quoted, directive, digits, word] = found;
        const kind = comment ? "t-comment" : quoted ? "t-text" : directive ? "t-cuda" : digits ? "t-number"
          : CUDA.test(word) ? "t-cuda" : WORDS.has(word) ? "t-word" : "";
        if (!kind) continue;
        add(text.slice(at, found.index), "");
        add(all, kind);
        at = found.index + all.length;
        inside = Boolean(comment) && comment.startsWith("/*") && !comment.slice(2).endsWith("*/");
      }
      add(text.slice(at), "");
      return nodes;
    };
  };

  // ---- Padding that is not there ----

  // How many words a row of a shared array has: from its declaration, else from a stride of lanes; 0: nothing says so.
  const rowWords = (view, array) => {
    for (const lines of Object.values(data.files)) {
      const text = (lines || []).join("\n");
      const declared = new RegExp(`__shared__[^;]*\\b${array.name}\\s*(?:\\[[^\\]]*\\])+\\[\\s*(\\w+)\\s*\\]`).exec(text);
      if (!declared) continue;
      const named = new RegExp(`constexpr\\s+\\w+\\s+${declared[1]}\\s*=\\s*(\\d+)\\s*;`).exec(text);
      const words = Number(named ? named[1] : declared[1]);
      if (words > 1) return words;
    }
    const index = view.trace.arrays.indexOf(array);
    let least = 0;
    for (const warp of view.trace.warps) {
      for (const request of warp.requests) {
        for (const [, , its, , stride] of request.lanes) {
          const words = Math.abs(stride) / 4;
          if (its === index && Number.isInteger(words) && words > request.bytes / 4 && (!least || words < least)) least = words;
        }
      }
    }
    return least;
  };
  const padded = (offset, row, pad) => offset + (row ? Math.floor(offset / 4 / row) * pad * 4 : 0);

  // As the simulator counts: up to 4 bytes wide all lanes share a pass, 8 bytes half of them, 16 bytes a quarter; of loads
  // whose neighbours agree twice as many do.
  const wavefrontsOf = (request, lanes) => {
    let wide = request.bytes <= 4 ? 32 : request.bytes === 8 ? 16 : 8;
    const at = new Map(lanes.map((lane) => [lane.lane, lane.array.phase + lane.offset]));
    const agree = (by) => [...at].every(([lane, byte]) => !at.has(lane ^ by) || at.get(lane ^ by) === byte);
    if (wide < 32 && request.kind.endsWith("load") && (agree(1) || agree(2))) wide *= 2;
    let taken = 0;
    for (let begin = 0; begin < 32; begin += wide) {
      const banks = new Map();
      for (const [lane, byte] of at) {
        if (lane < begin || lane >= begin + wide) continue;
        for (let word = Math.floor(byte / 4); word * 4 < byte + request.bytes; ++word) {
          if (!banks.has(word % 32)) banks.set(word % 32, new Set());
          banks.get(word % 32).add(word);
        }
      }
      taken += Math.max(0, ...[...banks.values()].map((words) => words.size));
    }
    return taken;
  };

  // ---- The drawing of one request ----

  const CELL = 19, LEFT = 92, TOP = 24, GAP = 7;

  const drawRequest = (pane, request) => {
    const arrays = pane.view.trace.arrays;
    const lanes = pane.lanesOf(request);
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

  // ---- The drawing of memory, as one warp has touched it so far ----

  const MOST_ROWS = { shared: 12, global: 4 }; // of an array

  const drawMemory = (pane, now) => {
    const arrays = pane.view.trace.arrays;
    const rows = new Map(); // of 32 words
    let isPast = false;
    for (const request of pane.view.trace.warps[pane.warp].requests) {
      for (const lane of pane.lanesOf(request)) {
        for (let word = Math.floor(lane.offset / 4); word * 4 < lane.offset + request.bytes; ++word) {
          const key = arrays.indexOf(lane.array) * 1e10 + Math.floor(word / 32);
          if (!rows.has(key)) rows.set(key, { key, array: lane.array, first: Math.floor(word / 32) * 32, cells: new Map(), isNow: false });
          const row = rows.get(key);
          if (request === now) row.isNow = true;
          if (isPast) continue;
          const before = row.cells.get(word % 32);
          const lanes = before && before.request === request ? [...before.lanes, lane.lane] : [lane.lane];
          row.cells.set(word % 32, { request, lanes });
        }
      }
      if (request === now) isPast = true;
    }
    // Of many rows of an array those around the request that is shown.
    const listed = [];
    for (const array of arrays) {
      const its = [...rows.values()].filter((row) => row.array === array).sort((a, b) => a.key - b.key);
      const most = MOST_ROWS[array.space] || MOST_ROWS.global;
      const from = clamp(Math.max(its.findIndex((row) => row.isNow), 0) - 1, 0, Math.max(its.length - most, 0));
      listed.push(...its.slice(from, from + most));
    }
    const step = CELL + 3;
    let y = 6, named = null;
    for (const row of listed) {
      if (row.array !== named) y += named ? 24 : 14;
      named = row.array;
      row.y = y;
      y += step;
    }
    const svg = draw("svg", { viewBox: `0 0 ${LEFT + 32 * CELL + 6} ${y + 4}`, role: "img", "aria-label": pane.said });
    named = null;
    for (const row of listed) {
      if (row.array !== named) {
        svg.append(draw("text", { x: 2, y: row.y - 4, "font-size": 11.5 }, `${row.array.name} (${row.array.space})`));
      }
      named = row.array;
      svg.append(draw("text", { x: LEFT - 6, y: row.y + 13, "font-size": 10, "text-anchor": "end", class: "small" }, `[${row.first}]`));
      for (let word = 0; word < 32; ++word) {
        const cell = row.cells.get(word);
        const x = LEFT + word * CELL;
        if (!cell) {
          svg.append(draw("rect", { x: x + 0.5, y: row.y + 0.5, width: CELL - 1, height: CELL - 1, rx: 2, class: "empty" }));
          continue;
        }
        svg.append(draw("rect", { x: x + 0.5, y: row.y + 0.5, width: CELL - 1, height: CELL - 1, rx: 2, fill: colourOf(cell.lanes[0]),
          class: cell.request === now ? "touched" : "past" },
        draw("title", {}, `${KINDS[cell.request.kind]} by ${cell.lanes.length === 1 ? "lane" : "lanes"} ${cell.lanes.join(", ")}`)));
        svg.append(draw("text", { x: x + CELL / 2, y: row.y + 13.5, "font-size": 9.5, "text-anchor": "middle",
          style: `fill:${cell.request === now ? inkOn(cell.lanes[0]) : "var(--text)"}` },
        cell.lanes.length === 1 ? String(cell.lanes[0]) : "×" + cell.lanes.length));
      }
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
      this.pad = 0; // words more in a row of a shared array
      this.row = 0; // its words
      this.memory = Boolean(data.memory); // what is drawn: memory so far, or one request
    }

    // A view; the same line of it, if it has one.
    show(index) {
      this.stop();
      this.index = index;
      this.view = data.views[index];
      this.pad = 0;
      this.countable = this.view.lines.filter((line) => this.view.tracedAt.has(lineKey(line)));
      this.build();
      const first = this.countable.find((line) => lineKey(line) === this.key) ||
        this.view.worst.find((line) => this.countable.includes(line)) || this.countable[0];
      this.key = null;
      if (first) this.choose(lineKey(first));
      else this.update();
      if (this.memory) this.draws(true);
    }

    // ---- The source ----

    build() {
      const view = this.view;
      const c = (name) => view.counters[name] || 0;
      const facts = [["grid", times(view.grid)], ["block", times(view.block)]];
      if (view.shared_bytes) facts.push(["shared memory", count(view.shared_bytes) + " B per block"]);
      const add = (word, sectors, requests) => {
        if (requests) facts.push([word, `${plural(sectors, "sector")}, ${figure(sectors / requests)} per request`]);
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
        if (files.length > 1) body.append(make("tr", { class: "file" }, make("td", { colspan: 5 }, file)));
        const text = data.files[file];
        const paint = painter();
        const counted = view.lines.filter((line) => line.file === file);
        const numbers = counted.map((line) => line.line);
        if (!text) {
          for (const line of counted) body.append(this.sourceRow(line.line, ["(the file is not here)"], 0, line));
          continue;
        }
        let skipping = false;
        text.forEach((words, i) => {
          const painted = paint(words);
          if (!isShown(numbers, i + 1, text.length)) {
            if (!skipping) body.append(make("tr", { class: "gap" }, make("td", { colspan: 5 }, "⋯")));
            skipping = true;
            return;
          }
          skipping = false;
          body.append(this.sourceRow(i + 1, painted, /^ */.exec(words)[0].length, this.view.linesAt.get(file + ":" + (i + 1))));
        });
      }
      this.source = make("div", { class: "source", tabindex: "0", role: "region", "aria-label": "source of " + view.name },
        make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "line"),
          make("th", { title: "Sectors of global memory per request; c: addresses per read of constant memory" }, "sectors per request"),
          make("th", { title: "Bank conflicts of shared memory per request" }, "conflicts per request"),
          make("th", { title: "Lanes that take part in a request of the line, of 32" }, "lanes per request"),
          make("th", {}, files.length === 1 ? files[0] : "source"))), body));
      this.controls = make("div", { class: "controls" });
      this.strip = make("div", { class: "strip", title: "What was kept of the warp's requests, in order; the tall marks are those of the chosen line" });
      this.caption = make("p", { class: "caption", "aria-live": "polite" });
      this.how = make("p", { class: "how" });
      this.drawing = make("div", { class: "drawing", tabindex: "0", role: "region", "aria-label": "lanes of a request" });
      this.whatIf = make("div", { class: "controls what-if" });
      this.map = make("details", { class: "map", ontoggle: () => this.updateMap() },
        make("summary", {}, "Which blocks touch which part of an array"), make("div"));
      this.node.replaceChildren(head, make("div", { class: "parts" },
        make("div", {}, this.source, make("p", { class: "legend" },
          make("span", {}, make("i", { class: "s" }), " as few sectors as can be … 8 times as many"),
          make("span", {}, make("i", { class: "c" }), " no conflict … 31 per request"))),
        make("div", {}, this.controls, this.strip, this.caption, this.drawing, this.whatIf, this.how, this.map)));
    }

    sourceRow(number, painted, indent, line) {
      // A line that is too long goes on below, four further in.
      const text = make("td", { style: `--in:${Math.min(indent, 24) + 4}ch` }, ...painted);
      if (!line) {
        return make("tr", {}, make("td", { class: "number" }, String(number)), make("td"), make("td"), make("td"), text);
      }
      const f = line.figures;
      // The root: a little too much is to be seen as well.
      const heat = (value) => "--heat:" + Math.sqrt(clamp(value, 0, 1)).toFixed(3);
      const sectors = [];
      if (f.requests) sectors.push(figure(f.sectors / f.requests));
      if (f.bestConstants) sectors.push(figure(f.constants / f.bestConstants) + " c");
      const waste = Math.max(f.best ? f.sectors / f.best : 1, f.bestConstants ? f.constants / f.bestConstants : 1);
      const key = lineKey(line);
      const traced = this.view.tracedAt.get(key);
      const can = Boolean(traced);
      const button = make("button", { type: "button", "aria-pressed": "false", onclick: () => this.choose(key) }, String(number));
      const row = make("tr", { class: can ? "counted" : "", onclick: () => can && this.choose(key) },
        make("td", { class: "number" }, can ? button : String(number)),
        make("td", { class: sectors.length ? "sectors" : "", style: heat(Math.log2(waste) / 3),
          title: f.requests ? `${count(f.sectors)} sectors in ${plural(f.requests, "request")}; their bytes need ${count(f.best)}` : "" }, sectors.join(" ")),
        make("td", { class: f.shared ? "conflicts" : "", style: heat(f.shared ? Math.log2(1 + f.conflicts / f.shared) / 5 : 0),
          title: f.shared ? `${plural(f.conflicts, "conflict")} in ${plural(f.shared, "request")}` : "" },
          f.shared ? figure(f.conflicts / f.shared) : ""),
        make("td", { class: traced && traced.lanes < 32 * traced.requests ? "lanes few" : "lanes" },
          traced && traced.requests ? figure(traced.lanes / traced.requests) : ""),
        text);
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
    // What one steps through: requests of the line, or, where memory is drawn, all that were kept of the warp.
    steps() {
      return this.memory ? this.view.trace.warps[this.warp].requests : this.requestsAt();
    }
    moveStep(to) {
      const steps = this.steps();
      const next = clamp(to, 0, steps.length - 1);
      if (this.memory) {
        this.choose(lineKey(steps[next]), this.warp, steps[next]);
        return;
      }
      this.at = next;
      this.update();
    }
    // Memory is drawn of the warp of which most was kept, from its first step.
    draws(memory) {
      this.memory = memory;
      if (!memory || !this.key) {
        this.update();
        return;
      }
      const number = (warp) => this.view.trace.warps[warp].requests.length;
      this.warp = this.view.trace.warps.reduce((best, _, i) => (number(i) > number(best) ? i : best), 0);
      this.moveStep(0);
    }
    // Where one is among the steps.
    place() {
      return this.memory ? Math.max(this.steps().indexOf(this.requestsAt()[this.at]), 0) : this.at;
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
          this.moveStep((this.place() + 1) % Math.max(this.steps().length, 1));
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
      this.updateControls();
      this.updateStrip(request);
      this.updateCaption(request, requests);
      this.updateWhatIf(this.memory ? null : request);
      this.drawing.replaceChildren(!request ? "" : this.memory ? drawMemory(this, request) : drawRequest(this, request));
      this.updateMap();
      remember();
    }

    // The lanes of a request, where they would be with the chosen padding.
    lanesOf(request, pad = this.pad) {
      const lanes = lanesOf(request, this.view.trace.arrays);
      if (pad && isShared(request.kind)) {
        for (const lane of lanes) lane.offset = padded(lane.offset, this.row, pad);
      }
      return lanes;
    }

    // What the line's kept requests would take if rows of the shared array had more words.
    updateWhatIf(request) {
      const can = request && isShared(request.kind) && request.taken && new Set(request.lanes.map((run) => run[2])).size === 1;
      if (!can) {
        this.pad = 0;
        this.whatIf.replaceChildren();
        return;
      }
      const array = this.view.trace.arrays[request.lanes[0][2]];
      if (this.rowOf !== array) {
        this.rowOf = array;
        this.row = rowWords(this.view, array);
        this.hasRows = this.row > 1;
        this.pad = 0;
      }
      const typed = this.whatIf.querySelector("input");
      const input = typed && document.activeElement === typed ? typed : make("input", { type: "number", min: "0", max: "4096", value: String(this.row),
        "aria-label": `words of a row of ${array.name}`,
        oninput: (event) => { this.row = clamp(Math.floor(Number(event.target.value)) || 0, 0, 4096); this.update(); } });
      const of = this.view.trace.warps[this.warp].requests.filter((one) => lineKey(one) === this.key && one.kind === request.kind &&
        one.lanes.every((run) => this.view.trace.arrays[run[2]] === array));
      // What an asynchronous copy costs is not of its own lanes alone.
      if (of.some((one) => wavefrontsOf(one, this.lanesOf(one, 0)) !== one.taken)) {
        this.pad = 0;
        this.whatIf.replaceChildren();
        return;
      }
      if (!this.hasRows && of.every((one) => one.taken === one.fewest)) {
        this.whatIf.replaceChildren();
        return;
      }
      const total = (pad) => of.reduce((sum, one) => sum + wavefrontsOf(one, this.lanesOf(one, pad)), 0);
      const pads = this.row > 1 ? [0, 1, 2, 4, 8].map((pad) => make("button", { type: "button", "data-pad": String(pad),
        "aria-pressed": String(pad === this.pad), onclick: () => { this.pad = pad; this.update(); } },
        `+${pad}: ${figure(total(pad) / of.length)}`)) : [];
      const parts = [make("span", { class: "name" }, `What if rows of ${array.name} were longer? Words of a row:`), input, ...pads];
      if (pads.length) parts.push(make("span", { class: "name" }, "wavefronts per request"));
      if (typed && input === typed) {
        while (typed.nextSibling) typed.nextSibling.remove();
        typed.after(...parts.slice(2));
      } else {
        this.whatIf.replaceChildren(...parts);
      }
    }

    // Of each array of global memory a row for each block, or a few that follow each other; the chosen warp's is marked.
    updateMap() {
      const arrays = this.view.trace.arrays.filter((array) => (array.loads || []).length || (array.stores || []).length);
      this.map.hidden = arrays.length === 0;
      if (!this.map.open || this.map.hidden) return;
      const [width, height, depth] = this.view.grid;
      const blocks = width * height * depth;
      const its = this.key ? this.view.trace.warps[this.warp].block : [0, 0, 0];
      const own = its[0] + width * (its[1] + height * its[2]);
      const bit = (row, part) => Math.floor((row || 0) / 2 ** part) % 2 === 1;
      const drawn = arrays.map((array) => {
        const parts = Math.min(48, Math.ceil(array.bytes / 4));
        const rows = Math.max((array.loads || []).length, (array.stores || []).length);
        const high = rows > 16 ? 7 : 12, left = 86, step = (760 - left) / parts;
        const svg = draw("svg", { viewBox: `0 0 762 ${rows * high + 4}`, role: "img", "aria-label": `blocks that touch ${array.name}` });
        let most = 0;
        for (let part = 0; part < parts; ++part) {
          most = Math.max(most, array.loads.filter((row) => bit(row, part)).length);
        }
        for (let row = 0; row < rows; ++row) {
          // As the simulator has them: block b is in row floor(b * rows / blocks).
          const first = Math.ceil(row * blocks / rows), last = Math.ceil((row + 1) * blocks / rows) - 1;
          const name = first === last ? `block ${first}` : `${first} … ${last}`;
          const isOwn = own >= first && own <= last;
          if (rows <= 16 || row % 4 === 0) svg.append(draw("text", { x: left - 6, y: row * high + high - 1, "font-size": 9.5, "text-anchor": "end", class: "small" }, name));
          for (let part = 0; part < parts; ++part) {
            const loads = bit(array.loads[row], part), stores = bit(array.stores[row], part);
            if (!loads && !stores) continue;
            const kind = loads && stores ? "both" : loads ? "loads" : "stores";
            svg.append(draw("rect", { x: left + part * step + 0.5, y: row * high + 1, width: Math.max(step - 1, 1), height: high - 2, class: kind },
              draw("title", {}, `${name}: ${kind === "both" ? "loads and stores" : kind}`)));
          }
          if (isOwn) svg.append(draw("rect", { x: left - 1, y: row * high, width: 762 - left, height: high, class: "now" }));
        }
        const said = `${array.name}: ${count(array.bytes)} bytes` + (most > 1 ? `, each part loaded by up to ${most} of ${rows} ${rows < blocks ? "rows of blocks" : "blocks"}` : "");
        return make("figure", {}, make("figcaption", {}, said), svg);
      });
      this.map.lastChild.replaceChildren(...drawn, make("p", { class: "how" }, "From left to right the array in equal parts, from top to bottom the grid's blocks. " +
        "Blue: loads; orange: stores; blue with an orange edge: both. Framed: the chosen warp's block."));
    }

    updateControls() {
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
      parts.push(make("span", { class: "introduced" }, make("span", { class: "name" }, "drawn:"),
        button("request", "request", () => this.draws(false), !this.memory), button("memory", "memory so far", () => this.draws(true), this.memory)));
      const at = this.place(), number = this.steps().length;
      parts.push(make("span", { style: "white-space:nowrap" },
        button("back", "◀", () => this.moveStep(this.place() - 1), null, at <= 0, "the step before"), " ",
        make("span", {}, `${at + 1} of ${number}`), " ",
        button("next", "▶", () => this.moveStep(this.place() + 1), null, at + 1 >= number, "the next step"), " ",
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
      const lanes = this.lanesOf(request);
      const what = `Step ${request.step + 1} of ${warp.steps}, line ${request.line}: ${KINDS[request.kind]}, ` +
        `${plural(lanes.length, "lane")} of ${plural(request.bytes, "byte")}`;
      const names = [...new Set(lanes.map((lane) => lane.array.name))].join(", ");
      const taken = this.pad ? wavefrontsOf(request, lanes) : request.taken;
      let cost = "";
      if (request.taken) {
        cost = taken > request.fewest ? `${units(taken, request.kind)}, where ${request.fewest} would do`
          : `${units(taken, request.kind)}, the fewest`;
        if (this.pad) cost = `with ${plural(this.row + this.pad, "word")} per row ${cost}`;
      }
      const parts = [what + `, ${names}`];
      if (cost) parts.push(": ", make("span", { class: taken > request.fewest ? "bad" : "" }, cost));
      parts.push(".");
      if (request.why && !this.pad) parts.push(" " + request.why);
      const picked = lanes.find((lane) => lane.lane === this.lane);
      if (picked) {
        const at = picked.array.phase + picked.offset;
        parts.push(` Lane ${picked.lane}: byte ${count(picked.offset)} of ${picked.array.name}, ` +
          (isShared(request.kind) ? `bank ${Math.floor(at / 4) % 32}.` : `sector ${count(Math.floor(at / 32))}.`));
      }
      this.said = `${what}, ${names}: ${cost}. ${request.why || ""}`;
      this.how.textContent = this.memory ? HOW.memory : HOW[unitOf(request.kind)];
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
    if (event.ctrlKey || event.altKey || event.metaKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
    const pane = active;
    if (!pane.key) return;
    const actions = {
      ArrowDown: () => pane.moveLine(1), ArrowUp: () => pane.moveLine(-1),
      ArrowRight: () => pane.moveStep(pane.place() + 1), ArrowLeft: () => pane.moveStep(pane.place() - 1),
      Home: () => pane.moveStep(0), End: () => pane.moveStep(1e9),
      m: () => pane.draws(!pane.memory), w: () => pane.nextWarp(), k: () => pane.nextKind(), p: () => pane.play(),
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
  // Of a page in a page: views that differ in a few settings, each with its values; the view nearest to what was asked.
  const choices = make("div", { class: "choice" });
  const drawSwitches = () => {
    const now = data.views[panes[0].index].settings;
    choices.replaceChildren(...data.switches.map((name, i) => {
      const values = [...new Set(data.views.map((view) => view.settings[i]))];
      const nearest = (value) => {
        const alike = (view) => view.settings.filter((one, k) => one === now[k]).length;
        const those = data.views.filter((view) => view.settings[i] === value);
        return data.views.indexOf(those.reduce((best, view) => (alike(view) > alike(best) ? view : best)));
      };
      return make("span", { class: "introduced", role: "group", "aria-label": name }, make("span", { class: "name" }, name), ...values.map((value) =>
        make("button", { type: "button", "data-value": value, "aria-pressed": String(value === now[i]),
          onclick: () => {
            panes[0].show(nearest(value));
            drawSwitches();
            choices.children[i].querySelector(`[data-value="${value}"]`).focus();
          } }, value)));
    }));
  };
  if (data.switches) {
    document.body.classList.add("embedded");
    main.append(choices);
    // The page around it gives it the height that it needs.
    new ResizeObserver(() => parent.postMessage({ halo: "height", height: document.body.scrollHeight }, "*")).observe(document.body);
  } else if (data.views.length > 1) {
    main.append(make("div", { class: "choice" }, make("label", {}, "shown", left), make("label", {}, "beside it", right)));
  }
  main.append(besideBox, box);
  panes[0].show(start);
  if (beside >= 0) panes[1].show(beside);
  layout();
  if (data.switches) drawSwitches();
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
  window.halo = { data, panes, active: () => active, wavefrontsOf, lanesOf };
})();
