import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import type { Question } from "../../../cli/init/init-answers.js";
import type { Pipeline } from "../../../cli/init/template-project.js";
import { leastNode } from "../../../provider/kernel/node-version.js";
import { run } from "../session.js";
import { calls, folder, made, quiet, toFetch, useInitSandbox } from "./init-sandbox.js";

useInitSandbox();

test("the help tells what is asked, JSON and exit codes", async () => {
  const { out } = await run("init", "--help");
  for (const text of [
    "--emulator",
    "--pipeline",
    "JSON: {",
    "130 stopped",
    "Neither is ever an argument",
  ])
    expect(out).toContain(text);
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

test("a project has every file, its name in them, and nothing left to fill in", async () => {
  const { done, said } = quiet({ pipeline: "github", description: 'Chat: "web" & more' });
  const project = await done;
  const files = readdirSync(join(folder, "shop"), { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, "shop", path)).isFile())
    .sort();
  expect([...project.files].sort()).toEqual(files);
  for (const file of [
    ".gitignore",
    "index.ts",
    "index.test.ts",
    ".github/workflows/conversation.yml",
  ])
    expect(files).toContain(file);
  expect(files).not.toContain(".gitlab-ci.yml");
  for (const file of files) expect(made(`shop/${file}`)).not.toMatch(/\$\{(PROJECT|DESCRIPTION)\}/);
  expect(JSON.parse(made("shop/package.json"))).toMatchObject({
    name: "shop",
    description: 'Chat: "web" & more',
    // An older Node is told in one sentence, before the test runner fails in its own way.
    scripts: { pretest: "pulumi-conversation --version" },
    engines: { node: `>=${leastNode}` },
  });
  expect(made("shop/Pulumi.yaml")).toMatch(/^name: shop\ndescription: "Chat: \\"web\\" & more"$/m);
  expect(made("shop/Pulumi.yaml")).not.toContain("template:");
  expect(statSync(join(folder, "shop/ci/report.sh")).mode & 0o111).not.toBe(0);
  expect(said()).toContain("There is no pulumi on PATH");
});

test.each<[Pipeline, string | undefined]>([
  ["gitlab", ".gitlab-ci.yml"],
  ["none", undefined],
])("pipeline %s writes no other one", async (pipeline, file) => {
  const { files } = await quiet({ pipeline }).done;
  const found = files.filter((path) => /^(\.github|\.gitlab|ci)/.test(path));
  const scripts = [
    "comment.mjs",
    "deploy.sh",
    "destroy.sh",
    "open-stack.sh",
    "part.mjs",
    "report.sh",
  ];
  expect(found).toEqual(file ? [file, ...scripts.map((name) => `ci/${name}`)] : []);
});

test("what could not be done is a next step", async () => {
  expect((await quiet({ stack: "prod" }).done).next).toEqual([
    ...toFetch,
    "pulumi stack init prod",
    "pulumi config set shop:callbackSecret --secret --stack prod",
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
  const env = {
    PATH: `${`${folder}-bin`}:/bin:/usr/bin`,
    CONVERSATION_CLIENT_SECRET: "of-the-client",
  };
  const settings = { baseUrl: "https://hub.test/v3", clientId: "me" };
  const { next } = await quiet({ ...settings, env, install: false }).done;
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
    "pulumi config set --plaintext conversation:tokenUrl --stack dev",
    "npm test",
    "pulumi up",
  ]);
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
  for (const name of ["npm", "pulumi"]) calls(name);
  for (const name of ["npm", "pulumi"])
    writeFileSync(`${folder}-bin/${name}`, `#!/bin/sh\nenv >> ${folder}-bin/${name}.env\n`);
  const env = { PATH: `${folder}-bin:/bin:/usr/bin`, npm_config_registry: "r", ...secrets };
  await quiet({ baseUrl: "https://hub.test/v3", clientId: "me", env }).done;
  const seenBy = (name: string) => made(`../${basename(folder)}-bin/${name}.env`);
  expect(seenBy("npm")).toContain("npm_config_registry=r");
  for (const [name, value] of Object.entries(secrets)) {
    expect(seenBy("npm")).not.toContain(value);
    expect(seenBy("pulumi").includes(value)).toBe(name.startsWith("PULUMI_"));
  }
});

test("a Pulumi that refuses is quoted, and the project stays", async () => {
  calls("pulumi", 1);
  const env = { PATH: `${`${folder}-bin`}:/bin:/usr/bin` };
  const { done, said } = quiet({ emulator: true, env, install: false });
  const { stackMade, next } = await done;
  expect(stackMade).toBe(false);
  expect(said()).toContain("was not made whole");
  expect(next.at(-1)).toBe("npm run emulator -- pulumi up");
});

test("a person is asked for what is open, and asked again after a wrong answer", async () => {
  const answers = [
    "my shop",
    "shop",
    "dev",
    "http://hub.test/v3",
    "https://hub.test/v3",
    "",
    "",
    "",
    "",
    "gitlab",
  ];
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
    "Name of the project",
    "Name of the project",
    "First stack",
    "Base address of the service",
    "Base address of the service",
    "Token address of the client-credentials grant",
    "Identifier of the client application that calls the service",
    "Plan of the tenant",
    "Pipeline",
  ]);
  expect(files).not.toContain(".github/workflows/conversation.yml");
});

test("a folder with something in it is left as it is", async () => {
  mkdirSync(join(folder, "shop", ".git"), { recursive: true });
  await quiet().done;
  await expect(quiet().done).rejects.toThrow(/shop is not empty \(.*Nothing was made/);
});

test.each([
  ["shop", /shop is a file, and no folder\. Nothing was made\. Name a new folder/],
  [
    "shop/below",
    /^Making the project in .*shop\/below: it cannot be written: ENOTDIR.*Name another/,
  ],
])("where a file is in the way of %s, that is said with what to do", async (name, said) => {
  writeFileSync(join(folder, "shop"), "a file");
  const made = await run("init", join(folder, name), "--yes", "--emulator", "--no-install");
  expect(made).toMatchObject({ code: 1, out: "" });
  expect(made.err.replace(/^error: /, "")).toMatch(said);
});

test.each([
  [["--name", "my shop"], '--name: "my shop" does not do'],
  [["--stack", "a/b"], '--stack: "a/b" does not do'],
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
