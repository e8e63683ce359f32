// The page of figures and requests as they come. It asks only while somebody can see it, and keeps an hour at the most.
"use strict";
(() => {
  const { Chart, UNITS, watch, add, clock, digits, plain, say, shownOr } = charts;
  const KEPT = 720; // Samples: an hour.
  const LISTED = 300; // Requests that are kept.
  const ROWS = 100; // Requests that are shown.
  const EVERY = 2000; // Milliseconds between two questions.
  const byId = (id) => document.getElementById(id);

  const dollars = (value) => (value > 0 && value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`);

  // ── What is known.

  const known = {
    begun: 0,
    next: 0,
    every: 5000,
    range: 180,
    times: [],
    tracks: new Map(), // Values by group and name, as many as times.
    now: {},
    of(group) {
      return [...(this.tracks.get(group) ?? [])].map(([name, values]) => [name, values.slice(-this.range)]);
    },
  };

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
        if (Number.isNaN(track[track.length - 1]) && !track.some((value) => value > 0)) tracks.delete(name);
      }
      if (tracks.size === 0) known.tracks.delete(group);
    }
    return true;
  }

  const latest = (group, wanted) => {
    let sum = NaN;
    for (const [name, values] of known.tracks.get(group) ?? []) {
      const value = values[values.length - 1];
      if ((wanted === undefined || name === wanted) && Number.isFinite(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value;
    }
    return sum;
  };

  // The last one there was within a minute: percentiles have gaps where nothing came.
  const lately = (group, name) => known.tracks.get(group)?.get(name)?.slice(-60000 / known.every).findLast(Number.isFinite) ?? NaN;

  // ── What stands above and beside the charts.

  function tiles() {
    const hour = (group) => [...(known.tracks.get(group) ?? [])].reduce((sum, [, values]) => sum + add(values), 0) * (known.every / 1000);
    const of = (id, text) => say(byId(`tile-${id}`), text);
    const [all, failed] = ["status"].flatMap((group) => {
      const lines = known.of(group);
      return [lines.reduce((sum, [, values]) => sum + add(values), 0), add(lines.find(([name]) => name === "5xx")?.[1] ?? [])];
    });
    // What has no track was nothing, once two samples are there.
    const orNothing = (value) => (Number.isNaN(value) && known.times.length > 1 ? 0 : value);
    of("requests", shownOr(orNothing(latest("route")), "rate"));
    of("errors", all > 0 ? `${digits((100 * failed) / all)} %` : "–");
    of("latency", shownOr(lately("latency", "p95"), "seconds"));
    of("first", shownOr(lately("first_byte", "p95"), "seconds"));
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
      make("td", {}, opener), make("td", {}, make("span", { class: `tag ${tone}` }, word)), make("td", { class: "number" }, request.status ? String(request.status) : "–"),
      make("td", { class: "name" }, request.route), make("td", { class: "name" }, request.usage?.model ?? "–"), make("td", {}, request.protocol ?? "–"),
      make("td", { class: "number", title: Object.keys(request.findings).join(", ") }, String(total(request.findings))), make("td", { class: "number" }, tokens),
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
    fact("Route", request.route);
    fact("Model", request.usage?.model);
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

  const drawn = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure, known));
  let paused = false;
  let timer = null;
  let failures = 0;
  let asking = false;

  function refresh() {
    for (const chart of drawn) chart.update();
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
    known.range = Number(currentTarget.value);
    refresh();
  });
  for (const id of ["by-route", "by-status", "by-findings"]) byId(id).addEventListener("change", list);
  watch(drawn);
  if (document.visibilityState === "visible") turn();
})();
