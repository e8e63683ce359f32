// Charts of figures that move: lines with axes, a legend that shows what is pointed at, and the same numbers as a table. What they
// draw is kept by whoever makes them:
//
//   samples.times     when each sample was taken, in milliseconds, the oldest first
//   samples.every     milliseconds between two samples
//   samples.range     how many of them are drawn
//   samples.of(group) the values of a group in these samples, by name: [[name, values], …]
"use strict";
const charts = (() => {
  const LINES = 6; // Lines of a chart; what is below them is drawn as one.
  const OTHERS = "others";

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
  const bytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]).join(" ");
  const percent = (value) => `${value.toFixed(1)} %`;
  const dollars = (value) => `$${value < 1000 ? value.toFixed(4) : plain(value)}`;
  const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
  const whole = (count) => Math.round(count).toLocaleString("en");
  const UNITS = {
    rate: (value) => (value > 0 && value < 0.01 ? "< 0.01/s" : `${plain(value)}/s`),
    count: plain,
    bytes,
    money: (value) => `${dollars(value)}/h`,
    cores: percent,
    seconds: (value) => {
      if (value === 0) return "0 ms";
      if (value < 0.9995) return value < 0.001 ? `${digits(value * 1e6)} µs` : `${digits(value * 1000)} ms`;
      return value < 120 ? `${digits(value)} s` : `${digits(value / 60)} min`;
    },
  };
  // What samples have to be multiplied with: money comes by the second, CPU in cores.
  const FACTOR = { money: 3600, cores: 100 };
  const shownOr = (value, unit) => (Number.isFinite(value) ? UNITS[unit](value) : "–");

  // ── Times, of the browser's zone.

  const two = (number) => String(number).padStart(2, "0");
  function clock(time) {
    const date = new Date(time);
    return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  }
  function day(time) {
    const date = new Date(time);
    return [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  }

  // What no route took has a name of its own.
  const routeName = (name) => (name === "-" ? "no route" : name);

  const add = (values) => values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0);

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
  const LABELS = { in_flight: "requests", store_errors: "errors", held: "bodies held", resident: "resident", waiting: "waiting", cpu: "CPU" };

  // What a line is called.
  function labelOf(group, name) {
    if (name === "") return LABELS[group] ?? group;
    if (group === "budget") return `budget ${name}`;
    if (group === "unsent") return `${name}, not sent`;
    if (group === "fault" || group === "refused") return name.replaceAll("_", " ");
    return routeName(name);
  }

  // The end of an axis, a little above the largest value: 1, 2 or 5 times a power.
  function ceiling(largest, unit) {
    if (!(largest > 0)) return unit === "bytes" ? 1024 : unit === "seconds" ? 0.001 : 1;
    if (unit === "bytes") return 2 ** Math.ceil(Math.log2(largest * 1.02));
    const power = 10 ** Math.floor(Math.log10(largest));
    const end = [1, 2, 4, 5, 10].find((step) => step * power >= largest * 1.02) ?? 10;
    return unit === "count" ? Math.max(2, end * power) : end * power;
  }

  class Chart {
    constructor(figure, samples) {
      this.figure = figure;
      this.samples = samples;
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
      // Both are in one place, so that nothing moves when the first sample comes.
      const plot = make("div", { class: "plot" }, this.svg, this.empty);
      put(this.svg, "visibility", "hidden");
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
      const head = make("tr", {}, ...["", "now", "mean", "most"].map((text) => (text ? make("th", { class: "number" }, text) : make("td"))));
      const table = make("table", { class: "small" }, make("caption", { class: "unseen" }, this.title), make("thead", {}, head), this.rows);
      const scroll = make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `${this.title}: numbers` }, table);
      this.numbers = make("details", {}, make("summary", { class: "small" }, "Numbers"), scroll);
      this.numbers.addEventListener("toggle", () => this.list());
      this.figure.append(plot, this.legend, this.numbers);
      this.svg.addEventListener("pointermove", (event) => this.point(event.offsetX));
      this.svg.addEventListener("pointerleave", () => this.look(null));
      this.svg.addEventListener("blur", () => this.look(null));
      this.svg.addEventListener("keydown", (event) => this.key(event));
    }

    // The lines: the largest of the range, and the others as one.
    choose() {
      const all = [];
      for (const group of this.groups) {
        for (const [name, values] of this.samples.of(group)) {
          all.push({ name: labelOf(group, name), values, sum: add(values) });
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
      put(this.svg, "visibility", has ? "visible" : "hidden");
      this.empty.hidden = has;
      // Who hears the page reads what is not in sight, too.
      this.label();
      this.tell();
      if (this.numbers.open) this.list();
      if (this.seen && has) this.paint();
    }

    // The place of the last sample among those that are drawn.
    last() {
      return Math.min(this.samples.times.length, this.samples.range) - 1;
    }

    // Where samples are: by their times, so that a gap is one.
    scale() {
      const times = this.samples.times.slice(-this.samples.range);
      const width = this.svg.clientWidth || 300;
      const end = times[times.length - 1];
      const begin = end - (this.samples.range - 1) * this.samples.every;
      return { times, begin, end, width, x: (time) => this.left + ((time - begin) / (end - begin)) * (width - this.left - 4) };
    }

    paint() {
      const largest = this.lines.reduce((most, line) => (line ? line.values.reduce((m, v) => (v > m ? v : m), most) : most), 0);
      const top = ceiling(largest, this.unit);
      const texts = [0, 0.5, 1].map((part) => (part ? UNITS[this.unit](top * part) : "0"));
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
        say(mark, clock([begin, (begin + end) / 2, end][n]));
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
        const gap = last === null || times[n] - last > 3 * this.samples.every;
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
    tell() {
      const at = Math.min(this.at ?? Infinity, this.last());
      this.keys.forEach(({ item, name, value }, n) => {
        const line = this.lines[n];
        item.hidden = !line;
        if (!line) return;
        say(name, line.name);
        say(value, shownOr(line.values[at], this.unit));
      });
    }

    // Marks the sample that is looked at.
    show() {
      this.tell();
      put(this.cross, "visibility", this.at === null ? "hidden" : "visible");
      // The time that is looked at stands alone: there is not always room for three.
      const room = this.svg.clientWidth - this.left > 220;
      this.marks.forEach((mark, n) => put(mark, "visibility", (this.at === null ? n !== 1 || room : n === 1) ? "visible" : "hidden"));
      if (this.at === null) return;
      const { times, x } = this.scale();
      const at = Math.min(this.at, this.last());
      const place = x(times[at]);
      for (const [key, number] of Object.entries({ x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM })) put(this.cross, key, number.toFixed(1));
      say(this.marks[1], clock(times[at]));
      put(this.marks[1], "x", Math.min(Math.max(place, this.left + 36), this.svg.clientWidth - 40));
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
      const end = this.last();
      const at = this.at ?? end;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 12, PageDown: at + 12, Home: 0, End: end }[event.key];
      if (event.key === "Escape") this.look(null);
      if (to === undefined) return;
      event.preventDefault();
      this.look(Math.max(0, Math.min(end, to)));
      const times = this.samples.times.slice(-this.samples.range);
      say(document.getElementById("said"), `${clock(times[this.at])}: ${this.spoken(this.at)}`);
    }

    spoken(at) {
      const said = this.lines.filter(Boolean).map((line) => `${line.name} ${shownOr(line.values[at], this.unit)}`);
      return said.join(", ") || "nothing within this time";
    }

    label() {
      put(this.svg, "aria-label", `${this.title}. Now: ${this.spoken(this.last())}. Arrow keys go through the samples.`);
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

  // Draws what can be seen, as soon as it can be, and when there is more or less room.
  function watch(all) {
    const of = (entry) => all.find((one) => one.figure === entry.target);
    const seen = (entries) => entries.forEach((entry) => {
      of(entry).seen = entry.isIntersecting;
      if (entry.isIntersecting) of(entry).update();
    });
    const sized = (entries) => entries.forEach((entry) => of(entry).seen && of(entry).update());
    const [seeing, sizing] = [new IntersectionObserver(seen, { rootMargin: "200px" }), new ResizeObserver(sized)];
    for (const { figure } of all) {
      seeing.observe(figure);
      sizing.observe(figure);
    }
  }

  return { Chart, UNITS, watch, add, bytes, clock, day, digits, dollars, percent, plain, plural, routeName, say, shownOr, whole };
})();
