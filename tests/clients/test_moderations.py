"""OpenAI's moderations at the end of a route, as its client reads them."""

import openai
import pytest
from gateway import MINIMAL, PATIENCE, Gateway, run

ROUTES = """
[[routes]]
name = "judge"
path = "/judge"
endpoint = "moderations"
auth = "token"

[[routes]]
name = "judge exactly"
path = "/exact/moderations"
endpoint = "moderations"
auth = "none"
redact = {{ rules = ["CREDIT_CARD"] }}
"""
MAIL, CARD = "jane.doe@harbour-post.com", "4111 1111 1111 1111"
PROMPT = "Mail %s, card %s; 日本 🦀" % (MAIL, CARD)


@pytest.fixture(scope="module")
def gateway():
    with Gateway("", MINIMAL + ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def judge(gateway):
    key = run("tokens", "create", "-c", gateway.file, "--route", "judge").out.strip()
    return openai.OpenAI(base_url=gateway.url + "/judge/v1", api_key=key, max_retries=0, timeout=20 * PATIENCE).moderations


def test_the_client_reads_every_category(judge):
    done = judge.create(input=PROMPT, model="omni-moderation-latest")
    [result] = done.results
    assert done.id.startswith("modr-") and done.model == "omni-moderation-latest" and result.flagged
    members = [one.model_dump(by_alias=True) for one in (result.categories, result.category_scores, result.category_applied_input_types)]
    own = {field.alias or name for name, field in openai.types.moderation.Categories.model_fields.items()}
    assert all(set(one) == own | {"pii"} for one in members)
    categories, scores, inputs = members
    assert inputs.pop("pii") == ["text"] and not any(inputs.values())
    assert [name for name, flagged in categories.items() if flagged] == ["pii"]
    assert 0 < scores.pop("pii") <= 1 and not any(scores.values())


def test_inputs_are_judged_apart_and_parts_together(judge):
    flagged = lambda given: [result.flagged for result in judge.create(input=given).results]
    assert flagged(["hello", MAIL, ""]) == [False, True, False]
    picture = {"type": "image_url", "image_url": {"url": "https://cats.example/1.png"}}
    assert flagged([{"type": "text", "text": "hello"}, picture]) == [False]
    assert flagged([{"type": "text", "text": "hello"}, picture, {"type": "text", "text": CARD}]) == [True]
    assert flagged("hello") == [False]


@pytest.mark.parametrize("given, at", [([], "/input"), ([MAIL, 5], "/input/1"), ([{"type": "text"}], "/input/0/text"), ([[1, 2]], "/input/0")])
def test_what_cannot_be_judged_is_told_as_openai_tells_it(judge, given, at):
    with pytest.raises(openai.BadRequestError) as refused:
        judge.create(input=given)
    assert at in refused.value.message and refused.value.type == "invalid_request_error" and MAIL not in str(refused.value)


def test_a_route_may_have_the_whole_path(gateway):
    post = lambda text: gateway.call("POST", "/exact/moderations", {"input": text}).json()["results"][0]["flagged"]
    assert post(CARD) and not post(MAIL)
    assert gateway.call("GET", "/exact/moderations").status == 405
