"""The clients of Ollama, Cohere and Mistral."""

import json

import cohere
import ollama
import pytest
from llm import PROMPT, STYLES, joined, read
from mistralai.client import Mistral

ASK = [{"role": "user", "content": PROMPT}]


def of_ollama(url):
    return ollama.Client(host=url, timeout=20)


def ollama_chat_stream(url):
    pieces, facts = [], []
    for chunk in of_ollama(url).chat(model="m-1", messages=ASK, stream=True):
        pieces += [("text", chunk.message.content), ("thought", chunk.message.thinking)]
        facts += chunk.message.tool_calls or []
    return joined(*pieces), facts, chunk.total_duration, chunk.eval_count, chunk.done_reason


def ollama_chat(url):
    return of_ollama(url).chat(model="m-1", messages=ASK).model_dump()


def ollama_generate_stream(url):
    pieces = []
    for chunk in of_ollama(url).generate(model="m-1", prompt=PROMPT, stream=True):
        pieces += [("text", chunk.response), ("thought", chunk.thinking)]
    return joined(*pieces), chunk.context, chunk.total_duration


def ollama_generate(url):
    return of_ollama(url).generate(model="m-1", prompt=PROMPT).model_dump()


def of_cohere(url):
    return cohere.ClientV2(api_key="sk-caller", base_url=url, timeout=20, max_retries=0)


def cohere_stream(url):
    pieces, facts = [], []
    for event in of_cohere(url).chat_stream(model="m-1", messages=ASK):
        data = event.model_dump(mode="json", exclude_none=True)
        message = (data.get("delta") or {}).get("message") or {}
        at = event.type + str(data.get("index", ""))
        match event.type:
            case "content-delta":
                pieces += [(at + name, text) for name, text in message["content"].items()]
            case "tool-plan-delta":
                pieces.append((at, message["tool_plan"]))
            case "tool-call-delta":
                pieces.append((at, message["tool_calls"]["function"]["arguments"]))
            case _:
                facts.append(data)
    return read(joined(*pieces), "tool-call"), facts


def arguments_read(calls):
    for call in calls:
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])


def cohere_whole(url):
    answer = of_cohere(url).chat(model="m-1", messages=ASK).model_dump(mode="json")
    arguments_read(answer["message"]["tool_calls"])
    return answer


def cohere_v1_stream(url):
    old = cohere.Client(api_key="sk-caller", base_url=url, timeout=20, max_retries=0)
    pieces, facts = [], []
    for event in old.chat_stream(model="m-1", message=PROMPT):
        data = event.model_dump(mode="json", exclude_none=True)
        if event.event_type == "text-generation":
            pieces.append(("text", data["text"]))
        else:
            facts.append(data)
    return joined(*pieces), facts


def of_mistral(url):
    return Mistral(api_key="sk-caller", server_url=url, timeout_ms=20_000)


def mistral_stream(url):
    pieces, facts = [], []
    for event in of_mistral(url).chat.stream(model="m-1", messages=ASK):
        [choice] = event.data.choices
        delta = choice.delta.model_dump(mode="json", exclude_none=True)
        content = delta.get("content") or ""
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            text = part["thinking"][0]["text"] if part["type"] == "thinking" else part["text"]
            pieces.append((part["type"], text))
        for call in delta.get("tool_calls") or []:
            pieces.append(("call.%d" % call["index"], call["function"]["arguments"]))
            assert call["function"]["name"] == "write_note" and call["id"].startswith("tc_41555526")
        facts += [choice.finish_reason] if choice.finish_reason else []
        facts += [event.data.usage.model_dump(mode="json")] if event.data.usage else []
    return read(joined(*pieces), "call"), facts


def mistral_whole(url):
    answer = of_mistral(url).chat.complete(model="m-1", messages=ASK).model_dump(mode="json")
    arguments_read(answer["choices"][0]["message"]["tool_calls"])
    return answer


def mistral_conversation(url):
    answer = of_mistral(url).beta.conversations.start(model="m-1", inputs=PROMPT).model_dump(mode="json")
    for output in answer["outputs"]:
        if output["type"] == "function.call":
            output["arguments"] = json.loads(output["arguments"])
    return answer


def mistral_conversation_stream(url):
    pieces, facts = [], []
    for event in of_mistral(url).beta.conversations.start_stream(model="m-1", inputs=PROMPT):
        data = event.data.model_dump(mode="json", exclude_none=True)
        if data["type"] == "message.output.delta":
            content = data["content"]
            text = content if isinstance(content, str) else content["text"]
            pieces.append(("text.%s" % data["content_index"], text))
        elif data["type"] == "function.call.delta":
            pieces.append(("call.%s" % data["output_index"], data["arguments"]))
        else:
            facts.append(data)
    return read(joined(*pieces), "call"), facts


STREAMS = [
    ollama_chat_stream,
    ollama_generate_stream,
    cohere_stream,
    cohere_v1_stream,
    mistral_stream,
    mistral_conversation_stream,
]
WHOLE = [ollama_chat, ollama_generate, cohere_whole, mistral_whole, mistral_conversation]
# Where two providers have one path.
SHAPES = {mistral_stream: "mistral_chat", mistral_whole: "mistral_chat"}


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
@pytest.mark.parametrize("call", STREAMS)
def test_streams(road_to_llm, call, style):
    road_to_llm.check(call, shape=SHAPES.get(call, ""), **style)


@pytest.mark.parametrize("call", WHOLE)
def test_whole_answers(road_to_llm, call):
    road_to_llm.check(call, shape=SHAPES.get(call, ""), coding="gzip")
