// The last requests as a table, the newest first: what was done with each, and what was found by which rule. It keeps what the
// gateway keeps at the most, and is given news by the page.
"use strict";
const requests = (() => {
  const { UNITS, bytes, clock, day, digits, dollars, plain, plural, routeName, say } = charts;
  const LISTED = 300; // Requests that are kept.
  const ROWS = 100; // Requests that are shown at first, and with each "More".
  const COLUMNS = 10;
  const byId = (id) => document.getElementById(id);

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
  const listed = { begun: 0, last: 0, kept: 0, requests: [] };
  const meanings = {}; // What each rule looks for, as far as requests name them.
  let rows = ROWS; // Requests that are shown at the most.
  let opened = null; // The request whose details are shown.
  let behind = 0; // Requests that are not shown, since one is open.

  const failed = ({ status = 0, decision }) => status >= 400 || ["blocked", "refused", "failed"].includes(decision);

  function wanted(request) {
    const [route, status] = [byId("by-route").value, byId("by-status").value];
    return (!route || request.route === route)
      && (!status || String(Math.floor((request.status ?? 0) / 100)) === status)
      && (!byId("by-errors").checked || failed(request))
      && (!byId("by-findings").checked || request.findings !== undefined);
  }

  // Rules and how often each was found, the most often first.
  const found = (request) => Object.entries(request.findings ?? {}).sort((a, b) => b[1] - a[1]);
  const micros = (value) => (value === undefined ? "–" : UNITS.seconds(value / 1e6));

  // A rule's name, which leads to its page; what stands for several is no rule.
  const rule = (name) => (name === "others" ? name : make("a", { href: `/rules/${encodeURIComponent(name)}` }, name));

  // ── Rows.

  function decision({ decision, status = 0 }) {
    const [tone, word] = DECISIONS[decision] ?? ["", decision];
    // What was replaced is no sign of success where the answer is none.
    return decision === "redacted" && status >= 400 ? make("span", { class: "tag" }, "redacted") : make("span", { class: `tag ${tone}` }, word);
  }

  function findings(request) {
    const rules = found(request);
    const sum = rules.reduce((all, [, count]) => all + count, 0);
    if (sum === 0) return make("td", { class: "name" }, "0");
    const [short, whole] = [rules.map(([name]) => name), rules.map(([name, count]) => `${count} ${name}`)];
    return make("td", { class: "name", title: whole.join(", ") }, `${sum}: ${short.join(", ")}`);
  }

  function row(request) {
    const { status = 0, usage } = request;
    const opener = make("button", { type: "button", class: "plain", "aria-expanded": "false", title: day(request.time) }, clock(request.time));
    const tokens = usage?.input || usage?.output ? `${plain(usage.input ?? 0)} → ${plain(usage.output ?? 0)}` : "–";
    const shown = status >= 500 ? make("span", { class: "tag look" }, `✕ ${status}`) : status ? String(status) : "–";
    const number = { class: "number" };
    const made = make(
      "tr", { class: "opens" },
      make("td", {}, opener), make("td", {}, decision(request)), make("td", number, shown),
      make("td", { class: "name" }, routeName(request.route)), make("td", { class: "name" }, usage?.model ?? "–"), make("td", {}, request.protocol ?? "–"),
      findings(request), make("td", number, tokens), make("td", number, micros(request.first_byte)), make("td", number, micros(request.took)),
    );
    made.addEventListener("click", () => String(getSelection()) === "" && open(request, made, opener));
    return made;
  }

  // ── Details.

  const names = new Map(); // Of tokens, by id: asked for once, when a request of theirs is opened.

  // The title of the page of a token is its name.
  async function nameOf(token) {
    const answer = await fetch(`/tokens/${encodeURIComponent(token)}`, { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) return "";
    return new DOMParser().parseFromString(await answer.text(), "text/html").title.replace(/ · Portcullis$/, "");
  }

  function caller(request) {
    const parts = [];
    if (request.token) {
      const link = make("a", { href: `/tokens/${encodeURIComponent(request.token)}`, title: request.token }, request.token);
      if (!names.has(request.token)) names.set(request.token, nameOf(request.token).catch(() => ""));
      names.get(request.token).then((name) => name && say(link, name));
      parts.push("token ", link);
    }
    if (request.client) parts.push(`${parts.length ? ", " : ""}${request.client}`);
    return parts;
  }

  function taken({ usage, protocol }) {
    if (!usage) return protocol ? "not counted, or nothing was taken: see the note at Models" : "";
    const { input = 0, output = 0, estimated } = usage;
    if (input + output === 0) return "nothing was taken";
    return `${input} in, ${output} out${estimated ? ", estimated: nobody reported them" : ""}`;
  }

  function cost({ usage }) {
    if (!usage || (usage.input ?? 0) + (usage.output ?? 0) === 0) return "";
    return usage.cost ? make("span", { title: `$${usage.cost}` }, dollars(Number(usage.cost))) : "no price is known for this model";
  }

  function facts(request) {
    const list = make("dl", { class: "facts" });
    const fact = (name, ...said) => said.some(Boolean) && list.append(make("dt", {}, name), make("dd", {}, ...said));
    const scan = (word = "not asked") => word.replaceAll("_", " ");
    const { attempts = 0, unscanned = 0 } = request;
    fact("Id", request.id);
    fact("Time", `${day(request.time)} ${clock(request.time)}`);
    fact("Route", request.route ? make("a", { href: `/routes#${encodeURIComponent(request.route)}`, title: "what becomes of what is found there" }, routeName(request.route)) : "");
    fact("Model", request.usage?.model);
    fact("Asked", [request.method, request.http, request.protocol].filter(Boolean).join(", "));
    fact("Fault", request.fault?.replaceAll("_", " "));
    fact("Upstream", request.upstream && `${request.upstream}, ${attempts ? plural(attempts, "attempt") : "not asked"}`);
    fact("Caller", ...caller(request));
    fact("Bodies", `${bytes(request.bytes_in ?? 0)} in, ${bytes(request.bytes_out ?? 0)} out`);
    fact("Looked at", `request: ${scan(request.request_scan)}; answer: ${scan(request.answer_scan)}`);
    fact("Not read", unscanned && `${plural(unscanned, "string")} of bytes`);
    fact("Model tokens", taken(request));
    fact("Cost", cost(request));
    return list;
  }

  function details(request) {
    const rules = found(request);
    const shown = make("div", { class: "counts" });
    if (rules.length > 0) shown.append(make("p", {}, `${request.redacted ?? 0} replaced, in the request and its answer together; ${request.restored ?? 0} put back in the answer.`));
    else shown.append(make("p", { class: "quiet" }, "Nothing was found."));
    const along = request.route ? { href: `/playground?route=${encodeURIComponent(request.route)}` } : { href: "/playground" };
    const looks = request.request_scan || request.answer_scan ? "it looks as this route does, says" : "it says";
    shown.append(make("p", { class: "hint" }, "Texts are not kept. Paste yours into ", make("a", along, "the playground"), `: ${looks} why each value is found, and how to let one pass.`));
    if (rules.length > 0) {
      const counts = rules.map(([name, count]) => make("tr", {},
        make("th", { scope: "row" }, rule(name), make("div", { class: "quiet small wrapped" }, meanings[name] ?? "")),
        make("td", { class: "number" }, String(count))));
      shown.append(
        make("table", {}, make("caption", { class: "unseen" }, "Findings by rule"), make("tbody", {}, ...counts)),
        make("p", { class: "hint" }, "Counted by place: the same address twice is 2. Places in the answer that the model made up count too."),
      );
    }
    return make("tr", { class: "details" }, make("td", { colspan: String(COLUMNS) }, make("div", { class: "pair" }, shown, facts(request))));
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
    if (same) {
      list();
      return;
    }
    opened = { request, opener, details: details(request) };
    opener.setAttribute("aria-expanded", "true");
    made.after(opened.details);
    opened.details.scrollIntoView({ block: "nearest" });
  }

  // ── The list.

  const body = () => byId("recent").tBodies[0];

  // How many there are, and whether there are more.
  function count() {
    const [loaded, { kept }] = [listed.requests.length, listed];
    const like = listed.requests.filter(wanted).length;
    const shown = Math.min(like, rows);
    byId("recent").hidden = shown === 0;
    byId("no-requests").hidden = shown > 0;
    say(byId("no-requests"), loaded ? `None of the last ${plural(loaded, "request")} is like that.` : "No request yet.");
    byId("more").hidden = like <= rows && loaded >= kept;
    say(byId("count"), like < loaded ? `${shown} of ${like} like that among the last ${loaded}` : loaded ? `${shown} of ${kept}` : "");
  }

  // Shows the requests that are wanted, the newest first.
  function list() {
    close();
    behind = 0;
    const shown = listed.requests.filter(wanted).slice(-rows).reverse();
    body().replaceChildren(...shown.map((request) => request.row ??= row(request)));
    say(byId("newer"), "");
    count();
  }

  // Takes what the gateway answers; says whether there was something new.
  function take(answer) {
    if (answer.begun !== listed.begun) {
      const other = listed.begun !== 0;
      Object.assign(listed, { begun: answer.begun, last: 0, kept: 0, requests: [] });
      list();
      // The numbers of another process say nothing here: the next question is for all.
      if (other) return true;
    }
    listed.kept = answer.kept;
    Object.assign(meanings, answer.rules);
    const news = answer.requests.filter((request) => request.n > listed.last);
    if (news.length === 0) return false;
    const gap = listed.last > 0 && news[0].n > listed.last + 1;
    listed.last = news[news.length - 1].n;
    // More came than one answer holds: those before it are asked for by "More".
    listed.requests = [...(gap ? [] : listed.requests), ...news].slice(-LISTED);
    routes();
    const mine = news.filter(wanted);
    if (opened) {
      // While one is open, the others stay where they are.
      behind += mine.length;
      say(byId("newer"), behind ? `${behind} newer: close the open one to see them` : "");
    } else if (gap) {
      list();
    } else {
      // Rows that stay are not touched, so that who is on one stays there.
      body().prepend(...mine.slice(-rows).reverse().map((request) => request.row = row(request)));
      while (body().children.length > rows) body().lastChild.remove();
      count();
    }
    return true;
  }

  async function more() {
    const before = body().children.length;
    rows += ROWS;
    if (listed.requests.length < listed.kept) {
      try {
        const answer = await ask(`/live/requests.json?before=${listed.requests[0].n}`);
        Object.assign(meanings, answer.rules);
        if (answer.begun === listed.begun) {
          listed.requests = [...answer.requests.filter((request) => request.n < listed.requests[0].n), ...listed.requests].slice(-LISTED);
          listed.kept = answer.requests.length ? answer.kept : listed.requests.length;
        }
      } catch {
        say(byId("count"), "✕ The gateway does not answer.");
        return;
      }
    }
    routes();
    list();
    body().children[before]?.querySelector("button")?.focus();
  }

  function routes() {
    const select = byId("by-route");
    const known = new Set([...select.options].map((option) => option.value));
    for (const { route } of listed.requests) {
      if (!known.has(route) && known.size < 200) {
        known.add(route);
        select.append(make("option", { value: route }, routeName(route)));
      }
    }
  }

  for (const id of ["by-route", "by-status", "by-errors", "by-findings"]) byId(id).addEventListener("change", list);
  byId("more").addEventListener("click", more);
  return { take, rule, last: () => listed.last };
})();
