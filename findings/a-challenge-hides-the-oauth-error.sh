#!/usr/bin/env bash
# Guess: oauth4webapi tells why a token was refused by `error`, as in the answer's body (RFC 6749 §5.2), for 401 as for
# 400.
# Seen on 2026-11-30 (oauth4webapi 3.8.8): only if there is no WWW-Authenticate, which the same section demands of a 401
# to a client that used that header. With it, there is a challenge in place of `error`, and the body is not read, so
# that a wrong secret and a client that may not do this look the same.
. "$(dirname "$0")/common.bash"
use_package oauth4webapi 3.8.8
cat >token.mjs <<'JS'
import * as oauth from "oauth4webapi";
import { serve } from "./server.js";

const { server, url: issuer } = await serve((call, response) => {
  const [, status, challenge] = call.url.split("/");
  if (challenge) response.setHeader("www-authenticate", 'Basic realm="tokens"');
  response.writeHead(Number(status), { "content-type": "application/json" });
  response.end(JSON.stringify({ error: "invalid_client" }));
});
const client = { client_id: "shop" };
for (const path of ["400", "401", "401/challenge"]) {
  const service = { issuer, token_endpoint: `${issuer}/${path}` };
  const secret = oauth.ClientSecretBasic("made-up");
  const insecure = { [oauth.allowInsecureRequests]: true };
  const answer = await oauth.clientCredentialsGrantRequest(service, client, secret, {}, insecure);
  await oauth.processClientCredentialsResponse(service, client, answer).catch(({ code, error = "no error" }) =>
    console.log(`${path}: ${code} ${error} ${answer.bodyUsed ? "read" : "unread"}`),
  );
}
server.close();
JS

node token.mjs >seen.txt
expect "400" "$(sed -n 1p seen.txt)" "400: OAUTH_RESPONSE_BODY_ERROR invalid_client read"
expect "401" "$(sed -n 2p seen.txt)" "401: OAUTH_RESPONSE_BODY_ERROR invalid_client read"
expect "401 with a challenge" "$(sed -n 3p seen.txt)" "401/challenge: OAUTH_WWW_AUTHENTICATE_CHALLENGE no error unread"
