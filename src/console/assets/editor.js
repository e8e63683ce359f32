// What the playground edits and shows with: tabs, marks in a text, and a text area with marks behind it. Texts are only ever put into
// text nodes.
"use strict";

// In longer texts, and in those with longer lines, marks do not move between two pauses: they are hidden.
const LIVE = 300_000;
const LONG = 20_000;

// --- Tabs -------------------------------------------------------------------------------------------------------

function tabs(first, show) {
  const all = [...first.closest("[role=tablist]").querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of all) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    show(tab);
  };
  for (const tab of all) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const open = all.filter((one) => !one.disabled);
      const at = open.indexOf(tab);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: open.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = open[(to + open.length) % open.length];
      next.focus();
      choose(next);
    });
  }
  return choose;
}

// --- Marks ------------------------------------------------------------------------------------------------------

// Cuts a text into runs of lines. Where one ends depends on its lines alone, so that what is typed moves few ends.
function runs(text) {
  const found = [];
  let [start, at, lines] = [0, 0, 0];
  for (;;) {
    const end = text.indexOf("\n", at);
    const stop = end < 0 ? text.length : end;
    lines += 1;
    const mixed = stop > at ? (stop - at) * 31 + text.charCodeAt(at) * 7 + text.charCodeAt(stop - 1) : 1;
    if (end < 0 || lines >= 64 || (lines >= 4 && mixed % 13 === 0)) {
      found.push([start, stop]);
      [start, lines] = [stop + 1, 0];
    }
    if (end < 0) return found;
    at = end + 1;
  }
}

// Shows a text with marks, and builds only those runs of lines anew that are not as they were.
class Painter {
  constructor(into) {
    this.into = into;
    this.blocks = [];
    this.longest = 0;
  }

  // `marks` are in order, and share no character.
  paint(text, marks) {
    let first = 0;
    this.longest = 0;
    const next = runs(text).map(([start, end]) => {
      this.longest = Math.max(this.longest, end - start);
      while (first < marks.length && marks[first].end <= start) first += 1;
      const own = [];
      let key = text.slice(start, end) + "\n";
      for (let at = first; at < marks.length && marks[at].start < end; at += 1) {
        const mark = marks[at];
        const [from, to] = [Math.max(mark.start - start, 0), Math.min(mark.end, end) - start];
        own.push({ from, to, mark });
        key += `${from}-${to} ${mark.kind} `;
      }
      return { key, text: text.slice(start, end), own };
    });
    const old = this.blocks;
    let head = 0;
    while (head < old.length && head < next.length && old[head].key === next[head].key) {
      this.again(next[head], old[head]);
      head += 1;
    }
    let [oldEnd, nextEnd] = [old.length, next.length];
    while (oldEnd > head && nextEnd > head && old[oldEnd - 1].key === next[nextEnd - 1].key) {
      this.again(next[nextEnd - 1], old[oldEnd - 1]);
      oldEnd -= 1;
      nextEnd -= 1;
    }
    const built = document.createDocumentFragment();
    for (let at = head; at < nextEnd; at += 1) built.append(this.build(next[at]));
    const behind = old[oldEnd]?.element ?? null;
    for (let at = head; at < oldEnd; at += 1) old[at].element.remove();
    this.into.insertBefore(built, behind);
    this.blocks = next;
  }

  again(block, known) {
    block.element = known.element;
    block.marked = known.marked;
    block.own.forEach(({ mark }, at) => { block.marked[at].told = mark.told; });
  }

  build(block) {
    const element = document.createElement("div");
    block.marked = [];
    let at = 0;
    for (const { from, to, mark } of block.own) {
      if (from > at) element.append(block.text.slice(at, from));
      const marked = document.createElement("mark");
      marked.className = mark.kind;
      marked.textContent = block.text.slice(from, to);
      marked.told = mark.told;
      element.append(marked);
      block.marked.push(marked);
      at = to;
    }
    element.append(block.text.slice(at));
    // A last line that is empty has its height.
    if (block.text === "" || block.text.endsWith("\n")) element.append("\n");
    block.element = element;
    return element;
  }

  // Lets the marks of a finding stand out; the first of them.
  point(told) {
    let found = null;
    for (const { marked } of this.blocks) {
      for (const mark of marked) {
        const is = told !== null && mark.told === told;
        if (is) found ??= mark;
        mark.classList.toggle("now", is);
      }
    }
    return found;
  }
}

// A text area with marks behind it.
class Editor {
  constructor(kind, pause, done) {
    this.box = document.getElementById(`editor-${kind}`);
    this.area = document.getElementById(`in-${kind}`);
    this.back = this.box.querySelector(".back");
    this.painter = new Painter(this.box.querySelector(".lines"));
    this.marks = [];
    this.text = "";
    this.timer = 0;
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("input", () => {
      this.typed();
      this.later(pause, done);
    });
    new ResizeObserver(() => this.follow()).observe(this.area);
  }

  later(pause, done) {
    clearTimeout(this.timer);
    this.timer = setTimeout(done, pause);
  }

  follow() {
    this.back.scrollTop = this.area.scrollTop;
    this.back.scrollLeft = this.area.scrollLeft;
  }

  // Moves the marks with what is typed, until it is known what is found now.
  typed() {
    const [before, now] = [this.text, this.area.value];
    if (now.length > LIVE || this.painter.longest > LONG) {
      this.box.classList.add("stale");
      return;
    }
    const most = Math.min(before.length, now.length);
    let head = 0;
    while (head < most && before.charCodeAt(head) === now.charCodeAt(head)) head += 1;
    let tail = 0;
    const left = most - head;
    while (tail < left && before.charCodeAt(before.length - 1 - tail) === now.charCodeAt(now.length - 1 - tail)) tail += 1;
    const [end, moved] = [before.length - tail, now.length - before.length];
    const kept = [];
    for (const mark of this.marks) {
      if (mark.end <= head) kept.push(mark);
      else if (mark.start >= end) kept.push({ ...mark, start: mark.start + moved, end: mark.end + moved });
    }
    this.paint(kept);
  }

  paint(marks) {
    this.marks = marks;
    this.text = this.area.value;
    this.painter.paint(this.text, marks);
    this.box.classList.remove("stale");
    this.follow();
  }

  // Shows where a finding is.
  point(told) {
    const mark = this.painter.point(told);
    if (!mark) return;
    const [top, height] = [mark.offsetTop, this.area.clientHeight];
    if (top < this.area.scrollTop || top + mark.offsetHeight > this.area.scrollTop + height) {
      this.area.scrollTop = top - height / 2;
      this.follow();
    }
  }

  caret() {
    const at = this.area.selectionStart;
    return this.marks.find((mark) => mark.start <= at && at <= mark.end)?.told ?? null;
  }
}
