import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { release } from "../../../cli/get-pulumi/get-pulumi.js";
import { folder, quiet, toFetch, useInitSandbox } from "./init-sandbox.js";

useInitSandbox();

const refused = async (text: string, emulator: boolean) => {
  mkdirSync(`${folder}-bin`);
  const script = `#!/bin/sh\necho '${text}' >&2\nexit 255\n`;
  writeFileSync(join(`${folder}-bin`, "pulumi"), script, { mode: 0o755 });
  const env = { PATH: `${folder}-bin:/bin:/usr/bin` };
  const { next } = await quiet({ env, install: false, ...(emulator ? { emulator } : {}) }).done;
  return next.slice(toFetch.length);
};

const passphrase = 'export PULUMI_CONFIG_PASSPHRASE="one of your own"';
const loggedOut =
  "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions";

test.each([
  ["nobody is logged in", loggedOut, true, ["pulumi login --local --non-interactive", passphrase]],
  ["nobody is logged in", loggedOut, false, ["pulumi login"]],
  ["there is no passphrase", "error: passphrase must be set with PULUMI_", true, [passphrase]],
])("where %s, that comes before the stack", async (_, text, emulator, first) => {
  const next = await refused(text, emulator);
  expect(next.slice(0, first.length + 1)).toEqual([...first, "pulumi stack init dev"]);
});

test.each([
  ["nobody is logged in", loggedOut],
  ["there is no passphrase", "error: passphrase must be set with PULUMI_"],
])("where %s, the stack comes later, and nothing has failed", async (_, text) => {
  mkdirSync(`${folder}-bin`);
  const script = `#!/bin/sh\necho '${text}' >&2\nexit 255\n`;
  writeFileSync(join(`${folder}-bin`, "pulumi"), script, { mode: 0o755 });
  const { done, said } = quiet({ env: { PATH: `${folder}-bin:/bin:/usr/bin` }, install: false });
  await done;
  expect(said()).toContain("Stack dev comes later: ");
  expect(said()).not.toMatch(/✗|not made whole/);
});

test("a stack of an earlier project with this name is selected, not made again", async () => {
  const next = await refused("error: stack 'organization/shop/dev' already exists", true);
  expect(next[0]).toBe("pulumi stack select dev");
});

test("a Pulumi that the quick start fetched makes the stack, and is put on PATH by the next steps", async () => {
  const cache = join(`${folder}-bin`, "cache");
  const bin = join(cache, "pulumi-conversation/pulumi", release.version, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "pulumi"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  const { stackMade, next } = await quiet({ emulator: true, install: false }).done;
  expect(stackMade).toBe(true);
  expect(next).toContain(`export PATH="${bin}:$PATH"`);
});

test("npm is quoted with its reason, not with where its log is", async () => {
  mkdirSync(`${folder}-bin`);
  const lines = ["npm warn x", "npm error code E404", "npm error 404 Not Found - GET https://r/x"];
  const said = [...lines, "npm error A complete log of this run can be found in: /x.log"];
  const script = `#!/bin/sh\necho '${said.join("\n")}' >&2\nexit 1\n`;
  writeFileSync(join(`${folder}-bin`, "npm"), script, { mode: 0o755 });
  const env = { PATH: `${folder}-bin:/bin:/usr/bin` };
  const { done, said: shown } = quiet({ emulator: true, env });
  expect((await done).next.slice(0, 2)).toEqual(toFetch);
  expect(shown()).toContain("npm pack failed: 404 Not Found - GET https://r/x (");
});
