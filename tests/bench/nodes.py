#!/usr/bin/env python3
"""Three nodes while what they stand on dies: `tests/bench/nodes.py [BINARY] [--minutes 5] [--rate 500] [--usage 100000]`, with
PostgreSQL, redis-server or valkey-server, nginx (Debian), and the S3 service that tests/run installs (or $MOTO_SERVER).

First so many chats as fast as they go, and nothing dies: the sums of usage are exact. Then so many requests a second for so many
minutes, through a balancer with passive health checks: chats that are redacted and restored, whole and streamed, by keys and by
addresses; keys with rates, asked twice as often; keys with budgets, a new one every few seconds, until they are used up;
conversations; files that are put later. A node is killed every 30 s and started again a second later; the Valkey and the PostgreSQL
are each killed for 20 s and held still for 20 s, so that a kill falls into each (in less than four minutes: only one of both).

Prints what came of it, and every error by when it came. Ends with 1 if a rate was exceeded by over 5 %, a budget by more than one request
a node, if work was lost that was accepted, an answer went to another caller, a value got upstream, an error came that docs/operations.md
does not promise, usage is missing beyond what dead nodes had not written, or an audit log does not verify."""

import argparse
import asyncio
import collections
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients"))

import gateway as gateways  # noqa: E402
from nodes_callers import Callers, Files, request  # noqa: E402
from nodes_company import NODES, Company, Trouble  # noqa: E402
from nodes_mock import tokens_of  # noqa: E402

KEYS = 8
OPEN, MINUTE, TALK, RATES, BUDGETS = 0, 30, 31, 20, 100
# A rate: as it is written, how many in how many seconds, and how often a second it is asked.
RATE_LIMITS = [("20/1s", 20, 1, 40), ("60/10s", 60, 10, 12), ("300/1m", 300, 60, 10)]
# Of one caller in a minute.
MINUTE_LIMIT = 240
# A new key each so many seconds; how much it has, and what one request takes of it at the most.
BUDGET_EVERY = 5
BUDGET_LIMITS = [("60requests/month", 60, 1), ("1500tokens/month", 1500, tokens_of(12)[0] + tokens_of(6)[1])]
MOST = 12
# How often a second each of them is asked.
BUDGET_RATE = 16
# Seconds that a request without a token may take while the store is gone.
LONGEST_WAIT = 5
# What callers with rates and budgets are to get.
REFUSALS = ("429 rate_limit_exceeded", "429 insufficient_quota")
# Files that are put just before a kill, so that some of them are being cleaned then.
BURST = 6


def plan(seconds):
    """When what dies."""
    kills = [(at, "kill %d" % (n % NODES)) for n, at in enumerate(range(30, int(seconds) - 4, 30))]
    if seconds < 240:
        first = max(5, seconds * 0.25 - 10)
        return kills + [(first, "Valkey dies"), (max(first + 24, seconds * 0.7 - 10), "PostgreSQL hangs")]
    quarter = [(round(seconds * part / 30) * 30 - 10) for part in (0.2, 0.4, 0.6, 0.8)]
    return kills + list(zip(quarter, ["Valkey dies", "Valkey hangs", "PostgreSQL dies", "PostgreSQL hangs"]))


class Run:
    """One run against a company."""

    def __init__(self, company, asked):
        self.company, self.asked = company, asked
        self.callers = Callers(company.port)
        self.late = 0
        make = company.token
        self.keys = [make("chat%d" % n, "--route", "chat", "--label", "team=t%d" % n) for n in range(KEYS)]
        self.rated = [make("rate%d" % n, "--route", "chat", "--rate", row[0]) for n, row in enumerate(RATE_LIMITS)]
        self.minute, self.talk = make("minute", "--route", "minute"), make("talk", "--route", "chat")
        self.admin = make("admin", "--service", "token")
        self.files = Files(self.callers, make("files", "--service", "sanitize", "--service", "share"))
        self.budgets, self.checks = [], []

    # ── without deaths ────────────────────────────────────────────────────────────────────────────────────────────

    async def count(self, requests):
        left = iter(range(requests))

        async def one():
            for n in left:
                await self.callers.chat(1 + n % KEYS, "chat", self.keys[n % KEYS], streams=n % 10 == 0)

        began = time.monotonic()
        await asyncio.gather(*(one() for _ in range(32)))
        took = time.monotonic() - began
        await asyncio.sleep(3)
        self.first = self.sums()
        ok = self.callers.outcomes["chat"]
        print("%d chats in %.0f s without deaths (%.0f/s): %s" % (requests, took, requests / took, dict(ok)), flush=True)
        self.judge("usage without deaths", self.first["usage"] == self.first["mock"], "%(usage)s, of the upstream %(mock)s" % self.first)
        self.judge("audit without deaths", self.first["audit"] == self.first["mock"], "%(audit)s" % self.first)

    def sums(self):
        """Requests, tokens in and tokens out: as the upstream, the store and the audit logs have them."""
        told = self.company.mock.told()
        mock = tuple(sum(told[name].values()) for name in ("answered", "input", "output"))
        rows = [json.loads(row) for row in self.company.tool("usage", "--json", "--by", "route").splitlines()]
        usage = tuple(sum(row[name] for row in rows) for name in ("requests", "input_tokens", "output_tokens"))
        counted = collections.Counter()
        for node in self.company.nodes:
            for row in open(self.company.home / (node.name + ".jsonl"), encoding="utf-8", errors="replace"):
                # A line that a kill tore ends in the middle.
                if '"tokens":{' in row and row.endswith("}\n"):
                    tokens = json.loads(row)["tokens"]
                    counted.update(requests=1, input=tokens["input"], output=tokens["output"])
        return {"mock": mock, "usage": usage, "audit": tuple(counted[name] for name in ("requests", "input", "output")), "told": told}

    # ── with deaths ───────────────────────────────────────────────────────────────────────────────────────────────

    async def paced(self, rate, end, make, most=4000):
        """Open loop: so many a second, whatever comes back."""
        tasks, sent, began = set(), 0, time.monotonic()
        while (now := time.monotonic()) < end:
            while sent < (now - began) * rate:
                sent += 1
                if len(tasks) >= most:
                    self.late += 1
                    continue
                task = asyncio.ensure_future(make(sent))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.sleep(0.004)
        await asyncio.gather(*tasks)

    def chats(self, n):
        if n % 5 == 0:
            return self.callers.chat(OPEN, "open", "", streams=n % 50 == 0)
        return self.callers.chat(1 + n % KEYS, "chat", self.keys[n % KEYS], streams=n % 10 == 1)

    async def budget(self, number):
        """A key of its own, asked by four at once until it has been used up for a while."""
        text, limit, step = BUDGET_LIMITS[number % len(BUDGET_LIMITS)]
        amount = {"amount": text}
        body = json.dumps({"name": "budget%d" % number, "routes": ["chat"], "budgets": [amount]}).encode()
        status, answer = await self.callers.ask("tokens", request("POST", "/v1beta/token/create", self.admin, body))
        if status != 200:
            return
        key, account = json.loads(answer)["result"]["token"], BUDGETS + number
        row = {"account": account, "text": text, "limit": limit, "step": step, "passed": 0, "since": self.callers.now()}
        self.budgets.append(row)
        end = time.monotonic() + 25

        async def one():
            while time.monotonic() < end and time.monotonic() < self.over:
                status, body = await self.callers.chat(account, "chat", key, most=MOST)
                row["passed"] += status == 200
                if status == 429 and b"insufficient_quota" in body and "used_up" not in row:
                    row["used_up"] = self.callers.now()
                await asyncio.sleep(4 / BUDGET_RATE)

        await asyncio.gather(*(one() for _ in range(4)))

    async def all_budgets(self):
        tasks, number = [], 0
        while time.monotonic() + BUDGET_EVERY < self.over:
            tasks.append(asyncio.ensure_future(self.budget(number)))
            number += 1
            await asyncio.sleep(BUDGET_EVERY)
        await asyncio.gather(*tasks)

    async def bursts(self):
        """Large files at the moment when a node is killed."""
        for at, what in plan(60 * self.asked.minutes):
            if what.startswith("kill"):
                await asyncio.sleep(max(0, at - 0.6 - self.callers.now()))
                await asyncio.gather(*(self.files.one("/v1/sanitize", large=True) for _ in range(BURST)))

    async def polls(self):
        while time.monotonic() < self.over:
            await self.files.look()
            await asyncio.sleep(1)

    async def storm(self):
        callers, files = self.callers, self.files
        seconds = 60 * self.asked.minutes
        callers.began = time.monotonic()
        callers.wrong.clear()
        callers.took.clear()
        callers.outcomes.clear()
        callers.slowest.clear()
        self.over = end = callers.began + seconds
        self.trouble = Trouble(self.company, plan(seconds), callers.began)
        self.trouble.start()
        rates = [
            self.paced(row[3], end, lambda _, n=n: callers.chat(RATES + n, "chat", self.rated[n])) for n, row in enumerate(RATE_LIMITS)
        ]
        beside = sum(row[3] for row in RATE_LIMITS) + 6 + 2 + BUDGET_RATE * 25 / BUDGET_EVERY
        await asyncio.gather(
            self.paced(max(1, self.asked.rate - beside), end, self.chats),
            *rates,
            self.paced(6, end, lambda _: callers.chat(MINUTE, "minute", self.minute)),
            self.paced(1, end, lambda _: callers.conversation(TALK, self.talk)),
            self.paced(1, end, lambda n: files.one("/v1/sanitize" if n % 3 else "/share/v1/put")),
            self.all_budgets(),
            self.bursts(),
            self.polls(),
        )
        self.asked_for = sum(sum(row.values()) for row in callers.outcomes.values())
        await asyncio.to_thread(self.wait_for_trouble)
        await files.all_done(60)
        await asyncio.sleep(8)

    def wait_for_trouble(self):
        self.trouble.join(60)
        end = time.monotonic() + 40
        while time.monotonic() < end and any(event["to"] == float("inf") for event in self.trouble.events):
            time.sleep(0.1)

    # ── what came of it ───────────────────────────────────────────────────────────────────────────────────────────

    def judge(self, name, holds, figures):
        self.checks.append((name, holds, figures))

    def report(self):
        sums = self.sums()
        told, seconds = sums["told"], 60 * self.asked.minutes
        reached = collections.Counter({int(account): count for account, count in told["requests"].items()})
        self.errors()
        self.limits(reached, seconds, told)
        self.work(told)
        self.usage(sums)
        self.audit()

    def errors(self):
        callers, trouble = self.callers, self.trouble
        took = sorted(callers.took)
        at = lambda part: took[int(part * (len(took) - 1))] * 1e3  # noqa: E731
        print("\n%d requests in %g min (%.0f/s), %d not sent since too many were under way; answers: median %.1f ms, 99 %% %.0f ms, slowest %.0f ms" % (
            self.asked_for, self.asked.minutes, self.asked_for / 60 / self.asked.minutes, self.late, at(0.5), at(0.99), at(1)))
        for event in trouble.events:
            print("  %5.1f to %5.1f s: %s" % (event["from"], event["to"], event["what"]))
        print("\n%-10s %s" % ("asked for", "outcomes, and the slowest of each"))
        for kind, row in sorted(callers.outcomes.items()):
            print("%-10s %s" % (kind, ", ".join("%s: %d (%.1f s)" % (*pair, callers.slowest[kind, pair[0]]) for pair in row.most_common())))
        when = collections.Counter((outcome, trouble.during(until)) for _, until, _, outcome in callers.wrong if outcome not in REFUSALS)
        print("\n%-34s %-26s %s" % ("errors", "while (or just after) there was", "count"))
        for (outcome, during), count in sorted(when.items()):
            print("%-34s %-26s %6d" % (outcome, during, count))
        bad = sum(count for (outcome, during), count in when.items() if not promised(outcome, during))
        self.judge("errors beyond the docs", bad == 0, "%d" % bad)
        waited = callers.slowest["open", "200"]
        self.judge("callers without a token", waited <= LONGEST_WAIT, "waited %.1f s at the most, whatever was gone" % waited)
        self.judge("what died came back", not trouble.faults, ", ".join(trouble.faults) or "all")

    def limits(self, reached, seconds, told):
        for n, (text, times, per, asked) in enumerate(RATE_LIMITS):
            count, most, lasted = worst(told["times"].get(str(RATES + n), []), times, per)
            over = count / most - 1
            self.judge("rate %s" % text, over <= 0.05, "%d passed in all, %d asked for; at the worst %d in %.0f s, of %d allowed (%+.1f %%)" % (
                reached[RATES + n], asked * seconds, count, lasted, most, over * 100))
        minutes = {name: count for name, count in told["minutes"].items() if name.startswith("%d:" % MINUTE)}
        self.judge("budget of a minute", max(minutes.values(), default=0) <= MINUTE_LIMIT + NODES, "at the most %d of %d in a minute" % (
            max(minutes.values(), default=0), MINUTE_LIMIT))
        for text, limit, step in BUDGET_LIMITS:
            rows = [row for row in self.budgets if row["text"] == text]
            unit = "requests" if "requests" in text else "tokens"
            spent = lambda row: self.spent(row, unit, told)  # noqa: E731
            over = max((spent(row) - limit for row in rows), default=0)
            holds = all(spent(row) - limit <= (NODES + self.forgotten(row)) * step for row in rows)
            ended = [spent(row) / limit for row in rows if "used_up" in row]
            self.judge("budgets of %s" % text, holds, "%d keys, %d of them used up; the worst spent %d more; refused as used up after %s" % (
                len(rows), len(ended), over, ("%.0f %% at the least" % (100 * min(ended))) if ended else "-"))
            for row in rows:
                if spent(row) > limit or spent(row) < limit * 0.9 and "used_up" in row:
                    print("    budget %d of %s from %.0f s: spent %d, used up at %s, meanwhile %s" % (
                        row["account"], text, row["since"], spent(row), row.get("used_up"), self.trouble.during(row.get("used_up", row["since"]))))

    def forgotten(self, row):
        """How many requests nobody knows of that a node had let in which died while the engine was gone: a second's (docs/teams.md)."""
        end = row.get("used_up", row["since"] + 25)
        events = self.trouble.events
        gone = [event for event in events if event["what"].startswith("Valkey")]
        kills = [event["from"] for event in events if event["what"].startswith("kill") and row["since"] <= event["from"] <= end]
        both = [at for at in kills if any(event["from"] <= at <= event["to"] + 3 for event in gone)]
        return len(both) * (BUDGET_RATE // NODES + 1)

    def spent(self, row, unit, told):
        account = str(row["account"])
        return told["requests"].get(account, 0) if unit == "requests" else told["input"].get(account, 0) + told["output"].get(account, 0)

    def work(self, told):
        callers, files = self.callers, self.files
        self.judge("accepted files", not files.waiting and not files.wrong, "%d done, %d lost, %d wrong %s; the slowest after %.0f s" % (
            files.done, len(files.waiting), len(files.wrong), files.wrong[:3], files.slowest))
        self.judge("values of others", not callers.mixed, "%d answers %s" % (len(callers.mixed), callers.mixed[:2]))
        self.judge("values upstream", told["raw"] == 0, "%d %s" % (told["raw"], told["samples"][:1]))
        self.judge("sent twice upstream", told["twice"] == 0, "%d" % told["twice"])
        without = [row for row in callers.lost_values if "PostgreSQL" not in self.trouble.during(row[0])]
        self.judge("conversations", not without, "%d not restored, %d of them while there was a store" % (
            len(callers.lost_values), len(without)))

    def usage(self, sums):
        kills = [event for event in self.trouble.events if event["what"].startswith("kill")]
        missing = [there - here for there, here in zip(sums["mock"], sums["usage"])]
        unaudited = [there - here for there, here in zip(sums["mock"], sums["audit"])]
        # A second's requests of one node, and those under way; and all since the store was gone.
        batch = self.asked.rate / NODES * 1.2 + 10
        # Then only callers without a token pass, a fifth of all.
        gone = sum(self.gone_for(event["from"]) for event in kills) * self.asked.rate / NODES / 5
        self.judge("usage", 0 <= missing[0] <= batch * len(kills) + gone, "of %d requests %d are missing, %d tokens in, %d out; %d kills" % (
            sums["mock"][0], *missing, len(kills)))
        self.judge("usage that is audited", unaudited[0] >= 0 and unaudited[0] <= 10 * len(kills), "%d requests are in no audit log, %d tokens in, %d out" % tuple(unaudited))

    def gone_for(self, at):
        """For how many seconds there had been no store."""
        events = [event for event in self.trouble.events if event["what"].startswith("PostgreSQL")]
        return sum(at - event["from"] for event in events if event["from"] <= at <= event["to"])

    def audit(self):
        company, said = self.company, []
        codes = [node.stop() for node in company.nodes]
        self.judge("nodes end as told", not any(codes), "%s" % codes)
        for node in company.nodes:
            command = [company.binary, "audit", "verify", company.home / (node.name + ".jsonl")]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=gateways.environment())
            said.append((done.returncode, (done.stdout + done.stderr).strip().replace("\n", " ")))
        for n, (code, text) in enumerate(said):
            self.judge("audit of node%d" % (n + 1), code == 0, text)
        command = [company.binary, "audit", "verify", "--store", "-c", company.nodes[0].file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=gateways.environment())
        text = (done.stdout + done.stderr).strip().splitlines()[-1]
        count = lambda text: sum(map(int, re.findall(r"(\d+) lines", text)))  # noqa: E731
        whole = count(text) == sum(count(text) for _, text in said)
        self.judge("audit in the store", done.returncode == 0 and whole, text)


def worst(came, times, per):
    """Of the stretch in which most came beyond a share and what was due meanwhile: how many came, how many were allowed, how long it was.
    Nothing that was not used before, while there was no store, makes up for it."""
    level, begin, first, found = 0.0, 0.0, 0, (0, times, 0.0)
    most, before = float("-inf"), 0.0
    for at, now in enumerate(came):
        level -= (now - before) * times / per
        if level <= 0:
            level, begin, first = 0.0, now, at
        level, before = level + 1, now
        if level - times > most:
            most = level - times
            found = (at - first + 1, times + (now - begin) * times / per, now - begin)
    return found


def promised(outcome, during):
    """Whether docs/operations.md and docs/teams.md say so of this error at that time."""
    if outcome.endswith("without Retry-After"):
        return False
    if outcome.endswith("of the balancer") or outcome.startswith(("closed", "cut off")):
        return "kill" in during
    return outcome.startswith("503") and "PostgreSQL" in during


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", nargs="?", default=str(gateways.ROOT / "target/release/portcullis"))
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--usage", type=int, default=100_000)
    parser.add_argument("--keep", help="a folder for what the services leave behind")
    asked = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="portcullis-nodes-") as folder:
        home = Path(asked.keep or folder)
        home.mkdir(exist_ok=True)
        with Company(os.path.abspath(asked.binary), home, MINUTE_LIMIT) as company:
            run = Run(company, asked)

            async def all_of_it():
                await run.count(asked.usage)
                await run.storm()

            asyncio.run(all_of_it())
            run.report()
    print("\n%-28s %-5s %s" % ("what must hold", "", "figures"))
    for name, holds, figures in run.checks:
        print("%-28s %-5s %s" % (name, "ok" if holds else "FAILS", figures))
    return 0 if all(holds for _, holds, _ in run.checks) else 1


if __name__ == "__main__":
    sys.exit(main())
