import { execFile } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { load } from "js-yaml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exitsOf } from "../../cli/command.js";
import type { DriftResult } from "../../cli/drift/drift.js";
import { driftMarkdown } from "../../cli/drift/report.js";
import { commands } from "../../cli/program.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { blocksIn } from "../docs/pages.js";
import { type Forge, startForge } from "../support/forge.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";

const template = join(__dirname, "../../examples/new-project");

let folder: string;

const written = (name = "report.md"): string => readFileSync(join(folder, name), "utf8");

/** Programs of a PATH of its own: each writes down its call, then does what its script says. */
const program = (name: string, script: string): void => {
  shellScript(join(folder, "bin", name), `echo "${name} $*" >> "${folder}/calls.log"`, script);
};

beforeEach(() => {
  folder = temporaryFolder();
  cpSync(join(template, "ci"), join(folder, "ci"), { recursive: true });
  program("pulumi", 'echo "Resources:"; echo "    + 2 to create"');
  program("npm", "exit 0");
  program(
    "npx",
    `case "$2" in
  forecast) echo "3 min 20 s"; exit \${FORECAST:-0} ;;
  drift) [ "$DRIFT" = 1 ] || echo "### Drift: nothing"; exit \${DRIFT:-0} ;;
  rehearse) echo "will succeed"; exit \${REHEARSE:-0} ;;
esac`,
  );
});

const objectAt = (value: unknown, ...path: readonly string[]): JsonObject => {
  const found = path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
  return isObject(found) ? found : {};
};

const workflow = load(readFileSync(join(template, ".github/workflows/conversation.yml"), "utf8"));
const gitlab = load(readFileSync(join(template, ".gitlab-ci.yml"), "utf8"));

/** The script of a named step of GitHub's workflow. */
const step = (job: string, name: string): string => {
  const { steps } = objectAt(workflow, "jobs", job);
  const found = Array.isArray(steps) ? steps.find((one) => isObject(one) && one.name === name) : {};
  return String(objectAt(found).run);
};

/** The script of a job of GitLab's, as GitLab's runner joins it. */
const script = (job: string): string => {
  const lines = [objectAt(gitlab, "default").before_script, objectAt(gitlab, job).script].flat();
  return lines.join("\n");
};

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs lines as both runners do. */
const shell = (text: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const settings = {
      cwd: folder,
      env: {
        PATH: `${folder}/bin:${process.env.PATH}`,
        STACK: "prod",
        PULUMI_STACK: "prod",
        MAX_MINUTES: "30",
        ...env,
      },
    };
    const args = ["--norc", "-eo", "pipefail", "-c", text];
    execFile("bash", args, settings, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });

const calls = (): readonly string[] =>
  readFileSync(join(folder, "calls.log"), "utf8")
    .trim()
    .split("\n")
    .filter((call) => !call.startsWith("npm "));

const opened = "pulumi stack export --stack prod --non-interactive";

test("the report is a preview, a forecast, the drift and a rehearsal, marked for its stack", async () => {
  const { status } = await shell(step("report", "Report"));
  expect(status).toBe(0);
  const report = written();
  expect(report).toMatch(/^<!-- conversation prod -->\n## Stack `prod`\n/);
  const found = ["Preview: + 2 to create", "within 30 minutes", "### Drift: nothing"];
  for (const text of [...found, "Rehearsal: the service will accept every step"])
    expect(report).toContain(text);
  expect(calls()).toEqual([
    opened,
    "pulumi preview --stack prod --diff --non-interactive --color never",
    "npx pulumi-conversation forecast --stack prod --max-minutes 30",
    "npx pulumi-conversation drift --stack prod --markdown",
    "npx pulumi-conversation rehearse --stack prod",
  ]);
});

/** The lines of both pipelines that run the project's own scripts. */
const ownScripts = [
  ["GitHub", objectAt(workflow, "jobs", "report").steps],
  ["GitLab", objectAt(gitlab, "report").script],
].map(([name, steps]) => {
  const lines = [steps].flat().map((one) => String(isObject(one) ? one.run : one));
  return [String(name), lines.filter((line) => /npm (run|test)/.test(line)).join("\n")] as const;
});

test.each(ownScripts)("%s: an existing project needs no check and no test", async (_, lines) => {
  rmSync(join(folder, "bin", "npm"));
  const withScripts = (scripts: Readonly<Record<string, string>>) => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts }));
    return shell(`without_secrets() { "$@"; }\n${lines}`);
  };
  expect(await withScripts({})).toMatchObject({ status: 0 });
  expect(await withScripts({ check: "true", test: "true" })).toMatchObject({ status: 0 });
  expect(await withScripts({ check: "exit 3", test: "true" })).toMatchObject({ status: 3 });
  expect(await withScripts({ check: "true", test: "exit 3" })).toMatchObject({ status: 3 });
});

const parts = ["Preview", "Forecast", "Drift", "Rehearsal"];

test("what drift could not read does not fail the report", async () => {
  const { status } = await shell(step("report", "Report"), { DRIFT: "6" });
  expect(status).toBe(0);
  const report = written();
  for (const text of parts) expect(report).toContain(text);
  expect(report).not.toContain("<strong>");
});

test("a preview that fails is shown, and a long one fits a comment", async () => {
  const failing = "yes 'a row of the preview' | head -n 10000; exit 255";
  program("pulumi", `[ "$1" = preview ] || exit 0; ${failing}`);
  expect((await shell(step("report", "Report"))).status).toBe(1);
  const report = written();
  expect(report).toContain("Preview: <strong>failed</strong>");
  expect(report.length).toBeLessThan(65_536);
});

test("on the first run, report and deployment say how the stack is made", async () => {
  program("pulumi", "echo \"error: no stack named 'prod' found\" >&2; exit 255");
  expect((await shell(step("report", "Report"))).status).toBe(1);
  const advice = /no stack named 'prod' found\n.*\npulumi stack init prod\. .* Pulumi\.prod\.yaml/;
  expect(written()).toMatch(advice);
  const { status, stderr } = await shell(step("deploy", "Deploy"));
  expect(status).toBe(1);
  expect(stderr).toMatch(advice);
  expect(calls()).toEqual([opened, opened]);
});

test("GitHub: runs that write wait for each other, and none that reads takes their place", async () => {
  const group = (job: string) => objectAt(workflow, "jobs", job, "concurrency");
  for (const job of ["deploy", "destroy"])
    expect(group(job)).toEqual({ group: "conversation-stack", "cancel-in-progress": false });
  for (const job of ["report", "drift"]) expect(group(job).group).not.toBe("conversation-stack");
  expect(objectAt(workflow).concurrency).toBeUndefined();
});

/** Any characters that mean something to Markdown, to HTML or to a terminal, and lines that look like a report's. */
const foreign = fc
  .array(
    fc.oneof(
      fc.constantFrom("`", "```", "````", "<img src=x>", "</details>", "![x](https://x.test/y)"),
      fc.constantFrom("\n```\n", "\n    + 9 to create\n", "\nResources:\n", "@octocat", "|", "\\"),
      fc.constantFrom("\u001b[2K", "\u009b", "\u202e", "\r", "\u2028", " "),
      fc.string({ unit: "grapheme", maxLength: 8 }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(""));

const driftWith = (names: readonly string[]): DriftResult => ({
  ...{ project: "shop", stack: "prod", readAt: "2026-01-01T00:00:00.000Z", consistent: true },
  ...{ drift: true, changed: [], deleted: [], uncheckable: [], unread: [], compared: 3, notes: [] },
  unmanaged: names.map((name) => ({ kind: "Channel", name, id: "c1", standing: "foreign" })),
  otherStacks: names.map((name) => ({ kind: "Channel", name, id: "c1", stack: name })),
});

/** The lines of a Markdown text that stand in no fenced code block, as CommonMark ends one. */
const outsideFences = (text: string): readonly string[] => {
  let fence = 0;
  return text.split("\n").filter((line) => {
    const [run = ""] = /^ {0,3}`{3,}(?=\s*$)/.exec(line) ?? [];
    const length = run.trim().length;
    if (fence > 0) {
      if (length >= fence) fence = 0;
      return false;
    }
    fence = length;
    return fence === 0;
  });
};

test("whatever others wrote stays text in a report, however long it is", async () => {
  const ours =
    /^(|<!-- conversation prod -->|## Stack `prod`|<\/?details>|… \d+ more lines|<summary>(Preview: (done|2 to create, 1 unchanged)|Forecast: within 30 minutes|Rehearsal: the service will accept every step)<\/summary>)$/;
  program("pulumi", `cat "${folder}/preview"`);
  program("npx", `[ "$2" = forecast ] && cat "${folder}/preview" || cat "${folder}/drift"`);
  const property = fc.asyncProperty(
    fc.array(foreign, { minLength: 1, maxLength: 4 }),
    fc.constantFrom(1, 40, 90),
    async (names, times) => {
      const many = Array.from({ length: times }, () => names).flat();
      const said = many.map((name, place) => `  name: "${place} ${name}"`);
      const counted = "Resources:\n    2 to create\n    1 unchanged";
      writeFileSync(join(folder, "preview"), `${said.join("\n")}\n${counted}\n`);
      const drift = driftMarkdown(driftWith(many), {});
      writeFileSync(join(folder, "drift"), drift);
      expect((await shell(step("report", "Report"))).status).toBe(0);
      const report = written();
      expect(report.length).toBeLessThan(65_536);
      expect(report).not.toMatch(/(?![\n\t])[\p{Cc}\u202e\u2028]/u);
      const lines = drift.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, "�").split("\n");
      const foreignLines = outsideFences(report).filter((line) => !ours.test(line));
      expect(foreignLines.filter((line) => !lines.includes(line))).toEqual([]);
      const count = (pattern: RegExp) => outsideFences(report).join("\n").match(pattern)?.length;
      expect(count(/^<details>/gm)).toBe(count(/^<\/details>/gm));
    },
  );
  await fc.assert(property, { seed: 19, numRuns: 6 });
});

describe("a comment on a forge", () => {
  let forge: Forge;
  beforeEach(async () => {
    forge = await startForge();
    writeFileSync(join(folder, "report.md"), "<!-- conversation prod -->\nfirst");
  });
  afterEach(() => forge.close());

  /** The step of the page about drift, with its file. */
  const driftStep = (): string => {
    const [block] = blocksIn("yaml").filter(({ page }) => page === "docs/drift.md");
    const steps = load(block?.code ?? "");
    const runs = (Array.isArray(steps) ? steps : []).map((one) => objectAt(one).run);
    return String(runs.find((text) => String(text).includes("comment")));
  };
  const onGitHub = (): Readonly<Record<string, string>> => {
    const { CI_API_V4_URL: _, ...env } = forge.env;
    return { ...env, GITHUB_STEP_SUMMARY: join(folder, "summary.md") };
  };
  const ways = [
    ["GitHub", () => step("report", "Comment"), onGitHub],
    ["GitLab", () => script("report"), () => forge.env],
    ["the page about drift", driftStep, onGitHub],
  ] as const;

  test.each(ways)("%s: a marker finds only a comment of one's own", async (_, text, env) => {
    const marker = "<!-- conversation prod -->";
    program("npx", 'echo "### $2"');
    if (text === driftStep) cpSync(join(folder, "report.md"), join(folder, "drift.md"));
    const strangers = Array.from({ length: 130 }, (_, place) => ({
      id: place + 1,
      author: "stranger",
      body: `${marker}\nnumber ${place}`,
    }));
    forge.comments.push(...structuredClone(strangers));
    for (const _ of [1, 2]) {
      const { status, stdout, stderr } = await shell(text(), env());
      expect({ status, stderr, warned: stdout.includes("::") }).toEqual({
        ...{ status: 0, stderr: "", warned: false },
      });
      expect(forge.comments.slice(0, 130)).toEqual(strangers);
      expect(forge.comments.slice(130)).toMatchObject([{ author: "the-pipeline" }]);
      expect(forge.comments[130]?.body.startsWith(marker)).toBe(true);
    }
    expect(forge.exposed).toEqual([]);
  });

  test("GitHub: a token that may not comment leaves the report in the summary", async () => {
    const env = { ...onGitHub(), GH_TOKEN: "another" };
    const { status, stdout, stderr } = await shell(step("report", "Comment"), env);
    expect(status).toBe(0);
    expect(stderr).toContain("POST /graphql: 401");
    expect(stdout).toContain(
      "::warning::The token may not comment, so the report is only in the summary",
    );
    expect(written("summary.md")).toContain("first");
  });

  test.each([["0"], ["3"]])(
    "GitLab: without the right to write notes the job ends as the report says (rehearsal %s)",
    async (REHEARSE) => {
      const env = { ...forge.env, GITLAB_TOKEN: "another", REHEARSE };
      const { status, stderr } = await shell(script("report"), env);
      expect(status).toBe(REHEARSE === "0" ? 0 : 1);
      expect(stderr).toContain("GITLAB_TOKEN needs the scope 'api' to write notes");
      expect(written()).toContain("Rehearsal");
    },
  );

  test("GitLab: a report that predicts a refusal fails after it was shown", async () => {
    expect((await shell(script("report"), { ...forge.env, REHEARSE: "3" })).status).toBe(1);
    expect(forge.comments).toHaveLength(1);
  });
});

const secrets = {
  PULUMI_ACCESS_TOKEN: "token-of-pulumi",
  PULUMI_CONFIG_PASSPHRASE: "passphrase",
  CONVERSATION_CLIENT_SECRET: "secret-of-the-client",
  CONVERSATION_EU_CLIENT_SECRET: "secret-of-another",
  CONVERSATION_REDIS_URL: "redis://:password@redis",
  GITLAB_TOKEN: "token-of-gitlab",
};

test("GitHub: what npm installs and runs gets no secret", () => {
  const using = ["Report", "Comment", "Deploy", "Drift", "Destroy"];
  const jobs = Object.values(objectAt(workflow, "jobs")).map((job) => objectAt(job));
  expect(jobs).toHaveLength(4);
  expect(JSON.stringify(objectAt(workflow).env)).not.toContain("secrets.");
  for (const { steps, ...job } of jobs) {
    expect(JSON.stringify(job)).not.toContain("secrets.");
    for (const one of Array.isArray(steps) ? steps.map((each) => objectAt(each)) : []) {
      if (/secrets\.|github\.token/.test(JSON.stringify(one))) expect(using).toContain(one.name);
      if (String(one.uses).includes("checkout"))
        expect(one.with).toEqual({ "persist-credentials": false });
    }
  }
});

test.each(["report", "deploy", "drift", "destroy"])(
  "GitLab: what npm installs and runs in %s gets no secret, and the commands get theirs",
  async (job) => {
    program("npm", `env >> "${folder}/npm.env"`);
    program("npx", `env >> "${folder}/npx.env"`);
    await shell(script(job), { ...secrets, DESTROY: "prod", PATH_TO: "kept" });
    const [npm, npx] = ["npm", "npx"].map((name) =>
      readFileSync(join(folder, `${name}.env`), "utf8"),
    );
    expect(npm).toContain("PATH_TO=kept");
    for (const value of Object.values(secrets)) {
      expect(npm).not.toContain(value);
      expect(npx).toContain(value);
    }
  },
);

/** The exit codes of a command; 130 is a person's Ctrl-C. */
const documentedCodes = (name: string): readonly string[] => {
  const spec = commands.find((each) => each.name === name);
  return spec ? Object.keys(exitsOf(spec)).sort() : [];
};

/** How a job ends for each exit code of a command that it calls. */
const jobsByCode: readonly (readonly [
  command: string,
  job: string,
  name: string,
  ends: Readonly<Record<string, number>>,
])[] = [
  ["forecast", "report", "Report", { 0: 0, 1: 1, 2: 1, 3: 1, 130: 1 }],
  ["drift", "report", "Report", { 0: 0, 1: 1, 2: 0, 6: 0, 130: 1 }],
  ["rehearse", "report", "Report", { 0: 0, 1: 1, 2: 1, 3: 1, 130: 1 }],
  ["forecast", "deploy", "Deploy", { 0: 0, 1: 1, 2: 2, 3: 3, 130: 130 }],
  ["drift", "drift", "Drift", { 0: 0, 1: 1, 2: 2, 6: 6, 130: 130 }],
  ["rehearse", "destroy", "Destroy", { 0: 0, 1: 1, 2: 2, 3: 3, 130: 130 }],
];

/** One code for each way to end: those that are handed on, and those that become another. */
const differentEnds = (ends: Readonly<Record<string, number>>) => {
  const all = Object.entries(ends).map(
    ([code, end]) => [code === "0" || String(end) !== code ? end : "the same", code, end] as const,
  );
  return [...new Map(all.toReversed().map(([way, ...rest]) => [way, rest])).values()];
};

describe.each(jobsByCode)("%s in %s", (command, job, name, ends) => {
  test("the job knows every exit code that the help documents", () => {
    expect(Object.keys(ends).sort()).toEqual(documentedCodes(command));
  });

  test.each(differentEnds(ends))("after %s both pipelines end with %s", async (code, end) => {
    const env = {
      [command.toUpperCase()]: code,
      GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
      DESTROY: "prod",
    };
    program("node", `case "$*" in *comment*) exit 0 ;; esac; exec "${process.execPath}" "$@"`);
    for (const text of [step(job, name), script(job)]) {
      rmSync(join(folder, "calls.log"), { force: true });
      expect((await shell(text, env)).status).toBe(end);
      const applied = calls().some((call) => /^pulumi (up|destroy)/.test(call));
      expect(applied).toBe(end === 0 && ["deploy", "destroy"].includes(job));
    }
    if (job === "report") {
      for (const text of parts) expect(written()).toContain(text);
      expect(written().includes("<strong>")).toBe(end === 1);
    }
    if (job === "drift" && code !== "1") expect(written("summary.md")).toContain("### Drift");
  });
});

test.each([
  ["GitHub", step("deploy", "Deploy")],
  ["GitLab", script("deploy")],
])("%s: a deployment asks for the time before it begins", async (_, text) => {
  expect((await shell(text)).status).toBe(0);
  expect(calls()).toEqual([
    opened,
    "npx pulumi-conversation forecast --stack prod --max-minutes 30",
    "pulumi up --stack prod --yes --non-interactive",
    "pulumi config get smokeTest --stack prod",
  ]);
});

test.each([
  ["accepts the message", 0],
  ["names a broken link", 1],
])("a stack that asks for a smoke test ends as the test does, which %s", async (_, code) => {
  program("pulumi", `case "$1 $2" in "config get") echo true ;; "stack output") echo a-1 ;; esac`);
  program("node", `exit ${code}`);
  expect((await shell(step("deploy", "Deploy"))).status).toBe(code);
  expect(calls().slice(-3)).toEqual([
    "pulumi config get smokeTest --stack prod",
    "pulumi stack output accountId --stack prod",
    "node ci/smoke-test.mjs a-1",
  ]);
});

test("nothing is destroyed if another stack was typed", async () => {
  const confirm = step("destroy", "Confirmation");
  expect((await shell(confirm, { TYPED: "prod" })).status).toBe(0);
  expect(await shell(confirm, { TYPED: "production" })).toMatchObject({ status: 1 });
  expect((await shell(script("destroy"), { DESTROY: "dev" })).status).toBe(1);
  expect((await shell(script("destroy"), { DESTROY: "prod" })).status).toBe(0);
  expect(calls()).toEqual([
    "npx pulumi-conversation rehearse --stack prod --destroy",
    "pulumi destroy --stack prod --yes --non-interactive",
  ]);
});
