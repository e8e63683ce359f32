"""Budgets of the configuration: of teams and models, hard and soft, and those that make no sense."""

import re

import pytest
from gateway import MINIMAL, Gateway, run
from llm_upstream import Upstream
from test_usage import CHAT, LOG, PRICES, ROUTES, line_of, token

BUDGETS = """
[[usage.budgets]]
name = "teams"
each = "label:team"
period = "month"
usd = 0.01

[[usage.budgets]]
name = "dear"
models = ["m-*"]
period = "day"
requests = 4
mode = "soft"
"""


OTHER = '''
[[routes]]
name = "other"
path = "/other"
upstream = "mock"
auth = "none"
provider = "generic"
'''


def test_what_names_no_model_counts_for_every_budget_of_models():
    config = MINIMAL + LOG + PRICES + BUDGETS.replace("soft", "hard") + OTHER + ROUTES
    with Upstream() as upstream, Gateway(upstream.url, config) as gateway:
        headers = {"authorization": "Bearer " + token(gateway, "--route", "keys", "--label", "team=red")}
        stored = {"prompt": {"id": "pmpt_1"}}
        got = []
        ask = lambda: got.append(gateway.call("POST", "/keys/v1/responses", stored, headers))
        line = line_of(gateway, ask)
        assert got[0].status == 200 and "dear;requests=4;" in got[0].headers["portcullis-budget-remaining"]
        assert line["cost_usd"] == "0.00312", "as the dearest of the prices has it"
        upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13",
                   "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
        answer = gateway.call("GET", "/keys/v1/realtime?model=m-1", None, headers | upgrade)
        assert answer.status == 403
        assert gateway.call("GET", "/keys/v1/models", None, headers).status == 404, "the mock has none"
        # What is no model's asks none, whoever has a budget of models.
        other = gateway.call("POST", "/other/tickets", {"title": "x"}, headers)
        assert "portcullis-budget-remaining" not in other.headers
        assert gateway.call("GET", "/other/socket", None, headers | upgrade).status != 403
        got.clear()
        line_of(gateway, ask)
        assert "dear;requests=3;" in got[0].headers["portcullis-budget-remaining"], "who only reads asks none"


def test_teams_have_budgets_and_soft_ones_let_pass():
    config = MINIMAL + LOG + PRICES + BUDGETS + ROUTES
    with Upstream() as upstream, Gateway(upstream.url, config) as gateway:
        red = [token(gateway, "--route", "keys", "--label", "team=red") for _ in range(2)]
        blue = token(gateway, "--route", "keys", "--label", "team=blue")

        def ask(key, model="m-1"):
            headers = {"authorization": "Bearer " + key}
            answers = []
            call = lambda: gateway.call("POST", "/keys/v1/chat/completions", {"model": model, **CHAT}, headers)
            # Until it is counted, an answer has taken what it may take at most.
            line_of(gateway, lambda: answers.append(call()))
            return answers[0]

        # 12 at 10 and 30 at 100 dollars a million: 0.00312 each, so that the fourth takes it beyond a cent.
        found = [ask(key).status for key in (red[0], red[1], red[0], red[1], red[0])]
        assert found == [200, 200, 200, 200, 429]
        assert ask(blue).status == 200, "the other team's is its own"
        answer = ask(blue, "unknown")
        assert answer.status == 200 and "teams;usd=0.00688;reset=" in answer.headers["portcullis-budget-remaining"]
        assert "dear" not in answer.headers["portcullis-budget-remaining"], "it is for other models"
        passed = re.search(r'portcullis_over_soft_budget_total\{budget="dear"\} (\d+)', gateway.metrics())
        assert int(passed[1]) == 1, "four were the budget, and five passed"


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ('[[usage.budgets]]\nname = "a"\nperiod = "day"\n', "needs one of `usd`, `tokens` and `requests`"),
        ('[[usage.budgets]]\nname = "a"\nperiod = "week"\ntokens = 1\n', "not a period"),
        ('[[usage.budgets]]\nname = "a"\nperiod = "day"\nusd = 1\n', "needs prices"),
        ('[[usage.budgets]]\nname = "a"\nperiod = "day"\ntokens = 1\nroutes = ["kays"]\n', "no route of this name"),
        ('[[usage.budgets]]\nname = "a"\nperiod = "day"\ntokens = 1\neach = "team"\n', "not who has a budget"),
        ('[[usage.budgets]]\nname = "a"\nperiod = "day"\ntokens = 1\n' * 2, "has this name already"),
        (
            '[[usage.budgets]]\nname = "a"\nperiod = "day"\ntokens = 1\neach = "token"\nroutes = ["all"]\n',
            "no route that this budget is for asks for a token",
        ),
        ('[[usage.prices]]\nmodel = "m"\ninput = -1\n', "not an amount of dollars"),
        ('[usage]\ncount = "some"\n', 'expected "bounded" or "all"'),
    ],
)
def test_budgets_that_make_no_sense_are_told_with_their_place(tmp_path, settings, complaint):
    file = tmp_path / "portcullis.toml"
    config = (MINIMAL + LOG + settings + ROUTES).replace("{home}", str(tmp_path))
    file.write_text(config.format(port=1, admin=2, upstream="http://127.0.0.1:3"))
    done = run("check", "-c", file)
    assert done.returncode == 3 and complaint in done.err and "portcullis.toml:" in done.err, done.err
