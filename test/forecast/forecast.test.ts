import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forecast } from "../../cli/forecast/forecast.js";
import { planRun } from "../../cli/forecast/planned-steps.js";
import type { StateResource } from "../../cli/pulumi/stack-documents.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { endpointName } from "../../provider/service/transport.js";
import { run } from "../cli/session.js";
import { handedBack } from "../support/door.js";
import { emulated, type Held, owned } from "../support/emulated.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";

const resource = (
  kind: string,
  name: string,
  more: Partial<StateResource> = {},
): StateResource => ({
  urn: `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`,
  type: typeToken(kind),
  ...more,
});

const channel = resource("Channel", "web");

const previewOf = (
  ...steps: { op: string; newState?: StateResource; oldState?: StateResource }[]
) => ({
  steps: steps.map((step) => ({ ...step, urn: (step.newState ?? step.oldState)?.urn ?? "" })),
  changeSummary: {},
});

const creating = (...all: readonly StateResource[]) =>
  previewOf(...all.map((newState) => ({ op: "create", newState })));

const stateOf = (...all: readonly StateResource[]) => ({
  version: 3,
  deployment: { resources: [...all] },
});

/** The calls of one step of a preview. */
const callsOf = (op: string, newState?: StateResource, oldState?: StateResource) =>
  planRun("up", {
    preview: previewOf({ op, ...(newState && { newState }), ...(oldState && { oldState }) }),
  })
    .flat()
    .flatMap(({ calls }) => calls.map(({ endpoint }) => endpointName(endpoint)));

test.each([
  ["read", ["GET /channels/{id}"]],
  ["same", []],
  ["import", []],
])("the step %s makes the calls %j", (op, calls) => {
  expect(callsOf(op, channel, op === "create" ? undefined : channel)).toEqual(calls);
});

test("the steps of a run make the calls that the lifecycle makes", async () => {
  const hub = await emulated();
  const values = owned("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
  const create = async (more: JsonObject) => {
    const { inputs } = await hub.of("Channel").check({}, { ...values, ...more });
    return hub.of("Channel").create(handedBack(inputs));
  };
  const made = async (held: readonly Held[], work: () => Promise<unknown>) => {
    hub.nextRun(held);
    await hub.calls();
    await work();
    return (await hub.calls()).map((call) => call.replace(/ \d+$/, "")).sort();
  };
  const planned = (...step: Parameters<typeof callsOf>) => callsOf(...step).sort();
  const adopting = (adopt: unknown) => planned("create", { ...channel, inputs: { adopt } });

  const known = { id: "", outs: {} };
  expect(await made([], async () => Object.assign(known, await create({})))).toEqual(
    planned("create", channel),
  );
  const { id, outs } = known;
  const update = () => hub.of("Channel").update(id, handedBack(outs), { ...values, icon: "AAAA" });
  expect(await made([], update)).toEqual(planned("update", channel, channel));
  const replace = async () => {
    await create({});
    await hub.of("Channel").delete(id, handedBack(outs));
  };
  const held = [{ kind: "Channel", id, owner: String(values.owner) }];
  expect(await made(held, replace)).toEqual(planned("replace", channel, channel));
  for (const adopt of [true, id])
    expect(await made([], () => create({ adopt }))).toEqual(adopting(adopt));
  const remove = () => hub.of("Channel").delete(id, handedBack(outs));
  expect(await made([], remove)).toEqual(planned("delete", undefined, channel));
  await hub.stop();
});

test("a deletion is one call, which what stays in the service does not need", () => {
  expect(callsOf("delete", undefined, channel)).toEqual(["DELETE /channels/{id}"]);
  expect(callsOf("delete", undefined, { ...channel, retainOnDelete: true })).toEqual([]);
  expect(callsOf("delete", undefined, { ...channel, external: true })).toEqual([]);
});

test("Ownership, components and resources from other packages make no calls", () => {
  const others = [
    resource("Ownership", "ownership"),
    { urn: "urn:pulumi:prod::shop::conversation:index:ConversationAccount::a", type: "c:i:A" },
    { urn: "urn:pulumi:prod::shop::aws:s3/bucket:Bucket::b", type: "aws:s3/bucket:Bucket" },
  ];
  expect(others.flatMap((other) => callsOf("create", other))).toEqual([]);
});

const phases = (...run: Parameters<typeof planRun>) =>
  planRun(...run).map((phase) => phase.map(({ urn }) => urn.split("::").at(-1)));

test("a stack is deleted in levels, and what depends on nothing comes last", () => {
  const auth = resource("Authentication", "auth");
  const app = resource("ClientApplication", "app", { dependencies: [auth.urn] });
  const account = resource("Account", "shop", {
    propertyDependencies: { channel: [channel.urn] },
    dependencies: [app.urn],
  });
  expect(phases("destroy", { state: stateOf(auth, channel, app, account) })).toEqual([
    ["shop"],
    ["app"],
    ["auth", "web"],
  ]);
});

test("deletions of an up come after all that it makes", () => {
  const preview = previewOf(
    { op: "delete", oldState: resource("Account", "shop", { dependencies: [channel.urn] }) },
    { op: "delete", oldState: channel },
    { op: "create", newState: resource("Channel", "new") },
  );
  expect(phases("up", { preview })).toEqual([["new"], ["shop"], ["web"]]);
});

const conditions = { plan: "developer", burst: 1, share: 1, parallel: 8 } as const;

const times = (count: number, kind: string, more: Partial<StateResource> = {}) =>
  Array.from({ length: count }, (_, index) => resource(kind, `${kind}${index}`, more));

test.each([
  [25, 1],
  [53, 3],
  // From here on the first page is read again in pages of 75.
  [200, 4],
])(
  "a refresh of %i objects reads their list in %i calls, once for each profile",
  (count, calls) => {
    const other = resource("Channel", "other", { inputs: { profile: "staging" } });
    const state = stateOf(...times(count, "Channel"), other);
    expect(forecast("refresh", { state }, conditions).endpoints).toEqual([
      expect.objectContaining({ endpoint: "GET /channels", calls }),
      expect.objectContaining({ endpoint: "GET /channels (profile staging)", calls: 1 }),
    ]);
  },
);

const secondsOf = (preview: ReturnType<typeof previewOf>, parallel = 8) =>
  Object.fromEntries(
    forecast("up", { preview }, { ...conditions, parallel }).endpoints.map((each) => [
      each.endpoint,
      each.seconds,
    ]),
  );

test("calls of one endpoint wait for its rate, those of another one do not notice", () => {
  const seconds = secondsOf(creating(...times(3, "Channel"), resource("Account", "a")));
  expect(seconds["POST /channels"]).toBeCloseTo(12.6, 0);
  expect(seconds["POST /accounts"]).toBeLessThan(1);
});

test("a step that waits for its rate holds a slot that another endpoint could use", () => {
  const preview = creating(...times(3, "Channel"), resource("Account", "a"));
  const { totalSeconds } = forecast("up", { preview }, { ...conditions, parallel: 1 });
  expect(totalSeconds).toBeGreaterThan(forecast("up", { preview }, conditions).totalSeconds);
});

test("what depends on another resource begins when that one has ended", () => {
  const [first] = times(1, "Authentication");
  const after = times(1, "ClientApplication", { dependencies: [first?.urn ?? ""] });
  const independent = forecast("up", { preview: creating(...times(2, "Channel")) }, conditions);
  const chained = creating(...times(1, "Authentication"), ...after);
  // Two lists and two creations in a row.
  expect(forecast("up", { preview: chained }, conditions).totalSeconds).toBeCloseTo(2.2, 1);
  expect(independent.totalSeconds).toBeGreaterThan(8);
});

test("a circle of dependencies ends the simulation all the same", () => {
  const [a, b] = [resource("Channel", "a"), resource("Channel", "b")];
  const preview = creating({ ...a, dependencies: [b.urn] }, { ...b, dependencies: [a.urn] });
  expect(forecast("up", { preview }, conditions).totalCalls).toBe(0);
  const state = stateOf({ ...a, dependencies: [b.urn] }, { ...b, dependencies: [a.urn] });
  expect(forecast("destroy", { state }, conditions).totalCalls).toBe(2);
});

test("10 000 steps are simulated", () => {
  const preview = creating(...times(10_000, "Channel"));
  const { totalSeconds } = forecast("up", { preview }, { ...conditions, plan: "enterprise" });
  expect(totalSeconds).toBeCloseTo(10_000 + 200, -3);
});

let folder = "";

const saved = (name: string, value: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
};

/** Puts a `pulumi` on the path that runs a shell script. */
const withPulumi = (script: string): void => {
  shellScript(join(folder, "pulumi"), script);
  vi.stubEnv("PATH", `${folder}:/bin:/usr/bin`);
};

const participants = creating(resource("Authentication", "auth"), ...times(30, "Participant"));

beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ["PLAN", "BURST", "SHARE"]) vi.stubEnv(`CONVERSATION_${name}`, "");
  vi.stubEnv("PULUMI_PARALLEL", "");
  const state = saved("state.json", stateOf(...times(30, "Participant")));
  const preview = saved("preview.json", participants);
  withPulumi(`case "$1" in preview) cat ${preview};; stack) cat ${state};; *) echo "{}";; esac`);
});

afterEach(() => void vi.unstubAllEnvs());

const usual = ["--plan", "developer", "--parallel", "8"];

const json = async (...args: string[]) => {
  const { code, out } = await run("forecast", "--json", ...args);
  expect(code).toBe(0);
  return JSON.parse(out);
};

test("--json holds operation, plan, parallel, calls, quota and endpoints", async () => {
  const made = await json(...usual);
  expect(made).toMatchObject({ operation: "up", plan: "developer", parallel: 8, totalCalls: 34 });
  expect(made).toMatchObject({ monthlyQuota: 1000 });
  expect(made.endpoints).toContainEqual({
    endpoint: "POST /participants",
    calls: 30,
    seconds: expect.closeTo(181.5, 0),
  });
});

test("the report shows time, plan, quota and endpoints", async () => {
  const { code, out, err } = await run("forecast", ...usual);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    /^pulumi up: 34 calls, about 3 min \d+ s\.\nPlan developer, --parallel 8\.\n/,
  );
  expect(out).toMatch(/All buckets are assumed to be full/);
  expect(out).toMatch(/1,000 calls with each HTTP method\.\s+This\s+run's calls: 3 GET, 31\s+POST/);
  expect(out).toMatch(/POST \/participants +30 +3 min \d s/);
});

test("refresh and destroy need the state only", async () => {
  expect(await json("--operation", "refresh", ...usual)).toMatchObject({ totalCalls: 2 });
  expect(await json("--operation", "destroy", ...usual)).toMatchObject({ totalCalls: 30 });
});

test("beyond --max-minutes the exit code is 3, and by how much is said beside the result", async () => {
  const { code, out, err } = await run("forecast", "--json", ...usual, "--max-minutes", "2.5");
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({ totalCalls: 34 });
  for (const line of err.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(err.replace(/\s+/g, " ")).toMatch(
    /would take 3 min \d+ s, \d+ s more than --max-minutes 2\.5 allows/,
  );
  expect(await run("forecast", ...usual, "--max-minutes", "10")).toMatchObject({
    code: 0,
    err: "",
  });
});

test("without a plan enterprise is assumed, and that is said", async () => {
  const { out, err } = await run("forecast", "--json");
  expect(JSON.parse(out)).toMatchObject({ plan: "enterprise" });
  expect(err.replace(/\s+/g, " ")).toContain(
    "the forecast assumes the enterprise plan. Set it with --plan or conversation:plan",
  );
});

test("plan, burst, share and parallel are read from the environment", async () => {
  const before = await json(...usual);
  vi.stubEnv("CONVERSATION_PLAN", "Developer");
  vi.stubEnv("CONVERSATION_BURST", "1");
  vi.stubEnv("PULUMI_PARALLEL", "8");
  expect(await json()).toEqual(before);
  vi.stubEnv("CONVERSATION_SHARE", "0.5");
  expect((await json()).totalSeconds).toBeGreaterThan(1.9 * before.totalSeconds);
});

test.each([
  [["--plan", "gold"], "developer, basic, enterprise"],
  [["--parallel", "0"], "whole number of 1 or more"],
  [["--max-minutes", "-1"], "number of 0 or more"],
  [["--operation", "import"], "up, refresh, destroy"],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, out, err } = await run("forecast", ...args);
  expect(err).toContain(message);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test.each([
  ["no stack named nope found", "To list the stacks, run pulumi stack ls"],
  ["getting stack configuration: incorrect passphrase", "Set PULUMI_CONFIG_PASSPHRASE"],
])("when Pulumi says %j, what to do is said too", async (said, advice) => {
  withPulumi(`echo 'error: ${said}' >&2; exit 1`);
  const { code, err } = await run("forecast");
  expect(code).toBe(1);
  expect(err.replace(/\s+/g, " ")).toContain(said);
  expect(err.replace(/\s+/g, " ")).toContain(advice);
});

test("a preview that fails shows Pulumi's message, not its JSON", async () => {
  const message = "error: \u001b[90mdisplayName\u001b[39m must be a string\n";
  const failed = saved("failed.json", {
    changeSummary: {},
    diagnostics: [{ severity: "error", message }],
  });
  const state = saved("state.json", stateOf());
  withPulumi(`case "$1" in stack) cat ${state};; *) cat ${failed}; exit 1;; esac`);
  const { err } = await run("forecast");
  expect(err).toContain(
    "pulumi preview --json failed. Pulumi reports:\ndisplayName must be a string\nFix the program",
  );
});

test("without pulumi on PATH that is said", async () => {
  vi.stubEnv("PATH", "");
  const { code, err } = await run("forecast");
  expect(code).toBe(1);
  expect(err).toContain("pulumi is not on PATH. Install it");
});
