"""OpenAI's client through Envoy, whose external processor the gateway is: every case of test_llm_openai.py, in each pair of
modes in which Envoy shows bodies."""

import envoy
import pytest
from llm import Road
from test_llm_openai import (  # noqa: F401
    test_other_prefixes,
    test_streams,
    test_the_same_surrogates_in_every_protocol_and_turn,
    test_whole_answers,
)


@pytest.fixture(params=envoy.PAIRS)
def road_to_llm(request, processed_ends):
    """In the place of the gateway itself: a listener of Envoy's."""
    upstream, running = processed_ends
    upstream.begin()
    return Road(envoy.Front(running.url(request.param)), upstream)
