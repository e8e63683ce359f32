#!/usr/bin/env bash
# Makes a key in the vault, signs a token with it, has it verified, and prints what a route needs to sign with that key.
#
#   PORTCULLIS_URL=http://127.0.0.1:8080 PORTCULLIS_TOKEN=pts_… ./examples/curl/tokens.sh
set -euo pipefail

post() {
    curl -sS --fail-with-body "$PORTCULLIS_URL$1" -H "authorization: Bearer $PORTCULLIS_TOKEN" \
        -H 'content-type: application/json' -d "$2"
}

holds() { [[ $1 == *"$2"* ]] || { printf 'unexpected: %s\n' "$1" >&2; exit 1; }; }

# The text of a member whose value has no quotes in it.
member() { local rest=${1#*"\"$2\":\""}; printf '%s' "${rest%%\"*}"; }

made=$(post /v2/key/generate '{"type": "asymmetric_key", "purpose": "jwt", "algorithm": "ES256", "rotation_frequency": "90d"}')
key=$(member "$made" id)

signed=$(post /v2/jwt/sign "{\"id\": \"$key\", \"payload\": \"{\\\"sub\\\":\\\"jane\\\"}\"}")
token=$(member "$signed" jws)

holds "$(post /v2/jwt/verify "{\"jws\": \"$token\"}")" '"valid_signature":true'
holds "$(post /v2/jwt/verify "{\"jws\": \"${token%?????}AAAAA\"}")" '"valid_signature":false'

public=$(post /v2/jwk/get "{\"id\": \"$key\"}")
holds "$public" "\"kid\":\"$key|1\""

printf 'signed: %s\n\n' "$token"
cat <<TOML
# For a route that signs tokens for its upstream, and for the upstream to verify them by /.well-known/jwks.json:
[jwks]
items = ["$key"]

[routes.sign] # under a [[routes]] with an upstream
key = "$key"
issuer = "https://gateway.example.com"
audiences = ["service"]
claims = { via = "portcullis" }
TOML
