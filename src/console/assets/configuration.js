// Checks a configuration as it is written, and says what it would change.
"use strict";

const draft = document.getElementById("draft");
const outcome = document.getElementById("outcome");

function place(problem) {
  return problem.line ? `${problem.line}:${problem.column}` : "";
}

function problemRows(problems) {
  const rows = problems.map((problem) => {
    const where = problem.line ? make("button", { type: "button", class: "small" }, place(problem)) : "";
    if (where) where.addEventListener("click", () => select(problem.line));
    const hint = problem.hint ? make("div", { class: "quiet" }, problem.hint) : "";
    return make("tr", {}, make("td", {}, where), make("td", {}, problem.message, hint));
  });
  const head = make("tr", {}, make("th", {}, "Line"), make("th", {}, "What is wrong"));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

// Marks a line of the text, so that it can be mended at once.
function select(line) {
  const lines = draft.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  draft.focus();
  draft.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  draft.scrollTop = (line - 3) * parseFloat(getComputedStyle(draft).lineHeight);
}

function names(title, changed) {
  const parts = ["added", "changed", "removed"].filter((kind) => changed[kind].length)
    .map((kind) => `${kind} ${changed[kind].join(", ")}`);
  return parts.length ? [make("dt", {}, title), make("dd", {}, parts.join("; "))] : [];
}

function differences(difference) {
  const facts = [
    ...names("Routes", difference.routes),
    ...names("Upstreams", difference.upstreams),
    ...Object.entries(difference.effects).flatMap(([name, said]) => [make("dt", { class: "mono" }, name), make("dd", {}, said.join("; "))]),
    ...(difference.reloaded.length ? [make("dt", {}, "Other settings"), make("dd", {}, difference.reloaded.join(", "))] : []),
    ...(difference.restart.length
      ? [make("dt", {}, "Only with a restart"), make("dd", {}, make("span", { class: "tag look" }, `! ${difference.restart.join(", ")}`))] : []),
  ];
  return facts.length ? make("dl", { class: "facts" }, ...facts) : make("p", { class: "quiet" }, "Nothing changes.");
}

// What runs is shown without its secrets, so the text here is not what to save.
function next() {
  const file = draft.dataset.file;
  return file
    ? `Nothing is saved here. To use it, make the same change in ${file}: it is read again some seconds after it is saved. Values that are hidden here stay there as they are.`
    : "Nothing is saved here. To use it, save it as a file, and start the gateway with that: portcullis serve -c FILE.";
}

async function check() {
  if (!draft.value.trim()) {
    outcome.replaceChildren(make("p", { class: "note look" }, "There is nothing to check yet: paste a configuration, or start from what runs."));
    return;
  }
  outcome.replaceChildren(make("p", { class: "quiet" }, "Checking…"));
  try {
    const { problems, warnings, difference } = await ask("/configuration/check", { text: draft.value });
    const shown = [];
    if (problems.length) {
      shown.push(make("p", { class: "note look" }, `✕ It cannot be used: ${problems.length} ${problems.length === 1 ? "problem" : "problems"}.`), problemRows(problems));
    } else {
      shown.push(make("p", { class: "note" }, "✓ It can be used. What a reload with it would change:"), differences(difference), make("p", { class: "hint" }, next()));
    }
    if (warnings.length) shown.push(make("h3", {}, "May not be meant, or is not here"), problemRows(warnings));
    outcome.replaceChildren(...shown);
  } catch (error) {
    outcome.replaceChildren(make("p", { class: "note look" }, error.message));
  }
}

// What the playground sent along: whoever may not check it has no use for it.
const more = sessionStorage.getItem("allow");
sessionStorage.removeItem("allow");

if (draft) {
  document.getElementById("check").addEventListener("click", check);
  document.getElementById("from-running").addEventListener("click", () => {
    draft.value = document.getElementById("running-text").textContent;
    draft.focus();
  });
  // It is tried with what runs.
  if (more) {
    draft.value = `${document.getElementById("running-text")?.textContent ?? ""}\n# From the playground:\n${more}`;
    draft.scrollTop = draft.scrollHeight;
    draft.closest("section").scrollIntoView();
    check();
  }
}
