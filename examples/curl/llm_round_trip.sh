#!/usr/bin/env bash
# A prompt to a model and its answer back, by hand: the model never sees the address, its reader never misses it.
#
#   PORTCULLIS_URL=http://127.0.0.1:8080 PORTCULLIS_TOKEN=pts_… ./examples/curl/llm_round_trip.sh
set -euo pipefail

post() {
    curl -sS --fail-with-body "$PORTCULLIS_URL$1" -H "authorization: Bearer $PORTCULLIS_TOKEN" \
        -H 'content-type: application/json' -d "$2"
}

# One member of an answer whose values need no unescaping.
member() { sed -E "s/.*\"$1\":\"([^\"]*)\".*/\1/"; }

redacted=$(post /v1/redact '{"text": "Write to jane.doe@harbour-post.com", "llm_request": true}')
prompt=$(member redacted_text <<<"$redacted")
context=$(member fpe_context <<<"$redacted")
[[ $prompt == "Write to "*@*.com && $prompt != *jane* ]] || { printf 'unexpected: %s\n' "$redacted" >&2; exit 1; }

# What a model might make of it: other words around the address.
address=${prompt#Write to }
answer="Dear Jane, I have written to $address, as you asked."

restored=$(post /v1/unredact "{\"redacted_data\": \"$answer\", \"fpe_context\": \"$context\"}" | member data)
[[ $restored == "Dear Jane, I have written to jane.doe@harbour-post.com, as you asked." ]] ||
    { printf 'unexpected: %s\n' "$restored" >&2; exit 1; }

printf 'the model saw:  %s\nthe reader got: %s\n' "$prompt" "$restored"
