// The page of figures and requests as they come. It asks only while somebody can see it, and keeps an hour at the most.
"use strict";
(() => {
  const KEPT = 720; // Samples: an hour.
  const LINES = 6; // Lines of a chart; what is below them is drawn as one.
  const OTHERS = "others";
  const LISTED = 300; // Requests that are kept.
  const ROWS = 100; // Requests that are shown.
  const EVERY = 2000; // Milliseconds between two questions.
  const byId = (id) => document.getElementById(id);

  // ── Numbers with their units.

  const digits = (value) => value.toFixed(value >= 99.5 || Number.isInteger(value) ? 0 : value >= 9.95 ? 1 : 2);
  const scaled = (value, base, names) => {
    let step = 0;
    while (Math.abs(value) >= base && step + 1 < names.length) {
      value /= base;
      step += 1;
    }
    return [digits(value), names[step]];
  };
  const plain = (value) => {
    const [shown, name] = scaled(value, 1000, ["", "k", "M", "G", "T"]);
    return name ? `${shown} ${name}` : shown;
  };
  const UNITS = {
    rate: (value) => (value > 0 && value < 0.01 ? "< 0.01/s" : `${plain(value)}/s`),
    count: plain,
    bytes: (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]).join(" "),
    money: (value) => `$${value && value < 0.005 ? value.toPrecision(1) : plain(value)}/h`,
    cores: (value) => `${digits(value)} %`,
    seconds: (value) => {
      if (value === 0) return "0 s";
      if (value < 0.9995) return value < 0.001 ? `${digits(value * 1e6)} µs` : `${digits(value * 1000)} ms`;
      return value < 120 ? `${digits(value)} s` : `${digits(value / 60)} min`;
    },
  };
  // What samples have to be multiplied with: money comes by the second, CPU in cores.
  const FACTOR = { money: 3600, cores: 100 };
  const shownOr = (value, unit) => (Number.isFinite(value) ? UNITS[unit](value) : "–");
  const clock = (time, seconds = true) =>
    new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) });
  const dollars = (value) => (value > 0 && value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`);

  // ── What is known.

  const known = { begun: 0, next: 0, every: 5000, times: [], tracks: new Map(), now: {} };
  let range = 180;

  function forget(begun) {
    Object.assign(known, { begun, next: 0, times: [], now: {} });
    known.tracks.clear();
  }

  // Takes in samples that are new; says whether there were any.
  function learn(figures) {
    if (figures.begun !== known.begun) forget(figures.begun);
    if (figures.from !== known.next) forget(figures.begun);
    known.every = figures.every;
    known.next = figures.next;
    known.now = figures.now ?? {};
    const more = figures.times.length;
    if (more === 0) return false;
    const before = known.times.length;
    known.times.push(...figures.times);
    for (const [group, name, values] of figures.tracks) {
      if (!known.tracks.has(group)) known.tracks.set(group, new Map());
      const tracks = known.tracks.get(group);
      if (!tracks.has(name)) tracks.set(name, new Array(before).fill(NaN));
      const track = tracks.get(name);
      for (const value of values) track.push(value ?? NaN);
    }
    const over = Math.max(0, known.times.length - KEPT);
    known.times.splice(0, over);
    for (const [group, tracks] of known.tracks) {
      for (const [name, track] of tracks) {
        // One that is not mentioned any more has nothing to say.
        while (track.length < before + more) track.push(NaN);
        track.splice(0, over);
        if (!track.some((value) => value > 0 || (value === 0 && name === ""))) tracks.delete(name);
      }
      if (tracks.size === 0) known.tracks.delete(group);
    }
    return true;
  }

  // The samples of a group that are in range, by name: [name, values].
  function inRange(group) {
    const from = Math.max(0, known.times.length - range);
    return [...(known.tracks.get(group) ?? [])].map(([name, values]) => [name, values.slice(from)]);
  }
  const add = (values) => values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0);
  const latest = (group, wanted) => {
    let sum = NaN;
    for (const [name, values] of known.tracks.get(group) ?? []) {
      const value = values[values.length - 1];
      if ((wanted === undefined || name === wanted) && Number.isFinite(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value;
    }
    return sum;
  };

  // ── Charts.

  const SVG = "http://www.w3.org/2000/svg";
  function draw(name, attributes = {}, parent = undefined) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent?.append(element);
    return element;
  }
  // Only what has changed is written: most of it has not.
  function put(element, key, value) {
    const text = String(value);
    if (element.getAttribute(key) !== text) element.setAttribute(key, text);
  }
  function say(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  const HEIGHT = 150;
  const TOP = 8;
  const BOTTOM = 20;
  const LABELS = { in_flight: "requests", held: "bodies held", resident: "resident", waiting: "waiting", cpu: "CPU" };

  // The end of an axis, a little above the largest value: 1, 2 or 5 times a power.
  function ceiling(largest, unit) {
    if (!(largest > 0)) return unit === "bytes" ? 1024 : unit === "seconds" ? 0.001 : 1;
    if (unit === "bytes") return 2 ** Math.ceil(Math.log2(largest * 1.02));
    const power = 10 ** Math.floor(Math.log10(largest));
    const end = [1, 2, 4, 5, 10].find((step) => step * power >= largest * 1.02) ?? 10;
    return unit === "count" ? Math.max(2, end * power) : end * power;
  }

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.rare = figure.hidden;
      this.groups = figure.dataset.groups.split(" ");
      this.unit = figure.dataset.unit;
      this.title = figure.querySelector("h3").textContent;
      this.slots = new Array(LINES).fill(null); // Which name each kind of line is of.
      this.lines = [];
      this.at = null; // The sample that is looked at.
      this.seen = false;
      this.build();
    }

    build() {
      this.svg = draw("svg", { role: "img", tabindex: "0", height: HEIGHT });
      this.grid = [0, 1, 2].map(() => [draw("line", { class: "grid-line" }, this.svg), draw("text", { class: "axis", "text-anchor": "end" }, this.svg)]);
      this.marks = ["start", "middle", "end"].map((anchor) => draw("text", { class: "axis", "text-anchor": anchor, y: HEIGHT - 4 }, this.svg));
      this.area = draw("path", { class: "area" }, this.svg);
      this.paths = Array.from({ length: LINES + 1 }, (_, n) => draw("path", { class: `line line-${n}` }, this.svg));
      this.cross = draw("line", { class: "cross", visibility: "hidden" }, this.svg);
      this.empty = make("p", { class: "quiet small" }, "Nothing within this time.");
      this.legend = make("ul", { class: "legend" });
      this.keys = this.paths.map((_, n) => {
        const sample = draw("svg", { width: 22, height: 10, "aria-hidden": "true" });
        draw("path", { class: `line line-${n}`, d: "M1 5H21" }, sample);
        const [name, value] = [make("span", { class: "name" }), make("b")];
        const item = make("li", {}, sample, name, value);
        item.hidden = true;
        this.legend.append(item);
        return { item, name, value };
      });
      this.rows = make("tbody");
      const head = make("tr", {}, ...["", "now", "mean", "most"].map((text, n) => make("th", n ? { class: "number" } : {}, text)));
      this.numbers = make("details", {}, make("summary", { class: "small" }, "Numbers"), make("table", { class: "small" }, make("caption", { class: "unseen" }, this.title), make("thead", {}, head), this.rows));
      this.numbers.addEventListener("toggle", () => this.list());
      this.figure.append(this.svg, this.empty, this.legend, this.numbers);
      this.svg.addEventListener("pointermove", (event) => this.point(event.offsetX));
      this.svg.addEventListener("pointerleave", () => this.look(null));
      this.svg.addEventListener("blur", () => this.look(null));
      this.svg.addEventListener("keydown", (event) => this.key(event));
    }

    // The lines: the largest of the range, and the others as one.
    choose() {
      const all = [];
      for (const group of this.groups) {
        for (const [name, values] of inRange(group)) {
          const label = name === "" ? LABELS[group] ?? group : group === "budget" ? `budget ${name}` : name;
          all.push({ name: label, values, sum: add(values) });
        }
      }
      const factor = FACTOR[this.unit] ?? 1;
      if (factor !== 1) for (const line of all) line.values = line.values.map((value) => value * factor);
      // Those that have something to show come first, in an order that does not change with every sample.
      const percentiles = this.groups.length === 1 && ["latency", "first_byte", "held_back"].includes(this.groups[0]);
      all.sort((a, b) => (percentiles ? 0 : b.sum - a.sum) || a.name.localeCompare(b.name));
      const named = all.filter((line) => line.name !== OTHERS).slice(0, LINES);
      const rest = all.filter((line) => !named.includes(line));
      const names = named.map((line) => line.name);
      this.slots = this.slots.map((name) => (names.includes(name) ? name : null));
      for (const name of names) if (!this.slots.includes(name)) this.slots[this.slots.indexOf(null)] = name;
      this.lines = this.slots.map((name) => named.find((line) => line.name === name) ?? null);
      this.lines.push(rest.length ? { name: OTHERS, values: this.joined(rest) } : null);
    }

    joined(rest) {
      const worst = this.unit === "seconds";
      return rest[0].values.map((_, n) => {
        const values = rest.map((line) => line.values[n]).filter(Number.isFinite);
        if (values.length === 0) return NaN;
        return worst ? Math.max(...values) : add(values);
      });
    }

    update() {
      this.choose();
      const lines = this.lines.filter((line) => line?.values.some((value) => value > 0));
      const has = this.lines.some((line) => line !== null);
      if (this.rare) this.figure.hidden = lines.length === 0;
      this.svg.toggleAttribute("hidden", !has);
      this.empty.hidden = has;
      this.numbers.hidden = !has;
      this.label();
      if (this.numbers.open) this.list();
      if (this.seen && has) this.paint();
    }

    // Where samples are: by their times, so that a gap is one.
    scale() {
      const times = known.times.slice(-range);
      const width = this.svg.clientWidth || 300;
      const end = times[times.length - 1];
      const begin = end - (range - 1) * known.every;
      return { times, begin, end, width, x: (time) => this.left + ((time - begin) / (end - begin)) * (width - this.left - 4) };
    }

    paint() {
      const largest = this.lines.reduce((most, line) => (line ? line.values.reduce((m, v) => (v > m ? v : m), most) : most), 0);
      const top = ceiling(largest, this.unit);
      const texts = [0, 0.5, 1].map((part) => UNITS[this.unit](top * part));
      this.left = 10 + Math.max(...texts.map((text) => text.length)) * 6.6;
      const { times, begin, end, width, x } = this.scale();
      const y = (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
      put(this.svg, "viewBox", `0 0 ${width} ${HEIGHT}`);
      this.grid.forEach(([line, text], n) => {
        const height = y((top * n) / 2);
        for (const [key, value] of Object.entries({ x1: this.left, x2: width, y1: height, y2: height })) put(line, key, value);
        put(text, "x", this.left - 6);
        put(text, "y", height + 4);
        say(text, texts[n]);
      });
      this.marks.forEach((mark, n) => {
        put(mark, "x", [this.left, (this.left + width) / 2, width - 2][n]);
        say(mark, clock([begin, (begin + end) / 2, end][n], range <= 60));
      });
      this.paths.forEach((path, n) => put(path, "d", this.lines[n] ? this.path(this.lines[n].values, times, x, y) : ""));
      const only = this.lines.filter((line) => line !== null);
      put(this.area, "d", only.length === 1 ? this.filled(only[0].values, times, x, y) : "");
      put(this.area, "class", `area area-${this.lines.indexOf(only[0])}`);
      this.show();
    }

    path(values, times, x, y) {
      let d = "";
      let last = null;
      values.forEach((value, n) => {
        if (!Number.isFinite(value)) {
          last = null;
          return;
        }
        const gap = last === null || times[n] - last > 3 * known.every;
        const [px, py] = [x(times[n]).toFixed(1), y(value).toFixed(1)];
        // A lone sample is a dot.
        d += gap ? `M${px} ${py}l0 0` : `L${px} ${py}`;
        last = times[n];
      });
      return d;
    }

    filled(values, times, x, y) {
      const first = values.findIndex(Number.isFinite);
      if (first < 0 || values.slice(first).some((value) => !Number.isFinite(value))) return "";
      const line = this.path(values, times, x, y).replace("l0 0", "");
      return `${line}V${y(0)}H${x(times[first]).toFixed(1)}Z`;
    }

    // The values of the sample that is looked at, else of the last one.
    show() {
      const { times, x } = this.scale();
      const at = this.at === null ? times.length - 1 : Math.min(this.at, times.length - 1);
      this.keys.forEach(({ item, name, value }, n) => {
        const line = this.lines[n];
        item.hidden = !line;
        if (!line) return;
        say(name, line.name);
        say(value, shownOr(line.values[at], this.unit));
      });
      put(this.cross, "visibility", this.at === null ? "hidden" : "visible");
      if (this.at === null) return;
      const place = x(times[at]);
      for (const [key, number] of Object.entries({ x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM })) put(this.cross, key, number.toFixed(1));
      say(this.marks[1], clock(times[at]));
      put(this.marks[1], "x", Math.min(Math.max(place, this.left + 90), this.svg.clientWidth - 90));
    }

    look(at) {
      if (this.at === at || !this.lines.some(Boolean)) return;
      this.at = at;
      this.paint();
    }

    point(offset) {
      const { times, x } = this.scale();
      let nearest = 0;
      times.forEach((time, n) => {
        if (Math.abs(x(time) - offset) < Math.abs(x(times[nearest]) - offset)) nearest = n;
      });
      this.look(nearest);
    }

    key(event) {
      const end = Math.min(known.times.length, range) - 1;
      const at = this.at ?? end;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 12, PageDown: at + 12, Home: 0, End: end }[event.key];
      if (event.key === "Escape") this.look(null);
      if (to === undefined) return;
      event.preventDefault();
      this.look(Math.max(0, Math.min(end, to)));
      const times = known.times.slice(-range);
      say(byId("said"), `${clock(times[this.at])}: ${this.spoken(this.at)}`);
    }

    spoken(at) {
      const said = this.lines.filter(Boolean).map((line) => `${line.name} ${shownOr(line.values[at], this.unit)}`);
      return said.join(", ") || "nothing within this time";
    }

    label() {
      put(this.svg, "aria-label", `${this.title}. Now: ${this.spoken(Math.min(known.times.length, range) - 1)}. Arrow keys go through the samples.`);
    }

    list() {
      if (!this.numbers.open) return;
      const lines = this.lines.filter(Boolean);
      while (this.rows.children.length > lines.length) this.rows.lastChild.remove();
      lines.forEach((line, n) => {
        const row = this.rows.children[n] ?? this.rows.appendChild(make("tr", {}, make("th", { scope: "row" }), ...[0, 1, 2].map(() => make("td", { class: "number" }))));
        const values = line.values.filter(Number.isFinite);
        const mean = values.length ? add(values) / values.length : NaN;
        const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
        [line.name, shownOr(line.values[line.values.length - 1], this.unit), shownOr(mean, this.unit), shownOr(most, this.unit)].forEach((text, cell) => say(row.children[cell], text));
      });
    }
  }

  // ── What stands above and beside the charts.

  function tiles() {
    const hour = (group) => [...(known.tracks.get(group) ?? [])].reduce((sum, [, values]) => sum + add(values), 0) * (known.every / 1000);
    const of = (id, text) => say(byId(`tile-${id}`), text);
    const [all, failed] = ["status"].flatMap((group) => {
      const lines = inRange(group);
      return [lines.reduce((sum, [, values]) => sum + add(values), 0), add(lines.find(([name]) => name === "5xx")?.[1] ?? [])];
    });
    // What has no track was nothing, once two samples are there.
    const orNothing = (value) => (Number.isNaN(value) && known.times.length > 1 ? 0 : value);
    of("requests", shownOr(orNothing(latest("route")), "rate"));
    of("errors", all > 0 ? `${digits((100 * failed) / all)} %` : "–");
    of("latency", shownOr(latest("latency", "p95"), "seconds"));
    of("first", shownOr(latest("first_byte", "p95"), "seconds"));
    of("findings", shownOr(orNothing(latest("rule")), "rate"));
    of("tokens", shownOr(latest("tokens"), "rate"));
    of("cost", known.tracks.has("cost") ? dollars(hour("cost")) : "–");
    of("way", shownOr(latest("in_flight"), "count"));
  }

  function facts() {
    const { version, started, held_limit: limit, tokens, shared, upstreams = [] } = known.now;
    const of = (id, text) => say(byId(`fact-${id}`), text);
    of("version", version ?? "–");
    of("uptime", started ? new Date(started * 1000).toLocaleString() : "–");
    of("held", Number.isFinite(limit) ? UNITS.bytes(limit) : "–");
    of("callers", Number.isFinite(tokens) ? `${tokens} within five minutes` : "–");
    of("shared", shared === undefined ? "this node counts by itself" : shared ? "✓ the engine answers" : "✕ the engine is gone: this node counts alone");
    const table = byId("upstream-states");
    table.hidden = upstreams.length === 0;
    byId("no-upstreams").hidden = upstreams.length > 0;
    const body = table.tBodies[0];
    while (body.children.length > upstreams.length) body.lastChild.remove();
    upstreams.forEach((one, n) => {
      const cells = [["th", { scope: "row" }], ["td", {}], ...new Array(4).fill(["td", { class: "number" }])];
      const row = body.children[n] ?? body.appendChild(make("tr", {}, ...cells.map(([name, attributes]) => make(name, attributes))));
      const circuit = { open: ["look", "✕ open"], half_open: ["look", "◐ half open"], closed: ["good", "✓ closed"] }[one.circuit] ?? ["", "–"];
      say(row.children[0], one.name);
      if (row.children[1].textContent !== circuit[1]) row.children[1].replaceChildren(make("span", { class: `tag ${circuit[0]}` }, circuit[1]));
      [one.healthy, one.unhealthy, one.ejected, one.in_flight].forEach((value, cell) => say(row.children[cell + 2], `${value ?? 0}`));
    });
  }

  // ── Requests.

  const DECISIONS = {
    passed: ["", "passed"],
    reported: ["", "only counted"],
    redacted: ["good", "✓ redacted"],
    unseen: ["look", "passed unseen"],
    blocked: ["look", "✕ blocked"],
    refused: ["look", "✕ refused"],
    failed: ["look", "✕ failed"],
    left: ["", "caller left"],
  };
  const listed = { begun: 0, last: 0, requests: [] };
  let opened = null; // The request whose details are shown.
  let behind = 0; // Requests that are not shown, since one is open.

  function wanted(request) {
    const [route, status] = [byId("by-route").value, byId("by-status").value];
    const found = Object.keys(request.findings).length > 0;
    return (!route || request.route === route) && (!status || String(Math.floor(request.status / 100)) === status) && (!byId("by-findings").checked || found);
  }

  const total = (findings) => Object.values(findings).reduce((sum, count) => sum + count, 0);
  const micros = (value) => (value === null ? "–" : UNITS.seconds(value / 1e6));

  function row(request) {
    const [tone, word] = DECISIONS[request.decision] ?? ["", request.decision];
    const opener = make("button", { type: "button", class: "plain", "aria-expanded": "false" }, clock(request.time));
    const tokens = request.usage ? `${plain(request.usage.input)} → ${plain(request.usage.output)}` : "–";
    const made = make(
      "tr", {},
      make("td", {}, opener), make("td", {}, request.route), make("td", {}, request.protocol ?? "–"), make("td", { class: "name" }, request.usage?.model ?? "–"),
      make("td", { class: "number" }, request.status ? String(request.status) : "–"), make("td", {}, make("span", { class: `tag ${tone}` }, word)),
      make("td", { class: "number" }, String(total(request.findings))), make("td", { class: "number" }, tokens),
      make("td", { class: "number" }, micros(request.first_byte)), make("td", { class: "number" }, micros(request.took)),
    );
    opener.addEventListener("click", () => open(request, made, opener));
    return made;
  }

  function details(request) {
    const list = make("dl", { class: "facts" });
    const fact = (name, text) => text && list.append(make("dt", {}, name), make("dd", {}, text));
    const scan = (word) => word.replaceAll("_", " ");
    fact("Id", request.id);
    fact("Asked", [request.method, request.http, request.protocol].filter(Boolean).join(", "));
    fact("Fault", request.fault === "-" ? null : request.fault.replaceAll("_", " "));
    fact("Upstream", request.upstream ? `${request.upstream}, ${request.attempts} ${request.attempts === 1 ? "attempt" : "attempts"}` : null);
    fact("Caller", [request.token, request.client].filter(Boolean).join(", "));
    fact("Bodies", `${UNITS.bytes(request.bytes_in)} in, ${UNITS.bytes(request.bytes_out)} out`);
    fact("Looked at", `request: ${scan(request.request_scan)}; answer: ${scan(request.answer_scan)}`);
    fact("Not read", request.unscanned ? `${request.unscanned} strings that hold bytes` : null);
    fact("Values", `${request.redacted} replaced, ${request.restored} restored`);
    if (request.usage) {
      const { input, output, estimated, cost } = request.usage;
      fact("Tokens", `${input} in, ${output} out${estimated ? ", estimated: nobody reported them" : ""}`);
      fact("Cost", cost ? `$${cost}` : "no price is known for this model");
    } else if (request.protocol) {
      fact("Tokens", "not counted: see the note at Models");
    }
    const found = Object.entries(request.findings).sort((a, b) => b[1] - a[1]);
    const rules = make("div", { class: "counts" });
    if (found.length === 0) rules.append(make("p", { class: "quiet" }, "Nothing was found."));
    else {
      const rows = found.map(([rule, count]) => make("tr", {}, make("th", { scope: "row" }, rule), make("td", { class: "number" }, String(count))));
      rules.append(make("table", {}, make("caption", { class: "unseen" }, "Findings by rule"), make("tbody", {}, ...rows)));
      rules.append(make("p", { class: "hint" }, "Each place counts where a value stands, in the request and in its answer: one address asked with, and once more in what the model says by itself, is two findings."));
    }
    return make("tr", { class: "details" }, make("td", { colspan: "10" }, make("div", { class: "pair" }, list, rules)));
  }

  function close() {
    if (!opened) return;
    opened.opener.setAttribute("aria-expanded", "false");
    opened.details.remove();
    opened = null;
  }

  function open(request, made, opener) {
    const same = opened?.request === request;
    close();
    if (!same) {
      opened = { request, opener, details: details(request) };
      opener.setAttribute("aria-expanded", "true");
      made.after(opened.details);
    } else {
      list();
    }
  }

  // Shows the requests that are wanted, the newest first. While one is open, the others stay where they are.
  function list() {
    const body = byId("recent").tBodies[0];
    close();
    behind = 0;
    const shown = listed.requests.filter(wanted).slice(-ROWS).reverse();
    body.replaceChildren(...shown.map((request) => request.row ??= row(request)));
    byId("recent").hidden = shown.length === 0;
    byId("no-requests").hidden = shown.length > 0;
    say(byId("no-requests"), listed.requests.length ? "No request of the last 300 is like that." : "No request yet.");
    say(byId("newer"), "");
  }

  function take(answer) {
    if (answer.begun !== listed.begun) {
      const other = listed.begun !== 0;
      close();
      Object.assign(listed, { begun: answer.begun, last: 0, requests: [] });
      list();
      // The numbers of another process say nothing here: the next question is for all.
      if (other) return;
    }
    const news = answer.requests.filter((request) => request.n > listed.last);
    if (news.length === 0) return;
    listed.last = news[news.length - 1].n;
    listed.requests = [...listed.requests, ...news].slice(-LISTED);
    routes();
    const mine = news.filter(wanted);
    if (opened) {
      behind += mine.length;
      say(byId("newer"), behind ? `${behind} newer: close the open one to see them` : "");
      return;
    }
    const body = byId("recent").tBodies[0];
    // Rows that stay are not touched, so that who is on one stays there.
    body.prepend(...mine.slice(-ROWS).reverse().map((request) => request.row = row(request)));
    while (body.children.length > ROWS) body.lastChild.remove();
    if (mine.length) {
      byId("recent").hidden = false;
      byId("no-requests").hidden = true;
    }
  }

  function routes() {
    const select = byId("by-route");
    const names = new Set([...select.options].map((option) => option.value));
    for (const { route } of listed.requests) {
      if (!names.has(route) && names.size < 200) {
        names.add(route);
        select.append(make("option", { value: route }, route));
      }
    }
  }

  // ── Asking.

  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure));
  let paused = false;
  let timer = null;
  let failures = 0;
  let asking = false;

  function refresh() {
    for (const chart of charts) chart.update();
    tiles();
    facts();
  }

  async function turn() {
    timer = null;
    asking = true;
    try {
      const [figures, requests] = await Promise.all([ask(`/live/figures.json?since=${known.next}`), ask(`/live/requests.json?after=${listed.last}`)]);
      failures = 0;
      if (paused) return;
      // A gateway that has begun anew counts from the beginning.
      const again = known.begun !== 0 && figures.begun !== known.begun && figures.from !== 0;
      if (again) {
        forget(figures.begun);
      } else if (learn(figures)) {
        refresh();
      }
      take(requests);
      say(byId("state"), `as of ${clock(Date.now())}`);
    } catch {
      failures += 1;
      say(byId("state"), "✕ The gateway does not answer. Trying again.");
    } finally {
      asking = false;
      plan();
    }
  }

  function plan() {
    clearTimeout(timer);
    timer = null;
    if (!asking && !paused && document.visibilityState === "visible") timer = setTimeout(turn, Math.min(30000, EVERY * 2 ** Math.min(failures, 5)));
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") plan();
    else if (!paused && !asking && timer === null) turn();
  });
  byId("pause").addEventListener("click", ({ currentTarget: button }) => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    say(button, paused ? "Go on" : "Pause");
    if (paused) say(byId("state"), `paused at ${clock(Date.now())}`);
    plan();
  });
  byId("range").addEventListener("change", ({ currentTarget }) => {
    range = Number(currentTarget.value);
    refresh();
  });
  for (const id of ["by-route", "by-status", "by-findings"]) byId(id).addEventListener("change", list);
  // What cannot be seen is not painted.
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.figure === entry.target);
      chart.seen = entry.isIntersecting;
      if (chart.seen) chart.update();
    }
  }, { rootMargin: "200px" });
  const sizes = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const chart = charts.find((one) => one.figure === entry.target);
      if (chart.seen) chart.update();
    }
  });
  for (const { figure } of charts) {
    watcher.observe(figure);
    sizes.observe(figure);
  }
  if (document.visibilityState === "visible") turn();
})();
