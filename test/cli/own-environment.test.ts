import fc from "fast-check";
import { expect, test } from "vitest";
import { isolatedEnvironment } from "../../provider/pulumi-cli/pulumi-cli.js";
import { settingTable } from "../../provider/service/setting-table.js";
import { settingNames } from "../../provider/service/settings.js";

const settings = Object.keys(settingTable) as (keyof typeof settingTable)[];
const profile = fc.option(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/), { nil: undefined });

/** Every variable by which a shell may choose a stack, a backend, a program's options or an account. */
const leading = fc.oneof(
  fc
    .record({ key: fc.constantFrom(...settings), profile })
    .map(({ key, profile: of }) => settingNames(key, of).environment),
  fc
    .constantFrom("STACK", "BACKEND_URL", "CONFIG", "PARALLEL", "HOME", "CONFIG_PASSPHRASE_FILE")
    .map((name) => `PULUMI_${name}`),
  fc.stringMatching(/^[A-Z][A-Z_]{0,12}$/).map((name) => `PULUMI_OPTION_${name}`),
);

const other = fc.constantFrom("PATH", "HOME", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "MY_PULUMI_X");

test("nothing that leads to somebody's stack or account is left, and all else stays", () => {
  fc.assert(
    fc.property(fc.array(leading), fc.uniqueArray(other), (ways, others) => {
      const env = Object.fromEntries([...ways, ...others].map((name) => [name, "value"]));
      expect(Object.keys(isolatedEnvironment(env)).sort()).toEqual([...others].sort());
    }),
    { seed: 5, numRuns: 300 },
  );
});
