#!/usr/bin/env bash
# Guess: values are unknown in previews only, so in `up --skip-preview` a provider's diff gets real ones.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): before it deletes a resource that is deleted
# before it is replaced, the engine asks for the differences of each that depends on it, with what it will
# output as unknown. A dynamic provider gets a text for that, as in a preview: one that compares it finds a change,
# and the dependent, which does not change at all, is deleted and made anew.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async ({ name }) => ({ id: `id-${name}`, outs: { name, kept: "same" } }),
  diff: async (_, olds, news) => {
    if (news.name === "user") require("fs").appendFileSync(process.env.SERVICE, `diff ${news.uses}\n`);
    const changes = news.name === "user" ? news.uses !== "same" : news.value === "2";
    return { changes, replaces: changes ? ["uses"] : [] };
  },
  delete: async (id) => require("fs").appendFileSync(process.env.SERVICE, `delete ${id}\n`),
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props, options) {
    super(provider, name, { name, kept: undefined, ...props }, options);
  }
}
const used = new Thing("used", { value: process.env.VALUE }, { deleteBeforeReplace: true });
new Thing("user", { uses: used.kept });
JS

unknown=$(node -p 'require("@pulumi/pulumi").runtime.unknownValue')
for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export SERVICE=$folder/service-$engine
  quietly pulumi stack init "dev-$engine"
  VALUE=1 quietly pulumi up --yes --skip-preview
  VALUE=2 quietly pulumi up --yes --skip-preview
  expect "the first diff is with the text for unknown" "$(grep -m1 diff "$SERVICE")" "diff $unknown"
  expect "deletions" "$(grep delete "$SERVICE" | paste -sd,)" "delete id-user,delete id-used"
done
