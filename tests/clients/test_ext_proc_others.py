"""The clients of other providers through Envoy, as OpenAI's in test_ext_proc_openai.py; with `PORTCULLIS_ALL`."""

import os

import envoy
import pytest
import test_llm_anthropic as anthropic
import test_llm_google as google
import test_llm_others as others
import test_llm_wire as wire
from llm import Road

pytestmark = pytest.mark.skipif(not os.environ.get("PORTCULLIS_ALL"), reason="a test of --all: it takes minutes")


@pytest.fixture(params=envoy.PAIRS)
def road_to_llm(request, processed_ends):
    """In the place of the gateway itself: a listener of Envoy's."""
    upstream, running = processed_ends
    upstream.begin()
    return Road(envoy.Front(running.url(request.param)), upstream)


test_anthropic_streams = anthropic.test_streams
test_anthropic_answers = anthropic.test_whole_answers
test_anthropic_answers_in_codings = anthropic.test_whole_answers_in_codings
test_anthropic_signatures = anthropic.test_what_was_signed_goes_back_as_it_was
test_google_streams = google.test_streams
test_google_answers = google.test_whole_answers
test_streams_of_others = others.test_streams
test_answers_of_others = others.test_whole_answers
test_an_error_instead_of_an_answer_is_restored = wire.test_an_error_instead_of_an_answer_is_restored
test_an_error_inside_a_stream_comes_behind_what_was_held = wire.test_an_error_inside_a_stream_comes_behind_what_was_held
