import { expect, test } from "vitest";
import { criticalPath } from "../../cli/forecast/forecast.js";
import type { ForecastOperation } from "../../cli/forecast/operations.js";
import {
  callsOf,
  type PlannedStep,
  stepFor,
  workloadOf,
} from "../../cli/forecast/planned-steps.js";
import { type SimulationOptions, simulate } from "../../cli/forecast/simulation.js";
import type { StateResource } from "../../cli/pulumi/stack-documents.js";
import { typeToken } from "../../provider/kernel/type-tokens.js";
import { endpointName } from "../../provider/service/pace.js";

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

/** One step of a preview, as the calls that it makes. */
const callsOfStep = (
  op: string,
  newState: StateResource | undefined,
  oldState?: StateResource,
): readonly string[] => {
  const urn = newState?.urn ?? oldState?.urn ?? "";
  const preview = { steps: [{ op, urn, newState, oldState }], changeSummary: {} };
  const workload = workloadOf("up", { preview });
  return workload.steps.flatMap((step) =>
    callsOf(step, workload).map(({ endpoint }) => endpointName(endpoint)),
  );
};

test.each([
  ["create", ["GET /channels", "POST /channels"]],
  ["update", ["GET /channels/{id}", "PUT /channels/{id}"]],
  ["replace", ["GET /channels", "PUT /channels/{id}"]],
  ["read", ["GET /channels/{id}"]],
  ["same", []],
  ["import", []],
])("the step %s makes the calls %j", (op, calls) => {
  expect(callsOfStep(op, channel, op === "create" ? undefined : channel)).toEqual(calls);
});

test("a deletion is one call, which what stays in the service does not need", () => {
  expect(callsOfStep("delete", undefined, channel)).toEqual(["DELETE /channels/{id}"]);
  expect(callsOfStep("delete", undefined, { ...channel, retainOnDelete: true })).toEqual([]);
  expect(callsOfStep("delete", undefined, { ...channel, external: true })).toEqual([]);
});

test("adopting by name writes what the list found, adopting by id reads it as well", () => {
  const adopting = (adopt: unknown) => ({ ...channel, inputs: { adopt } });
  expect(callsOfStep("create", adopting(true))).toEqual(["GET /channels", "PUT /channels/{id}"]);
  expect(callsOfStep("create", adopting("7f"))).toEqual([
    "GET /channels",
    "GET /channels/{id}",
    "PUT /channels/{id}",
  ]);
});

test("Ownership, components and resources from other packages make no calls", () => {
  const others = [
    resource("Ownership", "ownership"),
    { urn: "urn:pulumi:prod::shop::conversation:index:ConversationAccount::a", type: "c:i:A" },
    { urn: "urn:pulumi:prod::shop::aws:s3/bucket:Bucket::b", type: "aws:s3/bucket:Bucket" },
  ];
  expect(others.flatMap((other) => callsOfStep("create", other))).toEqual([]);
});

test("a value that is not known yet does not matter", () => {
  const inputs = { displayName: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
  expect(callsOfStep("create", { ...channel, inputs })).toHaveLength(2);
});

const stateOf = (...resources: readonly StateResource[]) => ({
  version: 3,
  deployment: { resources: [...resources] },
});

test.each([
  [25, 1],
  [53, 3],
  // From here on the first page is read again in pages of 75.
  [200, 4],
])("a list of %i objects takes %i calls", (count, calls) => {
  const channels = Array.from({ length: count }, (_, index) => resource("Channel", `web${index}`));
  const workload = workloadOf("refresh", { state: stateOf(...channels) });
  const [step] = workload.steps;
  expect(step && callsOf(step, workload)).toMatchObject([{ times: calls }]);
});

test("each profile has lists of its own", () => {
  const other = resource("Channel", "other", { inputs: { profile: "staging" } });
  const workload = workloadOf("refresh", { state: stateOf(channel, other) });
  const lists = workload.steps.flatMap((step) => callsOf(step, workload));
  expect(lists.map(({ profile, sharedAs }) => [profile, sharedAs])).toEqual([
    [undefined, "/channels"],
    ["staging", "staging/channels"],
  ]);
});

test("a change waits for another one through a resource that does not change", () => {
  const [a, b, c] = [
    resource("Authentication", "a"),
    resource("ClientApplication", "b"),
    resource("Participant", "c"),
  ] as const;
  const before = stateOf(a, { ...b, dependencies: [a.urn] }, { ...c, dependencies: [b.urn] });
  const steps = [a, { ...c, dependencies: [b.urn] }].map((newState) => {
    return { op: "update", urn: newState.urn, newState };
  });
  const workload = workloadOf("up", { preview: { steps, changeSummary: {} }, state: before });
  const middle = workload.steps.find(({ urn }) => urn === b.urn);
  expect(middle).toMatchObject({ action: "none", after: [a.urn] });
});

const phases = (operation: ForecastOperation, ...resources: readonly StateResource[]) =>
  Object.fromEntries(
    workloadOf(operation, { state: stateOf(...resources) }).steps.map(({ label, phase }) => [
      label,
      phase,
    ]),
  );

test("a stack is deleted in levels, and what depends on nothing comes last", () => {
  const auth = resource("Authentication", "auth");
  const app = resource("ClientApplication", "app", { dependencies: [auth.urn] });
  const account = resource("Account", "shop", {
    propertyDependencies: { channel: [channel.urn] },
    dependencies: [app.urn],
  });
  expect(phases("destroy", auth, channel, app, account)).toEqual({
    "Account shop": 0,
    "ClientApplication app": 1,
    "Authentication auth": 2,
    "Channel web": 2,
  });
});

test("deletions of an up come after all that it makes", () => {
  const steps = [
    { op: "delete", urn: channel.urn, oldState: channel },
    { op: "create", urn: "u", newState: resource("Channel", "new") },
  ];
  const workload = workloadOf("up", { preview: { steps, changeSummary: {} } });
  expect(workload.steps.map(({ label, phase }) => [label, phase])).toEqual([
    ["Channel new", 0],
    ["Channel web", 1],
  ]);
});

const step = (kind: string, name: string, after: readonly string[] = [], phase = 0): PlannedStep =>
  stepFor(
    { urn: `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`, type: typeToken(kind) },
    "delete",
    phase,
    after,
  );

const times = (count: number, make: (index: number) => PlannedStep): readonly PlannedStep[] =>
  Array.from({ length: count }, (_, index) => make(index));

const run = (steps: readonly PlannedStep[], options: Partial<SimulationOptions> = {}) =>
  simulate(steps, {
    parallel: 8,
    roundTripSeconds: 0,
    limitOf: () => ({ periodMs: 1000, burst: 1 }),
    callsOf: (each) => callsOf(each, { counts: new Map() }),
    engine: { startSeconds: 0, stepSeconds: 0 },
    ...options,
  });

test("calls of one endpoint queue, those of another one do not notice", () => {
  const steps = [...times(3, (n) => step("Channel", `c${n}`)), step("Account", "a")];
  const { calls, totalSeconds } = run(steps);
  expect(totalSeconds).toBeCloseTo(2, 1);
  expect(calls.find(({ endpoint }) => endpoint.includes("accounts"))?.sentAt).toBe(0);
});

test("a step that waits for its rate holds a slot that another endpoint could use", () => {
  const steps = [...times(3, (n) => step("Channel", `c${n}`)), step("Account", "a")];
  const { calls } = run(steps, { parallel: 2 });
  expect(calls.find(({ endpoint }) => endpoint.includes("accounts"))?.sentAt).toBeCloseTo(1, 1);
});

test("a step begins when all that it depends on have ended", () => {
  const [first, second] = [step("Channel", "a"), step("Authentication", "b")];
  const last = step("Account", "c", [first.urn, second.urn]);
  const { calls } = run([last, first, second], { roundTripSeconds: 3 });
  expect(calls.at(-1)).toMatchObject({ wantedAt: 3, endedAt: 6, step: last });
});

test("a phase begins when the one before has ended", () => {
  const steps = [step("Account", "late", [], 5), ...times(3, (n) => step("Channel", `c${n}`))];
  expect(run(steps).calls.at(-1)).toMatchObject({ wantedAt: expect.closeTo(2, 1) });
});

test("a circle of dependencies ends the simulation all the same", () => {
  const [a, b] = [step("Channel", "a"), step("Channel", "b")];
  expect(
    run([
      { ...a, after: [b.urn] },
      { ...b, after: [a.urn] },
    ]).calls,
  ).toEqual([]);
});

test("the engine works on one step after the other before their calls", () => {
  const steps = times(3, (n) => step("Channel", `c${n}`));
  const { calls } = run(steps, {
    limitOf: () => ({ periodMs: 1, burst: 1000 }),
    engine: { startSeconds: 10, stepSeconds: 2 },
  });
  expect(calls.map(({ sentAt }) => sentAt)).toEqual([12, 14, 16]);
});

test("the critical path goes back over the rate and the dependencies, and sums up endpoints", () => {
  const first = step("Authentication", "auth");
  const many = times(4, (n) => step("Participant", `p${n}`, [first.urn]));
  const { calls } = run([first, step("Channel", "aside"), ...many], { roundTripSeconds: 0.5 });
  expect(criticalPath(calls)).toEqual([
    {
      endpoint: "DELETE /authentications/{id}",
      calls: 1,
      resources: ["Authentication auth"],
      fromSeconds: 0,
      toSeconds: 0.5,
      waitsForRate: false,
    },
    {
      endpoint: "DELETE /participants/{id}",
      calls: 4,
      resources: ["Participant p0", "Participant p1", "Participant p2", "Participant p3"],
      fromSeconds: 0.5,
      toSeconds: expect.closeTo(4, 1),
      waitsForRate: true,
    },
  ]);
});

test("10 000 steps are simulated", () => {
  const { calls } = run(times(10_000, (n) => step("Channel", `c${n}`)));
  expect(calls).toHaveLength(10_000);
});
