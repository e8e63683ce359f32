"""Results of batches: what names things in the answers of their lines stays as in an answer by itself, also where all that a model
says is looked through (`invented = "mask"`, `answers = "mask"`). Providers call such files bytes."""

import json

import pytest
from anthropic import Anthropic
from gateway import MINIMAL, Gateway
from google import genai
from llm_upstream import Answers, Upstream
from mistralai.client import Mistral
from openai import OpenAI

ROUTE = """
[[routes]]
name = "%s"
path = "/%s"
strip_prefix = true
upstream = "provider"
auth = "none"
redact = {{ %s }}
"""
ROUTES = [("plain", ""), ("masked", 'invented = "mask"'), ("both", 'requests = "mask", answers = "mask"')]
CONFIG = MINIMAL + '[upstreams.provider]\npeers = ["{upstream}"]\n' + "".join(ROUTE % (name, name, how) for name, how in ROUTES)

LEAK = "jane.roe@harbour-post.com"
STARS = "*" * len(LEAK)
SIGNATURE = "EqQB" + "aZ09" * 40
CALL = {"id": "call_4f8Zr2Q9s7LdKw31aBcXyT0u", "type": "function", "function": {"name": "Jordan", "arguments": json.dumps({"to": LEAK})}}
CHAT = {
    "id": "chatcmpl-9XTrGdYc4KpqV1fNf8zQwE7h2LmAa", "object": "chat.completion", "created": 1711471533,
    "model": "ft:gpt-4o-mini-2024-07-18:jane-doe-labs:mia:9abcdEF1", "system_fingerprint": "fp_44709d6fcb", "service_tier": "default",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Mail " + LEAK, "tool_calls": [CALL]}, "finish_reason": "content_filter"}],
    "usage": {"prompt_tokens": 4155552671, "completion_tokens": 1234567, "total_tokens": 20},
}
RESPONSE = {
    "id": "resp_68123456789abcdef0123456789abcdef012345678", "object": "response", "created_at": 1741476542, "status": "completed", "model": "gpt-4.1-2025-04-14",
    "output": [{"type": "message", "id": "msg_67ccd3acc8d48190a77525dc6de64b41", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Mail " + LEAK}]},
               {"type": "function_call", "id": "fc_67ccd3acc8d48190", "call_id": CALL["id"], "name": "Jordan", "status": "completed", "arguments": json.dumps({"to": LEAK})}],
}
MESSAGE = {
    "id": "msg_014VwiXbi91y3JMjcpyGBHX5", "type": "message", "role": "assistant", "model": "claude-opus-4-1-20250805", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "text", "text": "Mail " + LEAK}, {"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9", "name": "Jordan", "input": {"to": LEAK}}],
    "usage": {"input_tokens": 4155552671, "output_tokens": 34, "service_tier": "batch"},
}
GENERATED = {
    "candidates": [{"content": {"parts": [{"text": "Mail " + LEAK, "thoughtSignature": SIGNATURE}, {"functionCall": {"id": "fc_9a8b7c6d", "name": "Jordan", "args": {"to": LEAK}}}], "role": "model"},
                    "finishReason": "PROHIBITED_CONTENT", "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]}],
    "modelVersion": "gemini-2.5-flash-001", "responseId": "mKqfaLiYEcTjz7IP5pS1sQ4", "usageMetadata": {"promptTokenCount": 11},
}


def line(body, **more):
    return {"id": "batch_req_wnaDysQ3", "custom_id": "request-3", "response": {"status_code": 200, "request_id": "req_c187b3c4", "body": body}, "error": None} | more


LINES = {
    "/v1/files/file-1/content": [line(CHAT), line(RESPONSE), line({"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.0023064255, 1234567.25]}], "model": "text-embedding-3-small"})],
    "/v1/files/f2/content": [line(CHAT | {"model": "mistral-large-2411", "id": "cmpl-e5cc70bb28c444948073e77776eb30ef"})],
    "/v1/files/g1:download": [{"key": "request-7", "response": GENERATED}],
    "/v1/messages/batches/msgbatch_1/results": [{"custom_id": "request-3", "result": {"type": "succeeded", "message": MESSAGE}}],
}
INLINED = {"inlinedResponses": {"inlinedResponses": [{"metadata": {"key": "k1"}, "response": GENERATED}]}}
JOBS = {
    "/v1/batches/b1": {"name": "batches/b1", "metadata": {"model": "models/gemini-2.5-flash", "state": "BATCH_STATE_SUCCEEDED", "output": INLINED, "name": "batches/b1"}, "done": True, "response": INLINED},
    "/v1/batch/jobs/j1": {"id": "j1", "object": "batch", "status": "SUCCESS", "model": "mistral-small-latest", "endpoint": "/v1/chat/completions", "input_files": ["a8a6f6a4-4155-5526-7100-1d3d8d4d0d4d"],
                          "created_at": 1732805532, "total_requests": 4155552671, "completed_requests": 1, "succeeded_requests": 1, "failed_requests": 0, "errors": [], "outputs": [line(CHAT)]},
}


class Done(Answers):
    """It has the results of every batch."""

    def answer(self, came):
        path = self.path.partition("?")[0]
        path = path.replace("/v1beta/", "/v1/")
        if path in LINES:
            return self.send(200, "application/octet-stream", "".join(json.dumps(one) + "\n" for one in LINES[path]).encode())
        if path == "/v1/messages/batches/msgbatch_1":
            job = {"id": "msgbatch_1", "type": "message_batch", "processing_status": "ended", "results_url": "https://api.anthropic.com/v1/messages/batches/msgbatch_1/results",
                   "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-02T00:00:00Z", "request_counts": dict.fromkeys(["canceled", "errored", "expired", "processing", "succeeded"], 1)}
            return self.say(200, job)
        return self.say(200, JOBS[path]) if path in JOBS else self.say(404, {"error": {"message": "no such path: " + path}})


@pytest.fixture(scope="module")
def ends():
    with Upstream(handler=Done) as upstream, Gateway(upstream.url, CONFIG) as gateway:
        yield gateway


def masked(value):
    return json.loads(json.dumps(value).replace(LEAK, STARS))


def openai_file(url):
    text = OpenAI(api_key="-", base_url=url + "/v1", max_retries=0).files.content("file-1").text
    return [json.loads(one) for one in text.splitlines()], LINES["/v1/files/file-1/content"], False


def mistral_file(url):
    raw = Mistral(api_key="k", server_url=url).files.download(file_id="f2").read()
    return [json.loads(one) for one in raw.decode().splitlines()], LINES["/v1/files/f2/content"], False


def mistral_job(url):
    job = Mistral(api_key="k", server_url=url).batch.jobs.get(job_id="j1", inline=True).model_dump(mode="json")
    wanted = JOBS["/v1/batch/jobs/j1"]
    told = {name: job[name] for name in ("id", "status", "model", "input_files", "total_requests")}
    assert told == {name: wanted[name] for name in told}
    return job["outputs"], wanted["outputs"], False


def gemini_file(url):
    client = genai.Client(api_key="k", http_options={"base_url": url})
    raw = client.files.download(file="files/g1")
    return [json.loads(one) for one in raw.decode().splitlines()], LINES["/v1/files/g1:download"], False


def gemini_inlined(url, version="v1"):
    client = genai.Client(api_key="k", http_options={"base_url": url, "api_version": version})
    job = client.batches.get(name="batches/b1")
    assert (job.name, job.state.name, job.model) == ("batches/b1", "JOB_STATE_SUCCEEDED", "models/gemini-2.5-flash")
    [one] = job.dest.inlined_responses
    candidate = one.response.candidates[0]
    text, call = candidate.content.parts
    assert (candidate.finish_reason.name, one.response.model_version, one.response.response_id) == ("PROHIBITED_CONTENT", "gemini-2.5-flash-001", GENERATED["responseId"])
    return [text.text, call.function_call.name, call.function_call.args], ["Mail " + LEAK, "Jordan", {"to": LEAK}], True


def gemini_inlined_beta(url):
    return gemini_inlined(url, "v1beta")


def anthropic_lines(url):
    client = Anthropic(api_key="k", base_url=url, max_retries=0)
    got = [one.model_dump(mode="json", exclude_unset=True) for one in client.messages.batches.results("msgbatch_1")]
    return got, LINES["/v1/messages/batches/msgbatch_1/results"], True


CALLS = [openai_file, mistral_file, mistral_job, gemini_file, gemini_inlined, gemini_inlined_beta, anthropic_lines]


@pytest.mark.parametrize("route", [name for name, _ in ROUTES])
@pytest.mark.parametrize("call", CALLS)
def test_names_in_lines_stay_and_what_a_model_says_is_masked(ends, call, route):
    got, told, always = call("%s/%s" % (ends.url, route))
    assert got == (masked(told) if always or route != "plain" else told)
