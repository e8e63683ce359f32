// Tokens between the vault and jose, both ways and with keys of either. PORTCULLIS_URL and PORTCULLIS_TOKEN say where.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as jose from "jose";

const ALGORITHMS = "ES256 ES384 ES512 RS256 RS384 RS512 PS256 PS384 PS512 EdDSA HS256 HS384 HS512".split(" ");

async function api(path, body) {
  const headers = { authorization: `Bearer ${process.env.PORTCULLIS_TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(process.env.PORTCULLIS_URL + path, { method: "POST", headers, body: JSON.stringify(body) });
  const { status, summary, result } = await answer.json();
  assert.equal(status, "success", `${path}: ${summary}`);
  return result;
}

const shared = (alg) => alg.startsWith("HS");
const facts = (alg) => ({ type: shared(alg) ? "symmetric_key" : "asymmetric_key", purpose: "jwt", algorithm: alg });
const claims = () => ({ iss: "https://gateway.example.com", aud: "service", sub: "jané", exp: Math.floor(Date.now() / 1000) + 60 });
const policy = (alg) => ({ algorithms: [alg], issuer: "https://gateway.example.com", audience: "service", typ: "JWT" });
const sign = async (id, payload = claims()) => (await api("/v2/jwt/sign", { id, payload: JSON.stringify(payload) })).jws;
const verifies = async (jws) => (await api("/v2/jwt/verify", { jws })).valid_signature;

/** The same token with another subject under the same signature. */
function forged(token) {
  const [header, , signature] = token.split(".");
  const payload = jose.base64url.encode(JSON.stringify({ ...claims(), sub: "root" }));
  return [header, payload, signature].join(".");
}

for (const alg of ALGORITHMS) {
  test(`${alg}: the vault's key, the vault signs, jose verifies`, async () => {
    const { id } = await api("/v2/key/generate", { ...facts(alg), exportable: true });
    const key = shared(alg)
      ? Buffer.from((await api("/v2/export", { id })).key, "base64")
      : jose.createLocalJWKSet(await api("/v2/jwk/get", { id, version: "all" }));
    const token = await sign(id);
    const { payload, protectedHeader } = await jose.jwtVerify(token, key, policy(alg));
    assert.deepEqual([payload.sub, protectedHeader], ["jané", { alg, kid: `${id}|1`, typ: "JWT" }]);
    await assert.rejects(jose.jwtVerify(forged(token), key, policy(alg)), jose.errors.JWSSignatureVerificationFailed);
  });

  test(`${alg}: the vault's key, jose signs, the vault verifies`, async () => {
    const { id } = await api("/v2/key/generate", { ...facts(alg), exportable: true });
    const out = await api("/v2/export", { id });
    const key = shared(alg) ? Buffer.from(out.key, "base64") : await jose.importPKCS8(out.private_key, alg);
    const token = await new jose.SignJWT(claims()).setProtectedHeader({ alg, kid: `${id}|1` }).sign(key);
    assert.equal(await verifies(token), true);
    assert.equal(await verifies(forged(token)), false);
    const stranger = shared(alg) ? Buffer.alloc(64, 7) : (await jose.generateKeyPair(alg)).privateKey;
    const strange = await new jose.SignJWT(claims()).setProtectedHeader({ alg, kid: `${id}|1` }).sign(stranger);
    assert.equal(await verifies(strange), false);
  });

  test(`${alg}: jose's key, stored in the vault`, async () => {
    let given, verifier;
    if (shared(alg)) {
      verifier = await jose.generateSecret(alg, { extractable: true });
      const { k } = await jose.exportJWK(verifier);
      given = { key: Buffer.from(k, "base64url").toString("base64") };
    } else {
      const pair = await jose.generateKeyPair(alg, { extractable: true });
      verifier = pair.publicKey;
      given = { private_key: await jose.exportPKCS8(pair.privateKey), public_key: await jose.exportSPKI(pair.publicKey) };
    }
    const { id } = await api("/v2/key/store", { ...facts(alg), ...given });
    const { payload } = await jose.jwtVerify(await sign(id), verifier, policy(alg));
    assert.equal(payload.sub, "jané");
  });
}
