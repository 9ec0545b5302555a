import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { beforeEach, expect, test, vi } from "vitest";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import { type InitOptions, runInit } from "../../cli/init/run-init.js";
import type { Pipeline } from "../../cli/init/template-project.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { leastNode } from "../../provider/kernel/node-version.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";
import { run } from "./session.js";

const template = join(__dirname, "../../examples/new-project");

/** Where a project is made, and the programs of a PATH of its own: new for each test. */
let folder: string;
let bin: string;
let env: { readonly PATH: string };

beforeEach(() => {
  [folder, bin] = [temporaryFolder(), temporaryFolder()];
  env = { PATH: `${bin}:/bin:/usr/bin` };
});

const made = (path: string): string => readFileSync(join(folder, path), "utf8");

/** By default, nothing is on PATH. */
const quiet = ({ env = { PATH: "" }, ...more }: Partial<InitOptions> = {}) => {
  let said = "";
  const progress = progressOn({
    write: (text) => {
      said += text;
    },
  });
  const options = { folder: join(folder, "shop"), progress };
  const everywhere = { XDG_CACHE_HOME: join(bin, "cache"), ...env };
  return { done: runInit({ ...options, ...more, env: everywhere }), said: () => said };
};

/** The commands that fetch the packages, where this checkout is what is to be fetched. */
const toFetch = [expect.stringMatching(/^npm pack .+ --ignore-scripts/), "npm install"];

test("a project has every file, its name in them, and nothing left to fill in", async () => {
  const { done, said } = quiet({ pipeline: "github", description: 'Chat: "web" & more' });
  const project = await done;
  const files = readdirSync(join(folder, "shop"), { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, "shop", path)).isFile())
    .sort();
  expect([...project.files].sort()).toEqual(files);
  const workflow = ".github/workflows/conversation.yml";
  for (const file of [".gitignore", "index.ts", "index.test.ts", workflow])
    expect(files).toContain(file);
  expect(files).not.toContain(".gitlab-ci.yml");
  for (const file of files) expect(made(`shop/${file}`)).not.toMatch(/\$\{(PROJECT|DESCRIPTION)\}/);
  expect(JSON.parse(made("shop/package.json"))).toMatchObject({
    name: "shop",
    description: 'Chat: "web" & more',
    // An older Node is refused in one sentence, before the test runner fails in its own way.
    scripts: { pretest: "pulumi-conversation --version" },
    engines: { node: `>=${leastNode}` },
  });
  expect(made("shop/Pulumi.yaml")).toMatch(/^name: shop\ndescription: "Chat: \\"web\\" & more"$/m);
  expect(made("shop/Pulumi.yaml")).not.toContain("template:");
  expect(statSync(join(folder, "shop/ci/report.sh")).mode & 0o111).not.toBe(0);
  expect(said()).toContain("pulumi is not on PATH");
});

test.each<[Pipeline, string | undefined]>([
  ["gitlab", ".gitlab-ci.yml"],
  ["none", undefined],
])("pipeline %s writes no other one", async (pipeline, file) => {
  const { files } = await quiet({ pipeline }).done;
  const found = files.filter((path) => /^(\.github|\.gitlab|ci)/.test(path));
  const scripts = readdirSync(join(template, "ci")).map((name) => `ci/${name}`);
  expect(found).toEqual(file ? [file, ...scripts.toSorted()] : []);
});

test.each([
  ["github", ".github/workflows/conversation.yml"],
  ["gitlab", ".gitlab-ci.yml"],
  ["none", undefined],
])(
  "after the next steps for pipeline %s, the file with what to set is named",
  async (kind, file) => {
    vi.stubEnv("PATH", env.PATH);
    vi.stubEnv("XDG_CACHE_HOME", bin);
    const options = ["--pipeline", kind, "--no-install"];
    const { out } = await run("init", join(folder, "shop"), ...options);
    const [, after = ""] = out.split("  npm run emulator -- pulumi up\n");
    const named =
      file && `For the pipeline, set the variables and secrets listed at the top of ${file}.`;
    expect(after.replace(/\s+/g, " ").trim()).toBe(named ?? "");
    for (const line of after.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  },
);

test("what is left is a next step", async () => {
  expect((await quiet().done).next).toEqual([
    ...toFetch,
    "pulumi stack init dev",
    "pulumi config set callbackSecret --secret",
    "npm test",
    "npm run emulator -- pulumi up",
  ]);
});

test("npm gets no secret", async () => {
  const secrets = {
    CONVERSATION_CLIENT_SECRET: "of-the-client",
    CONVERSATION_EU_CLIENT_SECRET: "of-another-client",
    CONVERSATION_REDIS_URL: "redis://:of-redis@redis",
    PULUMI_ACCESS_TOKEN: "of-pulumi",
    PULUMI_CONFIG_PASSPHRASE: "of-the-stack",
    PULUMI_CONFIG_PASSPHRASE_FILE: "of-a-file",
  };
  shellScript(join(bin, "npm"), `env >> ${join(bin, "npm")}.env`);
  await quiet({ env: { ...env, npm_config_registry: "r", ...secrets } }).done;
  const seen = readFileSync(join(bin, "npm.env"), "utf8");
  expect(seen).toContain("npm_config_registry=r");
  for (const value of Object.values(secrets)) expect(seen).not.toContain(value);
});

test("a Node that is too old for the new project is named, and one that a checkout brings is not it", async () => {
  const brought = join(bin, "node_modules", ".bin");
  mkdirSync(brought, { recursive: true });
  shellScript(join(brought, "node"), "echo v24.1.0");
  shellScript(join(bin, "node"), "echo v20.19.2");
  const PATH = `${brought}:${bin}:/bin`;
  const { done, said } = quiet({ env: { PATH }, noInstall: true });
  await done;
  expect(said()).toContain(
    `Node.js 20.19.2 (${join(bin, "node")}) on your PATH is older than ${leastNode}. Install Node.js ${leastNode} or later: https://nodejs.org\n`,
  );
  shellScript(join(bin, "node"), `echo v${leastNode}.0`);
  const fine = quiet({ folder: join(folder, "other"), env: { PATH }, noInstall: true });
  await fine.done;
  expect(fine.said()).not.toContain("on your PATH");
});

test.each(["2026", "true", "null", "1e3", "0x1f", "2026-11-28", "Yes", "off"])(
  "a name that YAML would not take for text is quoted: %s",
  async (name) => {
    await quiet({ folder: join(folder, name) }).done;
    expect(load(made(`${name}/Pulumi.yaml`))).toMatchObject({ name });
    expect(made(`${name}/Pulumi.yaml`)).toMatch(`name: "${name}"\n`);
  },
);

test("a folder with something in it is left as it is", async () => {
  mkdirSync(join(folder, "shop", ".git"), { recursive: true });
  await quiet().done;
  await expect(quiet().done).rejects.toThrow(/shop is not empty \(.*Nothing was written/);
});

test.each([
  ["shop", /^Cannot write to .*shop: ENOTDIR.*Specify a new folder/],
  ["shop/below", /^Cannot write to .*shop\/below: ENOTDIR.*Specify a new folder/],
])("where a file is in the way of %s, that is said with what to do", async (name, said) => {
  writeFileSync(join(folder, "shop"), "a file");
  const made = await run("init", join(folder, name), "--no-install");
  expect(made).toMatchObject({ code: 1, out: "" });
  expect(made.err.replace(/^error: /, "")).toMatch(said);
});

test.each([
  [["--name", "my shop"], '--name: "my shop" is not a valid name'],
  [["--pipeline", "jenkins"], "Allowed choices are github, gitlab, none"],
])("init %j is refused before anything is made", async (flags, text) => {
  const target = join(folder, "shop");
  const { code, err } = await run("init", target, ...flags);
  expect(code).toBe(2);
  expect(err).toContain(text);
  expect(readdirSync(folder)).toEqual([]);
});

test("a Pulumi that the quick start fetched is put on PATH by the next steps", async () => {
  const cached = join(bin, "cache/pulumi-conversation/pulumi", release.version, "bin");
  shellScript(join(cached, "pulumi"), "exit 0");
  const { next } = await quiet({ noInstall: true }).done;
  expect(next).toContain(`export PATH="${cached}:$PATH"`);
});

test("npm is quoted with its reason, not with where its log is", async () => {
  const lines = ["npm warn x", "npm error code E404", "npm error 404 Not Found - GET https://r/x"];
  const said = [...lines, "npm error A complete log of this run can be found in: /x.log"];
  shellScript(join(bin, "npm"), `echo '${said.join("\n")}' >&2`, "exit 1");
  const { done, said: shown } = quiet({ env });
  expect((await done).next.slice(0, 2)).toEqual(toFetch);
  expect(shown()).toContain("npm pack failed: 404 Not Found - GET https://r/x (");
});

test("stopped while npm fetches the packages, it says what is left", async () => {
  const stop = new AbortController();
  const fetching = join(bin, "fetching");
  shellScript(join(bin, "npm"), `: > ${fetching}`, "sleep 60");
  const { done } = quiet({ env, signal: stop.signal });
  await expect.poll(() => existsSync(fetching)).toBe(true);
  stop.abort();
  await expect(done).rejects.toMatchObject({
    message: expect.stringMatching(/^Interrupted\. The project in .+ is incomplete\. Remove it/),
    exitCode: 130,
  });
});
