import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { load } from "js-yaml";
import { beforeEach, expect, test, vi } from "vitest";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import { askPerson, type Question } from "../../cli/init/init-answers.js";
import { type InitOptions, runInit } from "../../cli/init/run-init.js";
import type { Pipeline } from "../../cli/init/template-project.js";
import { runProgram } from "../../cli/program.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { leastNode } from "../../provider/kernel/node-version.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";
import { recordedSession, run } from "./session.js";

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

/** A program that writes down how it was called, and with what input. */
const calls = (name: string, exitCode = 0): (() => string) => {
  const log = join(bin, `${name}.log`);
  shellScript(join(bin, name), `echo "$@" "<$(cat)>" >> ${log}`, `exit ${exitCode}`);
  return () => readFileSync(log, "utf8");
};

/** Nobody is asked, and nothing is on PATH. */
const quiet = ({ env = { PATH: "" }, ...more }: Partial<InitOptions> = {}) => {
  let said = "";
  const progress = progressOn({
    write: (text) => {
      said += text;
    },
  });
  const options = { folder: join(folder, "shop"), install: true, progress };
  const everywhere = { XDG_CACHE_HOME: join(bin, "cache"), ...env };
  return { done: runInit({ ...options, ...more, env: everywhere }), said: () => said };
};

/** The commands that fetch the packages, where this checkout is what is to be fetched. */
const toFetch = [expect.stringMatching(/^npm pack \S+ --ignore-scripts/), "npm install"];

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
    const options = ["--pipeline", kind, "--emulator", "--yes", "--no-install"];
    const { out } = await run("init", join(folder, "shop"), ...options);
    const [, after = ""] = out.split("  npm run emulator -- pulumi up\n");
    const named =
      file && `For the pipeline, set the variables and secrets listed at the top of ${file}.`;
    expect(after.replace(/\s+/g, " ").trim()).toBe(named ?? "");
    for (const line of after.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  },
);

test("what could not be done is a next step", async () => {
  expect((await quiet({ stack: "prod" }).done).next).toEqual([
    ...toFetch,
    "pulumi stack init prod",
    "pulumi config set shop:callbackSecret --secret --stack prod",
    "pulumi config set shop:callbackHost --stack prod",
    "pulumi config set shop:notificationEmail --stack prod",
    "pulumi config set conversation:baseUrl --stack prod",
    "pulumi config set --plaintext conversation:tokenUrl --stack prod",
    "pulumi config set conversation:clientId --stack prod",
    "pulumi config set conversation:clientSecret --secret --stack prod",
    "npm test",
    "pulumi up",
  ]);
});

test("secrets reach Pulumi through standard input, and no command line", async () => {
  const pulumi = calls("pulumi");
  const secret = { CONVERSATION_CLIENT_SECRET: "of-the-client" };
  const settings = { baseUrl: "https://hub.test/v3", clientId: "me", env: { ...env, ...secret } };
  const { done, said } = quiet({ ...settings, install: false });
  const { next } = await done;
  expect(said()).toContain("also set conversation:scope, to https://");
  const lines = pulumi().trim().split("\n");
  expect(lines.slice(0, 4)).toEqual([
    "stack init dev --non-interactive <>",
    "config set conversation:baseUrl --stack dev --plaintext --non-interactive <https://hub.test/v3>",
    "config set conversation:clientId --stack dev --plaintext --non-interactive <me>",
    "config set conversation:clientSecret --stack dev --secret --non-interactive <of-the-client>",
  ]);
  expect(lines[4]).toMatch(
    /^config set shop:callbackSecret --stack dev --secret --non-interactive <[\w-]{32}>$/,
  );
  expect(next).toEqual([
    ...toFetch,
    "pulumi config set shop:callbackHost --stack dev",
    "pulumi config set shop:notificationEmail --stack dev",
    "pulumi config set --plaintext conversation:tokenUrl --stack dev",
    "npm test",
    "pulumi up",
  ]);
});

test.each([
  ["/global/my-gateway/oauth2/v2.0/token", ["conversation:scope <https://hub.test/auth/.default>"]],
  ["/system/auth/shop-U/oauth2/token", []],
])("the token URL %s tells which scope the tenant has", async (path, scope) => {
  const pulumi = calls("pulumi");
  const urls = {
    baseUrl: "https://hub.test/conversation/v3",
    tokenUrl: `https://login.test${path}`,
  };
  const { done, said } = quiet({ ...urls, clientId: "me", env, install: false });
  const { next } = await done;
  const set = pulumi().replace(/ --stack dev --plaintext --non-interactive/g, "");
  expect(set.match(/conversation:scope .*/g) ?? []).toEqual(scope);
  expect(said() + next.join()).not.toContain("conversation:scope");
});

test("npm gets no secret, and Pulumi only its own", async () => {
  const secrets = {
    CONVERSATION_CLIENT_SECRET: "of-the-client",
    CONVERSATION_EU_CLIENT_SECRET: "of-another-client",
    CONVERSATION_REDIS_URL: "redis://:of-redis@redis",
    CONVERSATION_EU_REDIS_URL: "redis://:of-another-redis@redis",
    PULUMI_ACCESS_TOKEN: "of-pulumi",
    PULUMI_CONFIG_PASSPHRASE: "of-the-stack",
    PULUMI_CONFIG_PASSPHRASE_FILE: "of-a-file",
  };
  for (const name of ["npm", "pulumi"])
    shellScript(join(bin, name), `env >> ${join(bin, name)}.env`);
  const all = { ...env, npm_config_registry: "r", ...secrets };
  await quiet({ baseUrl: "https://hub.test/v3", clientId: "me", env: all }).done;
  const seenBy = (name: string) => readFileSync(join(bin, `${name}.env`), "utf8");
  expect(seenBy("npm")).toContain("npm_config_registry=r");
  for (const [name, value] of Object.entries(secrets)) {
    expect(seenBy("npm")).not.toContain(value);
    expect(seenBy("pulumi").includes(value)).toBe(name.startsWith("PULUMI_"));
  }
});

test("a Pulumi that refuses is quoted, and the project stays", async () => {
  calls("pulumi", 1);
  const { done, said } = quiet({ emulator: true, env, install: false });
  const { stackMade, next } = await done;
  expect(stackMade).toBe(false);
  expect(said()).toContain("is incomplete");
  expect(next.at(-1)).toBe("npm run emulator -- pulumi up");
});

test("a Node that is too old for the new project is named, and one that a checkout brings is not it", async () => {
  const brought = join(bin, "node_modules", ".bin");
  mkdirSync(brought, { recursive: true });
  shellScript(join(brought, "node"), "echo v24.1.0");
  shellScript(join(bin, "node"), "echo v20.19.2");
  const PATH = `${brought}:${bin}:/bin`;
  const { done, said } = quiet({ emulator: true, env: { PATH }, install: false });
  await done;
  expect(said()).toContain(
    `Node.js 20.19.2 (${join(bin, "node")}) on your PATH is older than ${leastNode}. Install Node.js ${leastNode} or later: https://nodejs.org\n`,
  );
  shellScript(join(bin, "node"), `echo v${leastNode}.0`);
  const other = { folder: join(folder, "other"), env: { PATH }, install: false };
  const fine = quiet({ ...other, emulator: true });
  await fine.done;
  expect(fine.said()).not.toContain("on your PATH");
});

test("on a terminal the line under way is redrawn, and nothing is red where nobody is logged in", async () => {
  const refusal =
    "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions";
  shellScript(join(bin, "pulumi"), `echo "${refusal}" >&2`, "exit 255");
  vi.stubEnv("PATH", env.PATH);
  vi.stubEnv("PULUMI_HOME", join(bin, "home"));
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  try {
    const { session, written } = recordedSession();
    const options = ["--emulator", "--yes", "--no-install"];
    await runProgram(["init", join(folder, "shop"), ...options], { ...session, coloured: true });
    expect(written.err).toContain("\r\u001b[K");
    for (const wrong of ["\\u00", "\u001b[31m", "✗"]) expect(written.err).not.toContain(wrong);
    expect(written.err).toContain("Stack dev was not created: you are not logged in to Pulumi.");
  } finally {
    process.stderr.isTTY = isTTY;
  }
});

test("a person is asked for what is open, and asked again after a wrong answer", async () => {
  const addresses = ["http://hub.test/v3", "https://hub.test/v3"];
  const answers = ["my shop", "shop", "dev", ...addresses, "", "", "", "", "gitlab"];
  const questions: string[] = [];
  const ask = async ({ text, proposal, problem }: Question): Promise<string> => {
    for (;;) {
      const answer = answers.shift() ?? "";
      questions.push(text);
      const taken = answer || (proposal ?? "");
      if (!problem?.(taken)) return taken;
    }
  };
  const { files, name } = await quiet({ ask }).done;
  expect(name).toBe("shop");
  expect(questions.map((text) => text.replace(/[,(].*/, "").trim())).toEqual([
    "Project name",
    "Project name",
    "First stack",
    "Base URL of the service",
    "Base URL of the service",
    "Token URL for the client credentials grant",
    "ID of the client that calls the service",
    "Scope of a commercial tenant",
    "The tenant's plan",
    "Pipeline",
  ]);
  expect(files).not.toContain(".github/workflows/conversation.yml");
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
  await expect(quiet().done).rejects.toThrow(/shop is not empty \(.*Nothing was created/);
});

test.each([
  ["shop", /shop is a file, not a folder\. Nothing was created\. Specify a new folder/],
  ["shop/below", /^Cannot write the project to .*shop\/below: ENOTDIR.*Specify another/],
])("where a file is in the way of %s, that is said with what to do", async (name, said) => {
  writeFileSync(join(folder, "shop"), "a file");
  const made = await run("init", join(folder, name), "--yes", "--emulator", "--no-install");
  expect(made).toMatchObject({ code: 1, out: "" });
  expect(made.err.replace(/^error: /, "")).toMatch(said);
});

test.each([
  [["--name", "my shop"], '--name: "my shop" is not a valid name'],
  [["--stack", "a/b"], '--stack: "a/b" is not a valid name'],
  [["--base-url", "https://hub.test/v2"], "--base-url: "],
  [["--plan", "gold"], "--plan: "],
  [["--emulator", "--base-url", "https://hub.test/v3"], "either --emulator or"],
  [["--pipeline", "jenkins"], "Allowed choices are github, gitlab, none"],
])("init %j is refused before anything is made", async (flags, text) => {
  const target = join(folder, "shop");
  const { code, err } = await run("init", target, ...flags, "--yes");
  expect(code).toBe(2);
  expect(err).toContain(text);
  expect(readdirSync(folder)).toEqual([]);
});

const refused = async (text: string, emulator: boolean) => {
  shellScript(join(bin, "pulumi"), `echo '${text}' >&2`, "exit 255");
  const given = { env, install: false, ...(emulator ? { emulator } : {}) };
  const { done, said } = quiet(given);
  return { next: (await done).next.slice(toFetch.length), said: said() };
};

const passphrase = 'export PULUMI_CONFIG_PASSPHRASE="your own passphrase"';
const loggedOut =
  "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions";

test.each([
  ["nobody is logged in", loggedOut, true, ["pulumi login --local --non-interactive", passphrase]],
  ["nobody is logged in", loggedOut, false, ["pulumi login"]],
  ["there is no passphrase", "error: passphrase must be set with PULUMI_", true, [passphrase]],
])(
  "if %s, that comes first, the stack later, and nothing has failed",
  async (_, text, emulator, first) => {
    const { next, said } = await refused(text, emulator);
    expect(next.slice(0, first.length + 1)).toEqual([...first, "pulumi stack init dev"]);
    expect(said).toContain("Stack dev was not created: ");
    expect(said).not.toMatch(/✗|incomplete/);
  },
);

test("a stack of an earlier project with this name is selected, not made again", async () => {
  const { next } = await refused("error: stack 'organization/shop/dev' already exists", true);
  expect(next[0]).toBe("pulumi stack select dev");
});

test("a Pulumi that the quick start fetched makes the stack, and is put on PATH by the next steps", async () => {
  const cached = join(bin, "cache/pulumi-conversation/pulumi", release.version, "bin");
  shellScript(join(cached, "pulumi"), "exit 0");
  const { stackMade, next } = await quiet({ emulator: true, install: false }).done;
  expect(stackMade).toBe(true);
  expect(next).toContain(`export PATH="${cached}:$PATH"`);
});

test("npm is quoted with its reason, not with where its log is", async () => {
  const lines = ["npm warn x", "npm error code E404", "npm error 404 Not Found - GET https://r/x"];
  const said = [...lines, "npm error A complete log of this run can be found in: /x.log"];
  shellScript(join(bin, "npm"), `echo '${said.join("\n")}' >&2`, "exit 1");
  const { done, said: shown } = quiet({ emulator: true, env });
  expect((await done).next.slice(0, 2)).toEqual(toFetch);
  expect(shown()).toContain("npm pack failed: 404 Not Found - GET https://r/x (");
});

/** A person at a terminal, who types what is called for. */
const person = (signal?: AbortSignal) => {
  const keys = new PassThrough();
  let seen = "";
  const shown = {
    write: (text: string | Uint8Array) => {
      seen += Buffer.from(text).toString();
    },
  };
  // Without what moves the cursor.
  const plain = () => stripVTControlCharacters(seen);
  return { keys, ask: askPerson(keys, shown, signal), seen: plain };
};

test("each key is shown once, however many questions came before", async () => {
  const { keys, ask, seen } = person();
  for (let number = 1; number <= 12; number += 1) {
    const answer = ask({ text: `Question ${number}` });
    for (const key of `shop${number}`) keys.write(key);
    keys.write("\r");
    expect(await answer).toBe(`shop${number}`);
  }
  expect(seen().match(/shop12/g)).toHaveLength(1);
  expect(seen()).not.toMatch(/(.)\1\1/);
  expect(keys.listenerCount("keypress")).toBe(0);
});

test("a wrong answer is explained and asked for again; no answer means the proposal", async () => {
  const { keys, ask, seen } = person();
  const problem = (answer: string) => (answer === "bad" ? "Not that one." : undefined);
  const answer = ask({ text: "Stack", proposal: "dev", problem });
  keys.write("bad\r");
  await new Promise(setImmediate);
  keys.write("\r");
  expect(await answer).toBe("dev");
  expect(seen()).toContain("  Not that one.\n");
});

test("a secret is never shown", async () => {
  const { keys, ask, seen } = person();
  const answer = ask({ text: "Secret", secret: true });
  keys.write("s3cret\r");
  expect(await answer).toBe("s3cret");
  expect(seen()).not.toContain("s3cret");
});

test.each([
  ["Ctrl-C", "\x03"],
  ["Ctrl-D", "\x04"],
])("%s stops", async (_, key) => {
  const { keys, ask } = person();
  const answer = ask({ text: "Name" });
  keys.write(key);
  await expect(answer).rejects.toMatchObject({
    message: "Interrupted. Nothing was created.",
    exitCode: 130,
  });
});

test("a signal stops a question, too: nobody has to answer it first", async () => {
  const stop = new AbortController();
  const { keys, ask } = person(stop.signal);
  const refused = expect(ask({ text: "Name" })).rejects.toThrow();
  stop.abort("SIGTERM");
  await new Promise(setImmediate);
  keys.write("shop\r");
  await refused;
  await expect(ask({ text: "Stack" })).rejects.toThrow();
  expect(keys.listenerCount("keypress")).toBe(0);
});

test("stopped while npm fetches the packages, it makes no stack and says what is left", async () => {
  const stop = new AbortController();
  const fetching = join(bin, "fetching");
  shellScript(join(bin, "npm"), `: > ${fetching}`, "sleep 60");
  const pulumi = calls("pulumi");
  const { done } = quiet({ env, signal: stop.signal });
  await expect.poll(() => existsSync(fetching)).toBe(true);
  stop.abort();
  await expect(done).rejects.toMatchObject({
    message: expect.stringMatching(/^Interrupted\. The project in \S+ is incomplete\. Remove it/),
    exitCode: 130,
  });
  expect(pulumi).toThrow("ENOENT");
});
