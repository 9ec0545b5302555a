import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { forecastReport } from "../../cli/forecast/forecast-report.js";
import type { Forecast } from "../../cli/forecast/forecast-schema.js";
import { type ForecastOptions, runForecast } from "../../cli/forecast/run-forecast.js";
import { defaultParallel } from "../../cli/forecast/simulation.js";
import { recordedSession, run } from "../cli/session.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";
import { previewOf, programs, stateOf } from "./support/program.js";

const saved = (text: string): string => {
  const file = join(temporaryFolder(), "document.json");
  writeFileSync(file, text);
  return file;
};

let preview: string;
let state: string;

beforeEach(() => {
  preview = saved(previewOf(programs["30 participants"], "create"));
  state = saved(stateOf(programs["30 participants"]));
});

const usual = ["--plan", "developer", "--burst", "1", "--parallel", "8"];

beforeEach(() => {
  for (const name of ["PLAN", "BURST", "SHARE"]) vi.stubEnv(`CONVERSATION_${name}`, "");
  vi.stubEnv("PULUMI_PARALLEL", "");
});

const json = async (...args: string[]) => {
  const { code, out } = await run("forecast", "--json", ...args);
  expect(code).toBe(0);
  return JSON.parse(out);
};

test("--json holds operation, plan, parallel, time, calls, endpoints, critical path and plans", async () => {
  const made = await json("--from", preview, ...usual);
  expect(Object.keys(made)).toEqual([
    "operation",
    "plan",
    "parallel",
    "totalSeconds",
    "totalCalls",
    "methods",
    "monthlyQuota",
    "endpoints",
    "criticalPath",
    "plans",
  ]);
  expect(made).toMatchObject({ operation: "up", plan: "developer", parallel: 8, totalCalls: 35 });
  expect(made.endpoints).toContainEqual({
    endpoint: "POST /participants",
    calls: 30,
    seconds: expect.closeTo(181.5, 0),
  });
  expect(made.criticalPath.at(-1)).toMatchObject({ endpoint: "POST /participants", calls: 30 });
  expect(Object.keys(made.plans)).toEqual(["developer", "basic", "enterprise"]);
});

test("another plan saves the difference of the times", async () => {
  const { totalSeconds, plans } = await json("--from", preview, ...usual);
  expect(plans.developer).toEqual({ totalSeconds, savesSeconds: 0 });
  const { totalSeconds: best, savesSeconds } = plans.enterprise;
  expect(savesSeconds).toBeCloseTo(totalSeconds - best, 1);
  expect(best).toBeLessThan(40);
});

test("the report shows endpoints, the critical path and, when asked, the plans", async () => {
  const { code, out, err } = await run("forecast", "--from", preview, ...usual);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^pulumi up: 35 calls, about 3 min \d+ s\.\nPlan developer, bursts of 1/);
  expect(out).toMatch(/POST \/participants +30 +3 min 1 s/);
  expect(out).toMatch(
    /POST \/participants × 30, slowed down by its rate limit\n +Participant bot-0\b/,
  );
  const [, started] =
    /^0 s – (.+?) +startup of Pulumi and, if it runs, the program/m.exec(out) ?? [];
  const { criticalPath } = await json("--from", preview, ...usual);
  expect(started).toBe(`${criticalPath[0].fromSeconds} s`);
  expect(out).not.toContain("Compared with this plan");
  const compared = await run("forecast", "--from", preview, "--compare-plans", ...usual);
  expect(compared.out).toMatch(/enterprise +\d+.* +2 min \d+ s less/);
});

test("refresh and destroy need the state only", async () => {
  expect(await json("--operation", "refresh", "--from", state)).toMatchObject({ totalCalls: 4 });
  expect(await json("--operation", "destroy", "--from", state)).toMatchObject({ totalCalls: 32 });
});

test("beyond a budget the exit code is 3, and by how much is said beside the result", async () => {
  const budgets = ["--max-minutes", "2.5", "--max-calls", "30"];
  const line = ["forecast", "--json", "--from", preview, ...usual, ...budgets];
  const { code, out, err } = await run(...line);
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({ totalCalls: 35 });
  for (const line of err.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  const said = err.replace(/\s+/g, " ");
  expect(said).toMatch(/would take 3 min \d+ s, \d+(\.\d)? s more than --max-minutes 2\.5 allows/);
  expect(said).toContain("would make 35 calls, 5 more than --max-calls 30 allows");
});

test("within its budgets the exit code is 0", async () => {
  const budgets = ["--max-minutes", "10", "--max-calls", "35"];
  expect(await run("forecast", "--from", preview, ...usual, ...budgets)).toMatchObject({
    code: 0,
    err: "",
  });
});

test("the calls of each method are compared with what is left of the monthly quota", async () => {
  const { methods, monthlyQuota } = await json("--from", preview, ...usual);
  expect({ methods, monthlyQuota }).toEqual({ methods: { GET: 3, POST: 32 }, monthlyQuota: 1000 });
  const line = ["forecast", "--from", preview, ...usual];
  const enough = await run(...line, "--quota-left", "32");
  expect({ code: enough.code, err: enough.err }).toEqual({ code: 0, err: "" });
  expect(enough.out).toMatch(/1,000 calls with each HTTP method\.\s+This\s+run's calls: .*32 POST/);
  // The quota is worth more than the budget: waiting does not help.
  const { code, err } = await run(...line, "--quota-left", "31", "--max-calls", "1");
  expect(code).toBe(5);
  expect(err.replace(/\s+/g, " ")).toContain(
    "over quota: pulumi up would make 32 POST calls, but --quota-left says that only 31 are left this month.",
  );
});

test("a run that does not fit into a whole month is refused without an option", async () => {
  const [channel] = programs.wide;
  if (!channel) throw new Error("none");
  const many = Array.from({ length: 1_001 }, (_, n) => ({ ...channel, name: `web${n}` }));
  const line = ["forecast", "--from", saved(previewOf(many, "create")), ...usual];
  const { code, err } = await run(...line);
  expect(code).toBe(5);
  expect(err.replace(/\s+/g, " ")).toContain(
    "1001 POST calls, but the developer plan allows only 1,000",
  );
});

test("a number of parallel steps that would be faster is named", async () => {
  const file = saved(previewOf(programs.wide, "create"));
  const { out } = await run("forecast", "--from", file, ...usual);
  expect(out).toMatch(/With --parallel 32: about 1 min \d+ s\./);
});

test("without a plan enterprise is assumed, and that is said", async () => {
  const { out, err } = await run("forecast", "--json", "--from", preview);
  expect(JSON.parse(out)).toMatchObject({ plan: "enterprise" });
  expect(err.replace(/\s+/g, " ")).toContain(
    "the forecast assumes the enterprise plan. Set it with --plan or conversation:plan",
  );
  const { out: text } = await run("forecast", "--from", preview);
  expect(text).toContain("\nPlan enterprise (assumed), --parallel");
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect((await run("forecast", "--from", preview, "--plan", "basic")).out).toContain(
    "Plan basic,",
  );
});

test("plan, burst, share and parallel are read from the environment", async () => {
  const before = await json("--from", preview, ...usual);
  vi.stubEnv("CONVERSATION_PLAN", "Developer");
  vi.stubEnv("CONVERSATION_BURST", "1");
  vi.stubEnv("PULUMI_PARALLEL", "8");
  expect(await json("--from", preview)).toEqual(before);
  vi.stubEnv("CONVERSATION_SHARE", "0.5");
  const { totalSeconds } = await json("--from", preview);
  expect(totalSeconds).toBeGreaterThan(1.9 * before.totalSeconds);
});

test.each([
  [["--plan", "gold"], "developer, basic, enterprise"],
  [["--burst", "0"], "whole number of 1 or more"],
  [["--parallel", "many"], "whole number of 1 or more"],
  [["--max-minutes", "-1"], "number of 0 or more"],
  [["--max-calls", "1.5"], "whole number of 0 or more"],
  [["--operation", "import"], "up, refresh, destroy"],
  [["--from", "/nowhere.json"], "Cannot read /nowhere.json"],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, out, err } = await run("forecast", ...args);
  expect(err).toContain(message);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test("a file that Pulumi did not write, or that is not enough, is refused by name", async () => {
  const file = saved('{"resources": []}');
  for (const [given, message] of [
    [file, `${file} is not the output of \`pulumi preview --json\` or`],
    [state, "no --from file contains. To save it, run: pulumi preview --json"],
  ] as const) {
    const { code, err } = await run("forecast", "--from", given);
    expect(code).toBe(2);
    expect(err).toContain(message);
  }
});

const up: ForecastOptions = { operation: "up" };

/** Forecasts with a `pulumi` that is this shell script. */
const withPulumi = async (script: string, options: ForecastOptions = up) => {
  const bin = temporaryFolder();
  shellScript(join(bin, "pulumi"), script);
  const { session } = recordedSession();
  const env = { PATH: `${bin}:/bin:/usr/bin` };
  return runForecast(options, session, env, temporaryFolder());
};

test("without files Pulumi is asked for a preview and the state of the stack", async () => {
  const script = `case "$*" in "preview --json --stack dev"*) cat ${preview};; "stack export --stack dev"*) cat ${state};; esac`;
  const { value } = await withPulumi(script, { ...up, stack: "dev" });
  expect(value).toMatchObject({ operation: "up", totalCalls: 36 });
});

test.each([
  [
    "no Pulumi.yaml project file found",
    "a Pulumi project folder. To read saved output instead, use --from.",
  ],
  ["no stack named nope found", "To list the stacks, run pulumi stack ls"],
  ["getting stack configuration: incorrect passphrase", "Set PULUMI_CONFIG_PASSPHRASE"],
  ["no stack selected; please use `pulumi stack select`", "or specify one with --stack"],
])("when Pulumi says %j, what to do is said too", async (said, advice) => {
  const failing = withPulumi(`echo 'error: ${said}' >&2; exit 1`);
  await expect(failing).rejects.toThrow(
    `pulumi stack export failed. Pulumi reports:\nerror: ${said}`,
  );
  await expect(failing).rejects.toThrow(advice);
});

test("a preview that fails shows Pulumi's message, not its JSON", async () => {
  const failed = saved(
    JSON.stringify({
      changeSummary: {},
      diagnostics: [
        { severity: "error", message: "error: \u001b[90mdisplayName\u001b[39m must be a string\n" },
      ],
    }),
  );
  const script = `case "$1" in stack) cat ${state};; *) cat ${failed}; exit 1;; esac`;
  await expect(withPulumi(script)).rejects.toThrow(
    "pulumi preview --json failed. Pulumi reports:\nerror: displayName must be a string\nFix the program",
  );
});

test("without pulumi on PATH the way out is named", async () => {
  const { session } = recordedSession();
  const forecasting = runForecast(up, session, { PATH: "" }, temporaryFolder());
  await expect(forecasting).rejects.toThrow(
    "pulumi is not on PATH. Install it, or use --from to read saved output.",
  );
});

test.each([
  [{}, 8],
  [{ GOMAXPROCS: "4" }, 16],
  [{ PULUMI_PARALLEL: "3", GOMAXPROCS: "4" }, 3],
])("with %j on two cores Pulumi runs %d steps together", (env, parallel) => {
  expect(defaultParallel(env, 2)).toBe(parallel);
});

const same = { totalSeconds: 12, savesSeconds: 0 };
const conditions = { plan: "developer", burst: 1, share: 1, parallel: 16 } as const;

const reported = (criticalPath: Forecast["criticalPath"]): string => {
  const forecast: Forecast = {
    operation: "up",
    plan: "developer",
    parallel: 16,
    totalCalls: 5,
    methods: { POST: 5 },
    monthlyQuota: 1000,
    totalSeconds: 12,
    endpoints: [],
    criticalPath,
    plans: { developer: same, basic: same, enterprise: same },
  };
  return forecastReport(forecast, conditions, false, undefined);
};

test("the report says that buckets are taken to be full", () => {
  expect(reported([])).toMatch(/All buckets are assumed to be full/);
});
