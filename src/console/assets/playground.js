// The playground: marks what is found while somebody types, and shows what becomes of it. Texts are only ever put into text nodes.
"use strict";
(() => {
  const root = document.getElementById("playground");
  if (!root) return;
  const $ = (id) => document.getElementById(id);
  // After so many milliseconds without a key somebody pauses.
  const PAUSE = 120;
  const LONG_PAUSE = 500;
  // Longer texts are read from a file in what is copied.
  const COPIED = 20_000;

  // Half a pair of surrogates is no character, and nothing that can be sent.
  const whole = (text) => text.toWellFormed?.()
    ?? text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

  // --- What is chosen ---------------------------------------------------------------------------------------------

  // What somebody lets pass: values, each with the rule that finds it.
  const MOST_PASSES = 50;
  let passes = [];

  const sets = () => [...root.querySelectorAll("[name=set]:checked")].map((box) => box.value);

  // The route that runs and is chosen. Chats go along one that is made for them.
  const along = () => (current?.kind === "chat" ? undefined : $("road").selectedOptions[0]?.dataset.route) ?? null;

  function choice() {
    const threshold = Number($("threshold").value);
    const route = along();
    return {
      road: route === null ? $("road").value.replace("along", "route") : "route",
      route,
      method: $("method").value,
      only: $("only")?.checked ? $("only").value : null,
      pass: passes,
      sets: sets(),
      threshold: threshold > 0 ? threshold : null,
      rules: whole($("rules").value),
      model: $("model").checked,
    };
  }

  function sayChoice() {
    const { threshold, rules, method, route } = choice();
    // A route says all of that itself.
    $("along").hidden = route === null;
    for (const id of ["method", "threshold", "only", "sets", "rules", "rules-example"]) if ($(id)) $(id).disabled = route !== null;
    $("model").disabled = route !== null || !("model" in root.dataset);
    // What has no effect, or would show what does not hold, is not there.
    for (const id of ["method", "threshold", "model", "only", "sets", "own"]) {
      const place = $(id)?.closest("details") ?? $(id)?.closest(".field, .checks");
      if (place) place.hidden = route !== null;
    }
    $("threshold-says").textContent = threshold === null ? "as each rule says" : threshold.toFixed(2);
    $("sets-say").textContent = $("only")?.checked ? "not looked at" : sets().join(", ") || "none";
    $("own-says").textContent = rules.trim() ? ": used" : "";
    $("surrogates").hidden = route !== null || method !== "encrypt" && method !== "hash";
  }

  // The same in a configuration: JSON's way to write a text is one of TOML's.
  function sayPasses() {
    const toml = passes.map(({ value, rule }) => `[[detect.allow]]\nvalues = [${JSON.stringify(value).replaceAll("\x7f", "\\u007f")}]\nrules = [${JSON.stringify(rule)}]\n`);
    for (const kind of ["text", "json"]) {
      if (toml.length > 0) $(`allow-${kind}`).textContent = toml.join("\n");
      $(`passes-${kind}`).textContent = toml.length > 0 ? `: ${counted(toml.length, toml.length === 1 ? "value" : "values")}` : "";
      $(`pass-${kind}`).open ||= toml.length > 0;
      $(`forget-${kind}`).hidden = toml.length === 0;
    }
  }

  function letPass(value, rule) {
    if (passes.length < MOST_PASSES && !passes.some((one) => one.value === value && one.rule === rule)) passes.push({ value, rule });
    sayPasses();
    changed(0);
  }

  function sayFaults(error) {
    const faults = error?.answer?.faults ?? [];
    $("faults").replaceChildren(...faults.map((fault) => make("li", {}, fault)));
    $("faults").hidden = faults.length === 0;
    if (faults.length > 0) $("own").open = true;
  }

  // --- A text, a document -----------------------------------------------------------------------------------------

  const counted = (count, what) => `${count.toLocaleString("en")} ${what}`;

  // One question after the other: what is asked before it is answered is given up.
  class Question {
    async ask(path, body) {
      this.stop?.abort();
      this.stop = new AbortController();
      const stop = this.stop;
      const answer = await ask(path, body, stop.signal);
      if (stop.signal.aborted) throw new DOMException("", "AbortError");
      return answer;
    }
  }

  class Looking {
    constructor(kind) {
      this.kind = kind;
      this.question = new Question();
      this.editor = new Editor(kind, PAUSE, () => this.look());
      this.out = new Painter($(`out-${kind}`));
      this.rows = [];
      const rows = $(`rows-${kind}`);
      const pointed = (event) => this.point(Number(event.target.closest("tr")?.dataset.told ?? -1));
      rows.addEventListener("focusin", pointed);
      rows.addEventListener("mouseover", pointed);
      rows.addEventListener("mouseleave", () => this.point(this.editor.caret() ?? -1));
      rows.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const row = event.target.closest("tr");
        if (!step || !row) return;
        event.preventDefault();
        (step > 0 ? row.nextElementSibling : row.previousElementSibling)?.querySelector("button.value")?.focus();
      });
      rows.addEventListener("click", (event) => {
        const told = Number(event.target.closest("button.value")?.closest("tr").dataset.told ?? -1);
        const mark = this.editor.marks.find((one) => one.told === told);
        if (!mark) return;
        this.editor.area.focus();
        this.editor.area.setSelectionRange(mark.start, mark.end);
      });
      this.editor.area.addEventListener("select", () => this.point(this.editor.caret() ?? -1));
      for (const name of ["keyup", "click"]) {
        this.editor.area.addEventListener(name, () => this.point(this.editor.caret() ?? -1));
      }
    }

    wanted() {
      return { text: whole(this.editor.area.value), as: this.kind, choice: choice() };
    }

    async look() {
      const began = performance.now();
      const text = this.editor.area.value;
      const state = $(`state-${this.kind}`);
      try {
        const looked = await this.question.ask("/playground/look", this.wanted());
        if (this.editor.area.value !== text) return;
        this.show(looked);
        sayFaults(null);
        requestAnimationFrame(() => setTimeout(() => {
          const took = Math.round(performance.now() - began);
          state.textContent = `${took} ms`;
          root.dataset.took = String(took);
          this.tell(looked);
          copying.refresh();
          root.dataset.seen = String(Number(root.dataset.seen ?? 0) + 1);
        }));
      } catch (error) {
        if (error.name === "AbortError") return;
        sayFaults(error);
        state.textContent = "";
        this.problem(error.message);
      }
    }

    problem(said) {
      const place = $(`problem-${this.kind}`);
      place.textContent = said ?? "";
      place.hidden = !said;
    }

    // First what is marked; the tables have time.
    show(looked) {
      this.told = looked.told;
      const marks = looked.marks.map(({ start, end, told, rule }) => ({ start, end, told, kind: rule ? "found" : "found inner" }));
      // What is not found may lie around what is.
      const nots = [];
      let [at, last] = [0, 0];
      for (const not of looked.not) {
        while (at < marks.length && marks[at].end <= not.start) at += 1;
        if (not.start >= last && !(at < marks.length && marks[at].start < not.end)) {
          nots.push({ start: not.start, end: not.end, kind: "not" });
          last = not.end;
        }
      }
      const all = nots.length > 0 ? [...marks, ...nots].sort((a, b) => a.start - b.start) : marks;
      this.editor.paint(all);
      this.out.paint(looked.redacted, looked.replaced.map((mark) => ({ ...mark, kind: "ours" })));
      // What is copied is the text, not its lines.
      $(`out-${this.kind}`).value = looked.redacted;
      this.problem(looked.problem);
    }

    tell(looked) {
      const [found, all] = [looked.found, looked.marks.length + looked.more];
      const said = [counted(found, found === 1 ? "value" : "values")];
      if (looked.told.length < found) said.push(`the first ${looked.told.length} below`);
      if (all > found) said.push(`${(all - found).toLocaleString("en")} more where they stand again`);
      $(`count-${this.kind}`).textContent = said.join(", ");
      const rows = looked.told.map((told, number) => {
        const facts = looked.rules[told.rule];
        const link = make("a", { class: "tag look", href: `/rules/${encodeURIComponent(told.rule)}`, title: facts?.description ?? "" }, told.rule);
        const rule = make("td", {}, link);
        if (facts) rule.append(make("div", { class: "quiet small" }, [facts.category, facts.region, facts.severity].filter(Boolean).join(" · ")));
        const row = make("tr", { "data-told": String(number) },
          make("td", {}, make("button", { class: "value mono", type: "button" }, told.value)),
          rule);
        if (this.kind === "json") row.append(make("td", { class: "mono" }, told.at ?? ""));
        row.append(
          make("td", { class: "number", "data-label": "Score" }, told.score),
          make("td", { class: "small" }, told.why.join(" ")),
          make("td", { class: "mono", "data-label": "Becomes" }, looked.refused ? "refused" : told.becomes ?? "stays"),
          make("td", {}, this.passing(told)));
        return row;
      });
      $(`rows-${this.kind}`).replaceChildren(...(rows.length > 0 ? rows : [nothing(this.kind === "json" ? 7 : 6, "Nothing is found.")]));
      const misses = looked.not.map((not) => make("tr", {},
        make("td", { class: "mono" }, not.value),
        make("td", {}, make("span", { class: "tag", title: looked.rules[not.rule]?.description ?? "" }, not.rule)),
        make("td", { class: "number", "data-label": "Score" }, not.score),
        make("td", { class: "small" }, not.why.join(" ")),
        make("td", { class: "small quiet", ...(not.others.length > 0 ? { "data-label": "Others" } : {}) }, not.others.join(", ") + (not.more > 0 ? ` and ${not.more} more` : ""))));
      $(`nots-${this.kind}`).textContent = misses.length > 0 ? counted(misses.length, misses.length === 1 ? "thing" : "things") : "";
      $(`misses-${this.kind}`).replaceChildren(...(misses.length > 0 ? misses : [nothing(5, "Nothing else looks like a value.")]));
    }

    // The value as it stands in the text: a table shows the beginning of a long one.
    passing(told) {
      const button = make("button", { class: "small", type: "button" }, "Let it pass");
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        const at = Number(button.closest("tr").dataset.told);
        const mark = this.editor.marks.find((one) => one.told === at);
        if (mark) letPass(this.editor.area.value.slice(mark.start, mark.end), told.rule);
        // The row goes, and its button with it: whoever works by keys (a click of no mouse has no count) goes on where the value
        // stands now. Under a mouse the page stays where it is.
        if (event.detail === 0) $(`pass-${this.kind}`).querySelector("summary").focus();
      });
      return button;
    }

    point(told) {
      const which = told >= 0 ? told : null;
      if (which === this.pointed) return;
      this.pointed = which;
      this.editor.point(which);
      this.out.point(which);
      for (const row of $(`rows-${this.kind}`).children) row.classList.toggle("now", which !== null && Number(row.dataset.told) === which);
    }
  }

  const nothing = (columns, said) => make("tr", {}, make("td", { colspan: String(columns), class: "quiet" }, said));

  // --- A chat -----------------------------------------------------------------------------------------------------

  const KINDS = { own: "found", surrogate: "ours", restored: "back", invented: "new", masked: "gone" };
  const kinds = (marks) => marks.map((mark) => ({ ...mark, kind: KINDS[mark.kind] }));

  class Chat {
    constructor() {
      this.kind = "chat";
      this.question = new Question();
      this.editor = new Editor("chat", PAUSE, () => this.look());
      this.seen = new Painter($("seen-chat"));
    }

    wanted() {
      return { text: whole(this.editor.area.value), as: "chat", choice: choice() };
    }

    async look() {
      const text = this.editor.area.value;
      const problem = $("problem-chat");
      try {
        const chat = await this.question.ask("/playground/chat", this.wanted());
        if (this.editor.area.value !== text) return;
        sayFaults(null);
        problem.textContent = chat.problem ?? "";
        problem.hidden = !chat.problem;
        if (chat.problem) {
          this.editor.paint([]);
          return;
        }
        this.editor.paint(kinds(chat.sent));
        this.seen.paint(chat.seen[0].text, kinds(chat.seen[0].marks));
        this.fill($("answer-chat"), chat.answer);
        this.fill($("got-chat"), chat.got);
        copying.refresh();
        root.dataset.seen = String(Number(root.dataset.seen ?? 0) + 1);
      } catch (error) {
        if (error.name === "AbortError") return;
        sayFaults(error);
        problem.textContent = error.message;
        problem.hidden = false;
      }
    }

    fill(into, texts) {
      into.replaceChildren(...texts.map(({ label, text, marks }) => {
        const pre = make("pre", { class: "out wrap", tabindex: "0", "aria-label": label });
        new Painter(pre).paint(text, kinds(marks));
        return make("div", {}, make("h3", {}, label), pre);
      }));
    }
  }

  // --- A file -----------------------------------------------------------------------------------------------------

  class File {
    constructor() {
      this.kind = "file";
      this.input = $("upload");
      this.input.addEventListener("change", () => this.chosen());
      $("redact").addEventListener("change", () => copying.refresh());
      $("clean").addEventListener("click", () => this.clean());
      const drop = $("drop");
      drop.addEventListener("dragover", (event) => {
        event.preventDefault();
        drop.classList.add("now");
      });
      drop.addEventListener("dragleave", () => drop.classList.remove("now"));
      drop.addEventListener("drop", (event) => {
        event.preventDefault();
        drop.classList.remove("now");
        if (event.dataTransfer.files.length > 0) {
          this.input.files = event.dataTransfer.files;
          this.chosen();
        }
      });
    }

    look() { copying.refresh(); }

    chosen() {
      const file = this.input.files[0];
      $("clean").disabled = !file;
      this.say(file && file.size > 16 * 1024 * 1024 ? "The playground takes files of up to 16 MiB." : "");
      if (file && file.size > 16 * 1024 * 1024) $("clean").disabled = true;
      copying.refresh();
    }

    say(problem) {
      $("problem-file").textContent = problem;
      $("problem-file").hidden = !problem;
    }

    async clean() {
      const file = this.input.files[0];
      if (!file) return;
      this.say("");
      $("cleaned").hidden = true;
      $("clean").disabled = true;
      $("state-file").textContent = "It is taken apart…";
      try {
        const head = JSON.stringify({ name: whole(file.name).slice(-80), redact: $("redact").checked });
        const bytes = await this.sent(new Blob([head, "\n", file]));
        const end = bytes.indexOf(10);
        this.show(JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), bytes.subarray(end + 1));
      } catch (error) {
        this.say(error.message);
      }
      $("state-file").textContent = "";
      $("clean").disabled = false;
    }

    async sent(body) {
      const token = document.querySelector("meta[name=csrf]").content;
      const headers = { "content-type": "application/octet-stream", "x-csrf-token": token };
      const answer = await fetch("/playground/clean", { method: "POST", headers, body, cache: "no-store", redirect: "error" });
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
      const said = await answer.text();
      let error;
      try {
        error = JSON.parse(said).error;
      } catch {
        error = said;
      }
      throw new Error(error);
    }

    show(told, bytes) {
      if (this.url) URL.revokeObjectURL(this.url);
      this.url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
      $("download").href = this.url;
      $("download").download = told.name;
      $("summary-file").textContent = told.summary;
      const { cdr, defang, redact } = told.data;
      const facts = [
        ["Kind", told.kind],
        ["Size", `${counted(this.input.files[0].size, "bytes")} before, ${counted(told.bytes, "bytes")} now`],
        ["Attachments taken out", cdr?.file_attachments_removed],
        ["Scripts, actions and forms taken out", cdr?.interactive_contents_removed],
        ["Links", defang && `${defang.external_urls_count} to elsewhere, ${defang.defanged_count} made harmless`],
        ["Values redacted", redact && Object.entries(redact.summary_counts).map(([rule, count]) => `${rule} ${count}`).join(", ")],
      ];
      $("facts-file").replaceChildren(...facts.filter(([, fact]) => fact !== undefined)
        .flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, fact === "" ? "none" : String(fact))]));
      $("cleaned").hidden = false;
      root.dataset.cleaned = told.name;
    }
  }

  // --- What is copied ---------------------------------------------------------------------------------------------

  const api = root.dataset.api;
  // Whose key a chat carries: a token of the gateway's, or the provider's key.
  const chatKey = "chatsToken" in root.dataset ? "TOKEN" : "OPENAI_API_KEY";
  const shell = (text) => `'${text.replace(/'/g, "'\\''")}'`;
  // What JSON writes between quotes reads the same in Python.
  const python = (value) => Array.isArray(value) ? `[${value.map(python).join(", ")}]` : JSON.stringify(value);
  // A call that says nothing has rules' names put in the place of values.
  const BY_CALL = { mask: "mask", hash: "hash", report: "detect_only" };

  function callOptions() {
    const { method, only, sets } = choice();
    const options = {};
    if (method === "encrypt") options.llm_request = true;
    else if (BY_CALL[method]) options.redaction_method_overrides = { redaction_type: BY_CALL[method] };
    if (only) options.rules = [only];
    else if (sets.join() !== "DEFAULT") options.rulesets = sets;
    return options;
  }

  const copying = {
    how: "curl",
    question: new Question(),

    refresh() {
      const isFile = current.kind === "file";
      $("as-route").disabled = isFile;
      if (isFile && this.how === "route") this.how = "curl";
      const { threshold, rules, route } = choice();
      const hints = [];
      if (this.how !== "route" && current.kind === "chat") hints.push("What becomes of a chat is said by its route: see “Configuration”.");
      else if (this.how !== "route" && !isFile && (threshold !== null || rules.trim())) {
        hints.push("A call has the thresholds and rules of the configuration: they are under “Configuration”.");
      }
      if (this.how !== "route" && current.kind === "chat" && chatKey === "TOKEN") {
        hints.push(`TOKEN is a token that covers the route ${root.dataset.chatsRoute}: see “Tokens”.`);
      }
      if (this.how !== "route" && current.kind !== "chat") {
        hints.push(`TOKEN is a token that covers the service ${isFile ? "sanitize" : "redact"}: see “Tokens”.`);
        if (!isFile && route !== null) hints.push("A call of the API does not do as the route does: it has rules and a method of its own.");
        else if (!isFile && choice().road === "route") hints.push("A call of the API also finds what passes along a route: see “Sent by”.");
      }
      $("copy-hint").textContent = hints.join(" ");
      if (this.how === "route") this.route();
      else $("copied").textContent = this[this.how](current.kind);
    },

    async route() {
      try {
        const { toml } = await this.question.ask("/playground/route", current.wanted());
        if (this.how === "route") {
          const rules = choice().rules;
          $("copied").textContent = rules.trim() ? `${toml}\n# own-rules.toml\n${rules.replace(/^/gm, "# ")}\n` : toml;
        }
      } catch (error) {
        if (error.name !== "AbortError") $("copied").textContent = `# ${error.message}`;
      }
    },

    curl(kind) {
      const token = `-H "Authorization: Bearer $TOKEN"`;
      const json = `-H 'Content-Type: application/json'`;
      if (kind === "file") {
        const head = JSON.stringify({ content: { redact: $("redact").checked } });
        return `curl -sS ${api}/v1/sanitize ${token} \\\n  -F ${shell(`request=${head};type=application/json`)} -F ${shell(`upload=@${current.input.files[0]?.name ?? "letter.pdf"}`)}\n`;
      }
      const text = whole(current.editor.area.value);
      const long = text.length > COPIED;
      if (kind === "chat") {
        const key = `-H "Authorization: Bearer $${chatKey}"`;
        return `curl -sS ${root.dataset.chats}/chat/completions ${key} ${json} \\\n  -d ${long ? "@request.json" : shell(text.trim())}\n`;
      }
      const options = JSON.stringify(callOptions());
      const more = options === "{}" ? "" : `, ${options.slice(1, -1)}`;
      const path = kind === "json" ? "/v1/redact_structured" : "/v1/redact";
      if (long) {
        const read = kind === "json" ? `jq ${shell(`{data: .${more}}`)} document.json` : `jq -Rs ${shell(`{text: .${more}}`)} text.txt`;
        return `${read} |\n  curl -sS ${api}${path} ${token} ${json} -d @-\n`;
      }
      const body = kind === "json" ? `{"data": ${text.trim()}${more}}` : `{"text": ${JSON.stringify(text)}${more}}`;
      return `curl -sS ${api}${path} ${token} ${json} \\\n  -d ${shell(body)}\n`;
    },

    python(kind) {
      const config = `config=PangeaConfig(base_url_template=${python(api)})`;
      if (kind === "file") {
        return `import os

from pangea import PangeaConfig
from pangea.response import TransferMethod
from pangea.services import Sanitize
from pangea.services.sanitize import SanitizeContent

sanitize = Sanitize(os.environ["TOKEN"], ${config})
with open(${python(current.input.files[0]?.name ?? "letter.pdf")}, "rb") as file:
    answer = sanitize.sanitize(
        transfer_method=TransferMethod.MULTIPART,
        file=file,
        content=SanitizeContent(redact=${$("redact").checked ? "True" : "False"}),
    )
print(answer.result.dest_url)
`;
      }
      const text = whole(current.editor.area.value);
      const long = text.length > COPIED;
      if (kind === "chat") {
        const request = long ? `json.load(open("request.json"))` : `json.loads(${python(text.trim())})`;
        return `import json
import os

from openai import OpenAI

client = OpenAI(base_url=${python(root.dataset.chats)}, api_key=os.environ["${chatKey}"])
request = ${request}
answer = client.chat.completions.create(**request)
print(answer.choices[0].message)
`;
      }
      const { llm_request, redaction_method_overrides, rules, rulesets } = callOptions();
      const more = [];
      if (rules) more.push(`rules=${python(rules)}`);
      if (rulesets) more.push(`rulesets=${python(rulesets)}`);
      if (llm_request) more.push("llm_request=True");
      if (redaction_method_overrides) {
        const type = redaction_method_overrides.redaction_type.toUpperCase();
        more.push(`redaction_method_overrides=RedactionMethodOverrides(redaction_type=RedactType.${type})`);
      }
      const imports = redaction_method_overrides ? "\nfrom pangea.services.redact import RedactionMethodOverrides, RedactType" : "";
      const [call, value, shown] = kind === "json"
        ? ["redact_structured", long ? `json.load(open("document.json"))` : `json.loads(${python(text.trim())})`, "redacted_data"]
        : ["redact", long ? `open("text.txt").read()` : python(text), "redacted_text"];
      return `${kind === "json" ? "import json\n" : ""}import os

from pangea import PangeaConfig
from pangea.services import Redact${imports}

redact = Redact(os.environ["TOKEN"], ${config})
answer = redact.${call}(
    ${[value, ...more].join(",\n    ")},
)
print(answer.result.${shown})
`;
    },
  };

  // --- All of it --------------------------------------------------------------------------------------------------

  const panels = { text: new Looking("text"), json: new Looking("json"), chat: new Chat(), file: new File() };
  let current = panels.text;

  tabs($("tab-text"), (tab) => {
    const kind = tab.id.slice("tab-".length);
    for (const other of Object.keys(panels)) $(`panel-${other}`).hidden = other !== kind;
    $("choices").hidden = kind === "file";
    $("roads").hidden = kind === "chat";
    current = panels[kind];
    sayChoice();
    current.look();
  });

  tabs($("as-curl"), (tab) => {
    copying.how = tab.id.slice("as-".length);
    $("panel-copy").setAttribute("aria-labelledby", tab.id);
    copying.refresh();
  });

  let changing = 0;
  function changed(pause) {
    sayChoice();
    clearTimeout(changing);
    changing = setTimeout(() => current.look(), pause);
  }
  for (const id of ["road", "method", "model", "only"]) $(id)?.addEventListener("change", () => changed(0));
  $("threshold").addEventListener("input", () => changed(PAUSE));
  for (const box of root.querySelectorAll("[name=set]")) box.addEventListener("change", () => changed(PAUSE));
  for (const kind of ["text", "json"]) {
    $(`forget-${kind}`).addEventListener("click", () => {
      passes = [];
      sayPasses();
      changed(0);
    });
  }
  $("rules").addEventListener("input", () => changed(LONG_PAUSE));
  $("rules-example").addEventListener("click", () => {
    $("rules").value = $("rules").placeholder;
    changed(0);
  });

  sayChoice();
  current.look();
})();
