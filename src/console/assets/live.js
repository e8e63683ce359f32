// The page of figures and requests as they come. It asks only while somebody can see it, and keeps an hour at the most.
"use strict";
(() => {
  const { Chart, UNITS, watch, bytes, clock, day, dollars, percent, plain, plural, say, shownOr, whole } = charts;
  const KEPT = 720; // Samples: an hour.
  const EVERY = 5000; // Milliseconds between two questions, as long as nothing comes;
  const SOON = 2000; // and between two for requests, while some do.
  const MINUTE = 12; // Samples.
  const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone; // Of all times on the page.
  const byId = (id) => document.getElementById(id);

  // ── What is known.

  const known = {
    begun: 0,
    next: 0,
    every: 5000,
    range: 180,
    times: [],
    tracks: new Map(), // Values by group and name, as many as times.
    now: {},
    over: {}, // Percentiles by range and group.
    config: {},
    of(group) {
      return [...(this.tracks.get(group) ?? [])].map(([name, values]) => [name, values.slice(-this.range)]);
    },
    // What came in the last so many samples, of a rate.
    sum(group, wanted, samples = this.range) {
      let sum = 0;
      for (const [name, values] of this.tracks.get(group) ?? []) {
        if (wanted !== undefined && name !== wanted) continue;
        for (let n = Math.max(0, values.length - samples); n < values.length; n += 1) {
          const since = n ? this.times[n] - this.times[n - 1] : this.every;
          if (Number.isFinite(values[n])) sum += values[n] * (since / 1000);
        }
      }
      return sum;
    },
    count(group, wanted, samples) {
      return Math.round(this.sum(group, wanted, samples));
    },
  };

  function forget(begun) {
    Object.assign(known, { begun, next: 0, times: [], now: {}, over: {}, config: {} });
    known.tracks.clear();
  }

  // Takes in samples that are new; says whether there were any.
  function learn(figures) {
    if (figures.begun !== known.begun) forget(figures.begun);
    if (figures.from !== known.next) forget(figures.begun);
    known.every = figures.every;
    known.next = figures.next;
    known.now = figures.now ?? {};
    known.over = figures.over ?? {};
    known.config = figures.config ?? {};
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
    const of = (id, text, more = "") => {
      say(byId(`tile-${id}`), text);
      say(byId(`more-${id}`), more);
    };
    // What has no track was nothing, once two samples are there.
    const ready = known.times.length > 1;
    const rate = (group) => `${shownOr(Number.isNaN(latest(group)) ? 0 : latest(group), "rate")} now`;
    const total = (id, group) => (ready ? of(id, whole(known.count(group)), rate(group)) : of(id, "–"));
    const p95 = (id, group) => {
      const now = lately(group, "p95");
      of(id, shownOr(known.over[known.range]?.[group], "seconds"), Number.isFinite(now) ? `${UNITS.seconds(now)} now` : "");
    };
    const [all, failed] = [known.count("status"), known.count("status", "5xx")];
    total("requests", "status");
    if (all > 0) of("errors", percent((100 * failed) / all), `${whole(failed)} of ${whole(all)}`);
    else of("errors", "–");
    p95("latency", "latency");
    p95("first", "first_byte");
    total("findings", "rule");
    total("tokens", "tokens");
    if (known.tracks.has("cost")) of("cost", dollars(known.sum("cost")), `${dollars((Number.isNaN(latest("cost")) ? 0 : latest("cost")) * 3600)}/h now`);
    else of("cost", "–");
    byId("tile-cost").title = known.tracks.has("cost") ? `$${known.sum("cost")}` : "";
    const most = known.of("in_flight").flatMap(([, values]) => values.filter(Number.isFinite)).reduce((a, b) => Math.max(a, b), 0);
    of("way", shownOr(latest("in_flight"), "count"), ready ? `${plain(most)} at the most` : "");
  }

  // How an upstream answers: of the last five minutes, and of the last one if it was asked within that.
  function health(one) {
    const within = (samples) => {
      const [failed, unsent] = [known.count("failures", one.name, samples), known.count("unsent", one.name, samples)];
      // A name without an address fails before there is an attempt.
      return { attempts: Math.max(known.count("attempts", one.name, samples), failed), failed, unsent };
    };
    const [all, lately] = [within(5 * MINUTE), within(MINUTE)];
    const { attempts, failed, unsent } = lately.attempts + lately.unsent ? lately : all;
    const nobody = (one.healthy ?? 0) === 0 && (one.unhealthy ?? 0) + (one.ejected ?? 0) > 0;
    const fails = one.circuit === "open" || nobody || (failed + unsent) * 2 > attempts + unsent;
    const why = [];
    if (all.failed) why.push(`${whole(all.failed)} of ${plural(all.attempts, "attempt")} in the last 5 minutes`);
    if (all.unsent) why.push(`${plural(all.unsent, "request")} not sent`);
    if (why.length === 0) why.push(one.circuit === "open" ? "its breaker is open" : "no healthy peer");
    return { ...all, fails, why: why.join(", ") };
  }

  let problems = null; // What is said to be wrong.

  function standing() {
    if (known.times.length === 0) return;
    const upstreams = known.now.upstreams ?? [];
    const failing = upstreams.map((one) => [one.name, health(one)]).filter(([, { fails }]) => fails);
    const said = [];
    if (failing.length) {
      const named = failing.slice(0, 5).map(([name, { why }]) => `${name}, ${why}`);
      if (failing.length > 5) named.push(`and ${failing.length - 5} more`);
      said.push([`✕ ${failing.length} of ${plural(upstreams.length, "upstream")} ${failing.length === 1 ? "fails" : "fail"}: ${named.join("; ")}`]);
    }
    const lost = known.count("store_errors", undefined, MINUTE);
    if (lost) said.push([`✕ The store fails: ${lost === 1 ? "once" : `${whole(lost)} times`} in the last minute`]);
    if (known.now.shared === false) said.push(["! The engine of shared limits does not answer: this node counts alone"]);
    if (known.config.unused) said.push(["! The changed configuration file is not in use: ", make("a", { href: "/configuration" }, "see why")]);
    tell(said);
  }

  // One line for each problem; it is read aloud only when something has changed.
  function tell(said) {
    const key = JSON.stringify(said);
    if (problems === key) return;
    problems = key;
    const lines = said.map((parts) => make("p", { class: "note look" }, ...parts));
    byId("health").replaceChildren(...(lines.length ? lines : [make("p", { class: "note" }, "✓ Takes traffic")]));
  }

  function facts() {
    const { version, started, held_limit: limit, tokens, shared } = known.now;
    const of = (id, text) => say(byId(`fact-${id}`), text);
    of("version", version ?? "–");
    of("uptime", started ? `${day(started * 1000)} ${clock(started * 1000)}` : "–");
    of("held", Number.isFinite(limit) ? bytes(limit) : "–");
    of("callers", Number.isFinite(tokens) ? `${whole(tokens)} within five minutes` : "–");
    of("shared", shared === undefined ? "no" : shared ? "✓ yes, and the engine answers" : "✕ the engine is gone: this node counts alone");
    states();
    rules();
  }

  // A row for each, of these kinds of cells; rows that are there stay.
  function fill(table, items, cells, write) {
    table.hidden = items.length === 0;
    const body = table.tBodies[0];
    while (body.children.length > items.length) body.lastChild.remove();
    items.forEach((item, n) => {
      const row = body.children[n] ?? body.appendChild(make("tr", {}, ...cells.map(([name, attributes]) => make(name, attributes))));
      write(item, [...row.children]);
    });
  }

  function states() {
    const upstreams = known.now.upstreams ?? [];
    byId("no-upstreams").hidden = upstreams.length > 0;
    const [text, number] = [["td", {}], ["td", { class: "number" }]];
    const tag = (cell, [tone, word]) => cell.textContent !== word && cell.replaceChildren(make("span", { class: tone === null ? "quiet" : `tag ${tone}` }, word));
    fill(byId("upstream-states"), upstreams, [["th", { scope: "row" }], text, number, number, text, number, number, number, number], (one, cells) => {
      const [{ attempts, failed, unsent, fails }, config] = [health(one), known.config.upstreams?.[one.name]];
      const state = fails ? ["look", "✕ fails"] : failed + unsent ? ["look", "! fails at times"] : attempts ? ["good", "✓ answers"] : [null, "not asked"];
      const breaker = { open: ["look", "✕ open"], half_open: ["look", "◐ half open"], closed: ["good", "✓ passing"] }[one.circuit] ?? [null, "–"];
      say(cells[0], one.name);
      tag(cells[1], state);
      tag(cells[4], config?.breaker === false ? [null, "no breaker"] : breaker);
      const checks = config?.checked === false ? "not checked" : whole(one.unhealthy ?? 0);
      [[2, whole(attempts)], [3, whole(failed)], [5, whole(one.healthy ?? 0)], [6, checks], [7, whole(one.ejected ?? 0)], [8, whole(one.in_flight ?? 0)]].forEach(([cell, value]) => say(cells[cell], value));
    });
  }

  function rules() {
    const counts = [...(known.tracks.get("rule")?.keys() ?? [])].map((name) => [name, known.count("rule", name)]).filter(([, count]) => count > 0);
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    counts.sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
    byId("no-findings").hidden = counts.length > 0;
    const number = ["td", { class: "number" }];
    fill(byId("rule-counts"), counts, [["th", { scope: "row" }], number, number], ([name, count], [rule, times, share]) => {
      if (rule.textContent !== name) rule.replaceChildren(requests.rule(name), bar());
      rule.querySelector("rect").setAttribute("width", (100 * count) / counts[0][1]);
      say(times, whole(count));
      say(share, percent((100 * count) / all));
    });
  }

  function bar() {
    const [svg, rect] = ["svg", "rect"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [key, value] of [["class", "bar"], ["viewBox", "0 0 100 4"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) svg.setAttribute(key, value);
    rect.setAttribute("height", "4");
    svg.append(rect);
    return svg;
  }

  // ── Asking.

  const drawn = [...document.querySelectorAll("figure.chart")].map((figure) => new Chart(figure, known));
  let paused = false;
  let timer = null;
  let failures = 0;
  let asking = false;
  let looked = -Infinity; // When figures were asked for last.
  let soon = false; // Whether requests come.

  function refresh() {
    for (const chart of drawn) chart.update();
    tiles();
    facts();
  }

  async function turn() {
    timer = null;
    asking = true;
    // There are no new figures before the next sample.
    const due = performance.now() - looked >= EVERY - SOON / 2;
    try {
      const [figures, answer] = await Promise.all([
        due ? ask(`/live/figures.json?since=${known.next}`) : null,
        ask(`/live/requests.json?after=${requests.last()}`),
      ]);
      failures = 0;
      if (paused) return;
      if (figures) {
        looked = performance.now();
        // A gateway that has begun anew counts from the beginning.
        const again = known.begun !== 0 && figures.begun !== known.begun && figures.from !== 0;
        if (again) {
          forget(figures.begun);
          looked = -Infinity;
        } else if (learn(figures)) {
          refresh();
        }
        standing();
      }
      soon = requests.take(answer);
      say(byId("state"), `as of ${clock(Date.now())}, ${ZONE}`);
    } catch {
      failures += 1;
      looked = -Infinity;
      say(byId("state"), "trying again");
      tell([["✕ The gateway does not answer"]]);
    } finally {
      asking = false;
      plan();
    }
  }

  function plan() {
    clearTimeout(timer);
    timer = null;
    const wait = Math.min(30000, (soon ? SOON : EVERY) * 2 ** Math.min(failures, 3));
    if (!asking && !paused && document.visibilityState === "visible") timer = setTimeout(turn, wait);
  }

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") plan();
    else if (!paused && !asking && timer === null) turn();
  });
  byId("pause").addEventListener("click", ({ currentTarget: button }) => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    say(button, paused ? "Go on" : "Pause");
    if (paused) say(byId("state"), `paused at ${clock(Date.now())}, ${ZONE}`);
    plan();
  });
  byId("range").addEventListener("change", ({ currentTarget }) => {
    known.range = Number(currentTarget.value);
    refresh();
  });
  known.range = Number(byId("range").value);
  watch(drawn);
  if (document.visibilityState === "visible") turn();
})();
