"""What was said before a value says what it is; numbers of houses are what they are."""

import json
import re

import anthropic
import openai
import pytest
from gateway import EVERY_PATH, Gateway
from mock_upstream import ReplyingMock

ANSWERS = [
    ("What is your social security number?", "536228726"),
    ("Please give me your password.", "Tr0ub4dor&3xy"),
    ("Sure. What is your passport number?", "C01X00T47"),
    ("And your bank account number?", "004412345678"),
    ("DB host db1, user app, password:", "Gx7!kkpw"),
]


@pytest.fixture(scope="module")
def ends():
    with ReplyingMock() as mock, Gateway(mock.url, EVERY_PATH) as gateway:
        yield gateway, mock


def chat(gateway, mock, messages, say):
    """What a model got, and what its caller got of what it said by `say`."""
    seen = []

    def reply(body):
        seen.append(body["messages"])
        message = {"role": "assistant", "content": say(body["messages"])}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    mock.reply = reply
    with openai.OpenAI(api_key="-", base_url=gateway.url + "/v1", max_retries=0) as client:
        answer = client.chat.completions.create(model="m", messages=messages)
    return seen[-1], answer.choices[0].message.content


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_an_answer_is_what_the_question_asked_for(ends, question, answer):
    asked = [{"role": "assistant", "content": question}, {"role": "user", "content": answer}]
    seen, said = chat(*ends, asked, lambda messages: "It is %s." % messages[-1]["content"])
    assert answer not in json.dumps(seen) and said == "It is %s." % answer
    # The same in the turns that follow.
    more = [*asked, {"role": "assistant", "content": "Thank you."}, {"role": "user", "content": "Is that all?"}]
    again, _ = chat(*ends, more, lambda messages: "Yes")
    assert again[:2] == seen


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
def test_a_label_may_end_the_part_before(ends, question, answer):
    gateway, mock = ends
    seen = []

    def reply(body):
        seen.append(body)
        said = [{"type": "text", "text": body["system"][1]["text"]}]
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": said, "usage": usage, "stop_reason": "end_turn"}

    mock.reply = reply
    system = [{"type": "text", "text": question}, {"type": "text", "text": answer}]
    with anthropic.Anthropic(api_key="-", base_url=gateway.url, max_retries=0) as client:
        told = client.messages.create(model="m", max_tokens=9, system=system, messages=[{"role": "user", "content": "Go on"}])
    assert answer not in json.dumps(seen) and told.content[0].text == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [("What is your password?", "I forgot it"), ("Your PIN?", "Certainly"), ("What is your SSN?", "no"), ("I reset the password.", "Gr8work")],
)
def test_what_answers_nothing_stays(ends, question, answer):
    asked = [{"role": "assistant", "content": question}, {"role": "user", "content": answer}]
    assert chat(*ends, asked, lambda messages: "ok")[0] == asked


FORMS = ["%s %s", "%s, %s", "%s %s Apt 3", '{"house_number": "%s", "street": "%s"}', "| %s | %s |"]


@pytest.mark.parametrize("form", FORMS)
def test_a_house_keeps_its_number(ends, form):
    street = "Maple Street"
    asked = [{"role": "user", "content": "Ship to Maria Lopez, 27 Maple Street, Guildford."}]

    def say(messages):
        name = re.search(r", 27 (\w+ Street),", messages[-1]["content"])[1]
        assert name != street
        return form % (27, name) + " or %s 27, 27 %s" % (name, name.replace("Street", "St."))

    _, said = chat(*ends, asked, say)
    assert said == form % (27, street) + " or Maple Street 27, 27 Maple St."


def test_few_digits_are_no_year_and_no_amount(ends):
    text = "Card CVV 123, PIN: 4711. In 4711.50 EUR, 2024-05-06; load(123)."

    def say(messages):
        cvv, pin = re.search(r"CVV (\d{3}), PIN: (\d{4})\.", messages[-1]["content"]).groups()
        assert (cvv, pin) != ("123", "4711")
        return "load({0}), CVV {0}, {1} is the PIN".format(cvv, pin)

    seen, said = chat(*ends, [{"role": "user", "content": text}], say)
    cvv, pin = re.search(r"CVV (\d{3}), PIN: (\d{4})\.", seen[-1]["content"]).groups()
    assert seen[-1]["content"] == f"Card CVV {cvv}, PIN: {pin}. In 4711.50 EUR, 2024-05-06; load({cvv})."
    assert said == "load(123), CVV 123, 4711 is the PIN"


@pytest.mark.parametrize("result", ["src/auth.rs", "exit-code:0", "getPassword1()"])
def test_results_of_tools_are_no_passwords(ends, result):
    asked = [
        {"role": "user", "content": "We saw %s yesterday." % result},
        {"role": "assistant", "content": "Let me grep for the password:"},
        {"role": "user", "content": result},
    ]
    assert chat(*ends, asked, lambda messages: "ok")[0] == asked
