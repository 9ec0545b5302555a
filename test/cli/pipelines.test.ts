import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

const template = join(__dirname, "../../examples/new-project");

let folder: string;

/** Programs of a PATH of its own: each writes down its call, then does what its script says. */
const program = (name: string, script: string): void => {
  const log = `echo "${name} $*" >> "${folder}/calls.log"`;
  writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${log}\n${script}\n`, { mode: 0o755 });
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pipeline-"));
  mkdirSync(join(folder, "bin"));
  cpSync(join(template, "ci"), join(folder, "ci"), { recursive: true });
  program("pulumi", 'echo "Resources:"; echo "    + 2 to create"');
  program("npm", "exit 0");
  program(
    "npx",
    `case "$2" in
  forecast) echo "3 min 20 s"; exit \${FORECAST:-0} ;;
  drift) echo "### Drift: nothing"; exit \${DRIFT:-0} ;;
  rehearse) echo "### Rehearsal: done in 3 min"; exit \${REHEARSE:-0} ;;
esac`,
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

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
  const lines = objectAt(gitlab, job).script;
  return Array.isArray(lines) ? lines.join("\n") : "";
};

const shell = (text: string, env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-eo", "pipefail", "-c", text], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: `${folder}/bin:${process.env.PATH}`,
      STACK: "prod",
      PULUMI_STACK: "prod",
      MAX_MINUTES: "30",
      ...env,
    },
  });
  return { status, stdout, stderr };
};

const calls = (): readonly string[] =>
  readFileSync(join(folder, "calls.log"), "utf8").trim().split("\n");

const opened = "pulumi stack export --stack prod --non-interactive";

test("the report is a preview, a forecast, the drift and a rehearsal, marked for its stack", () => {
  const { status } = shell(step("report", "Report"));
  expect(status).toBe(0);
  const report = readFileSync(join(folder, "report.md"), "utf8");
  expect(report).toMatch(/^<!-- conversation prod -->\n## Stack `prod`\n/);
  for (const text of [
    "Preview: + 2 to create",
    "within 30 minutes",
    "### Drift: nothing",
    "### Rehearsal: done",
  ])
    expect(report).toContain(text);
  expect(calls()).toEqual([
    opened,
    "pulumi preview --stack prod --diff --non-interactive --color never",
    "npx pulumi-conversation forecast --stack prod --max-minutes 30",
    "npx pulumi-conversation drift --stack prod --markdown",
    "npx pulumi-conversation rehearse --stack prod --markdown",
  ]);
});

test.each([
  ["drift was found", { DRIFT: "2" }, 0],
  ["the forecast is over the budget", { FORECAST: "3" }, 1],
  ["the forecast failed", { FORECAST: "1" }, 1],
  ["the drift could not be read", { DRIFT: "1" }, 1],
  ["a refusal is foretold", { REHEARSE: "3" }, 1],
])("the report is whole where %s", (_, env, code) => {
  const { status } = shell(step("report", "Report"), env);
  expect(status).toBe(code);
  const report = readFileSync(join(folder, "report.md"), "utf8");
  for (const text of ["Preview", "Forecast", "Drift", "Rehearsal"]) expect(report).toContain(text);
  expect(report.includes("**")).toBe(code === 1 && !("REHEARSE" in env));
});

test("a preview that fails is shown, and a long one fits a comment", () => {
  const failing = "yes 'a row of the preview' | head -n 10000; exit 255";
  program("pulumi", `[ "$1" = preview ] || exit 0; ${failing}`);
  expect(shell(step("report", "Report")).status).toBe(1);
  const report = readFileSync(join(folder, "report.md"), "utf8");
  expect(report).toContain("Preview: **failed**");
  expect(report.length).toBeLessThan(65_536);
});

test("on the first run, report and deployment say that the stack is to be made, and how", () => {
  program("pulumi", "echo \"error: no stack named 'prod' found\" >&2; exit 255");
  expect(shell(step("report", "Report")).status).toBe(1);
  const advice = /no stack named 'prod' found\n.*\npulumi stack init prod; .* Pulumi\.prod\.yaml/;
  expect(readFileSync(join(folder, "report.md"), "utf8")).toMatch(advice);
  const { status, stderr } = shell(step("deploy", "Deploy"));
  expect(status).toBe(1);
  expect(stderr).toMatch(advice);
  expect(calls()).toEqual([opened, opened]);
});

test("GitHub: runs that write wait for each other, and none that reads takes their place", () => {
  const group = (job: string) => objectAt(workflow, "jobs", job, "concurrency");
  for (const job of ["deploy", "destroy"])
    expect(group(job)).toEqual({ group: "conversation-stack", "cancel-in-progress": false });
  for (const job of ["report", "drift"]) expect(group(job).group).not.toBe("conversation-stack");
  expect(objectAt(workflow).concurrency).toBeUndefined();
});

const comment = {
  GH_TOKEN: "t",
  REPOSITORY: "acme/shop",
  NUMBER: "7",
  GITHUB_STEP_SUMMARY: "summary.md",
};

test.each([
  ["", "gh api --method POST repos/acme/shop/issues/7/comments --field body=@report.md --silent"],
  [
    "41",
    "gh api --method PATCH repos/acme/shop/issues/comments/41 --field body=@report.md --silent",
  ],
])("GitHub: with the comment %j there is one afterwards", (id, call) => {
  program("gh", `[ "$2" = "--paginate" ] && printf '%s' '${id}'; exit 0`);
  writeFileSync(join(folder, "report.md"), "the report");
  expect(shell(step("report", "Comment"), comment).status).toBe(0);
  expect(calls()[0]).toContain('startswith("<!-- conversation prod -->")');
  expect(calls().slice(1)).toEqual([call]);
});

test("GitHub: a token that may not comment leaves the report in the summary", () => {
  program("gh", "echo 'Resource not accessible by integration (HTTP 403)' >&2; exit 1");
  writeFileSync(join(folder, "report.md"), "the report");
  const { status, stdout } = shell(step("report", "Comment"), comment);
  expect(status).toBe(0);
  expect(stdout).toContain("::warning::The report is in the summary of this run only");
  expect(readFileSync(join(folder, "summary.md"), "utf8")).toBe("the report");
});

const api = {
  CI_API_V4_URL: "https://git.test/api/v4",
  CI_PROJECT_ID: "3",
  CI_MERGE_REQUEST_IID: "7",
  GITLAB_TOKEN: "t",
};

test.each([
  ['[{"id": 5, "body": "Looks good"}]', "--request POST", "/notes$"],
  [
    '[{"id": 5, "body": "no"}, {"id": 6, "body": "<!-- conversation prod -->"}]',
    "--request PUT",
    "/notes/6$",
  ],
])("GitLab: beside the notes %s there is one afterwards", (notes, method, address) => {
  program("curl", `case "$*" in *per_page*) echo '${notes}' ;; esac`);
  const { status, stderr } = shell(script("report"), api);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  const last = calls().at(-1);
  expect(last).toContain(method);
  expect(last).toContain("body@report.md");
  expect(last).toMatch(new RegExp(address));
});

test.each([["0"], ["3"]])(
  "GitLab: without the right to write notes the job ends as the report says (rehearsal %s)",
  (REHEARSE) => {
    program("curl", "exit 22");
    const { status, stderr } = shell(script("report"), { ...api, REHEARSE });
    expect(status).toBe(REHEARSE === "0" ? 0 : 1);
    expect(stderr).toContain("GITLAB_TOKEN (scope api) may not write notes");
    expect(readFileSync(join(folder, "report.md"), "utf8")).toContain("Rehearsal");
  },
);

test("GitLab: a report that foretells a refusal fails after it was shown", () => {
  program("curl", `case "$*" in *per_page*) echo '[]' ;; esac`);
  expect(shell(script("report"), { ...api, REHEARSE: "3" }).status).toBe(1);
  expect(calls().at(-1)).toContain("--request POST");
});

test.each([
  ["GitHub", step("deploy", "Deploy")],
  ["GitLab", script("deploy")],
])("%s: nothing is begun that would not end in time", (_, text) => {
  expect(shell(text).status).toBe(0);
  expect(calls()).toEqual([
    opened,
    "npx pulumi-conversation forecast --stack prod --max-minutes 30",
    "pulumi up --stack prod --yes --non-interactive",
  ]);
  expect(shell(text, { FORECAST: "3" }).status).toBe(3);
  expect(calls().filter((call) => call.startsWith("pulumi up"))).toHaveLength(1);
});

test.each([
  ["GitHub", step("drift", "Drift")],
  ["GitLab", script("drift")],
])("%s: drift turns the run red, and is shown", (_, text) => {
  const summary = { GITHUB_STEP_SUMMARY: join(folder, "drift.md") };
  expect(shell(text, summary).status).toBe(0);
  expect(shell(text, { ...summary, DRIFT: "2" }).status).toBe(2);
  expect(readFileSync(join(folder, "drift.md"), "utf8")).toContain("### Drift");
});

test("nothing is destroyed where another stack was typed", () => {
  const confirm = step("destroy", "Confirmation");
  expect(shell(confirm, { TYPED: "prod" }).status).toBe(0);
  expect(shell(confirm, { TYPED: "production" })).toMatchObject({ status: 1 });
  expect(shell(script("destroy"), { DESTROY: "dev" }).status).toBe(1);
  expect(shell(script("destroy"), { DESTROY: "prod" }).status).toBe(0);
  expect(calls()).toEqual([
    "npx pulumi-conversation rehearse --stack prod --destroy",
    "pulumi destroy --stack prod --yes --non-interactive",
  ]);
  const foretold = shell(script("destroy"), { DESTROY: "prod", REHEARSE: "3" });
  expect(foretold.status).toBe(3);
  expect(calls().filter((call) => call.startsWith("pulumi"))).toHaveLength(1);
});
