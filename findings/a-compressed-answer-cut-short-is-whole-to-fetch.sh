#!/usr/bin/env bash
# Guess: `fetch` fails if what it decompresses ends in the middle, as with zlib in Node.js: it must not hand out a part
# of a text for all of it.
# Seen on 2026-11-30 (Node.js 22.19.0 and 24.21.0, undici 7.16.0 and 8.12.4): with gzip, deflate and br it does, where
# the answer as such is complete, as behind a server whose compression broke off. Only zstd is checked, and everything
# by undici's interceptor `decompress`.
. "$(dirname "$0")/common.bash"
cat >call.js <<'JS'
const { brotliCompressSync, deflateSync, gzipSync } = require("node:zlib");
const { Agent, fetch: fetchOfUndici, interceptors, request } = require("undici");
const { serve } = require("./server.js");
const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`).join("\n");
const served = serve((call, response) => {
  const encoding = call.url.slice(1);
  const whole = encodings[encoding](lines);
  const cut = whole.subarray(0, whole.length / 2);
  response.writeHead(200, { "content-encoding": encoding, "content-length": cut.length }).end(cut);
});
const dispatcher = interceptors.decompress && new Agent().compose(interceptors.decompress());
const ways = {
  fetch: async (url) => (await fetch(url)).text(),
  undici: async (url) => (await fetchOfUndici(url)).text(),
  ...(dispatcher && { decompress: async (url) => (await request(url, { dispatcher })).body.text() }),
};
served.then(async ({ url }) => {
  for (const [way, text] of Object.entries(ways)) {
    for (const encoding of Object.keys(encodings)) {
      const seen = await text(`${url}/${encoding}`).then(
        (got) => (got.length < lines.length && lines.startsWith(got) ? "a part" : "else"),
        (error) => error.code,
      );
      console.log(way, encoding, seen);
    }
  }
  process.exit();
});
JS
each() { printf "$1 %s $2\n" gzip deflate br | xargs; }

for seen in "22.19.0 7.16.0" "24.21.0 8.12.4"; do
  read -r node undici <<<"$seen"
  use_node "$node"
  use_package undici "$undici"
  node call.js >seen.txt 2>/dev/null
  for way in fetch undici; do expect "$way" "$(grep "^$way" seen.txt | xargs)" "$(each $way 'a part')"; done
  [ "$undici" = 7.16.0 ] || expect "decompress" "$(grep decompress seen.txt | xargs)" "$(each decompress Z_BUF_ERROR)"
done
