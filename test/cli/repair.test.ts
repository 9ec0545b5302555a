import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { messageOf } from "../../cli/command.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { whileAlone } from "../../cli/inventory/open-stack.js";
import { runOrphans } from "../../cli/orphans/orphans.js";
import { repairReport } from "../../cli/repair/repair.js";
import { isRepaired } from "../../cli/repair/repair-plan.js";
import { isObject } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/type-tokens.js";
import { roleOf } from "../support/forms.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import {
  managedStack,
  pending,
  type StackSandbox,
  stackSandbox,
} from "./inventory/stack-sandbox.js";

const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };

const flowOf = async (box: StackSandbox) => {
  const authentication = await box.up("Authentication", "auth", {
    ...{ name: "auth", basicAuth: { username: "hub", password: "a-secret" } },
  });
  const application = await box.up("ClientApplication", "app", {
    name: "app",
    roles: [roleOf("custom_bot", { authentication })],
  });
  return { name: "flow", applications: { agentConfiguration: { agents: [application] } } };
};

/** A creation of an orchestration that was made twice, as its lists lagged behind. */
const madeTwice = async () => {
  const box = await stackSandbox();
  const flow = await flowOf(box);
  await box.upAnew("Orchestration", "flow", flow);
  await box.control.faults({
    ...{ on: "GET /orchestrations", kind: "stale-list", ms: 3_600_000, times: 99 },
  });
  await box.upAnew("Orchestration", "flow", flow);
  await box.control.control("DELETE", "/faults");
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
  const created = box.popped();
  box.popped();
  box.write(pending("creating", created));
  return { box, created };
};

test("an object that was made twice: one is written into the state, the other deleted", async () => {
  const { box, created } = await madeTwice();
  const before = box.bytes();
  const shown = await box.repair();
  expect(shown.steps.map(({ action }) => action)).toEqual(["record", "delete"]);
  expect(box.bytes()).toEqual(before);
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
  const done = await box.repair({ apply: true });
  expect(done.steps.map((step) => step.done)).toEqual([true, true]);
  const { resources, pending_operations: notes } = box.deployment();
  const [kept] = await box.control.objects("orchestrations");
  expect(await box.control.objects("orchestrations")).toHaveLength(1);
  expect(resources.at(-1)).toMatchObject({ urn: created.urn, id: kept?.id });
  expect(notes ?? []).toEqual([]);
  expect(await box.repair()).toMatchObject({ steps: [], notes: [], left: [] });
});

test("of two that were made, the one that others refer to stays", async () => {
  const { box, created } = await madeTwice();
  const [, second] = await box.control.objects("orchestrations");
  const channel = await box.upAnew("Channel", "web", web);
  await box.control.byHand("POST", "/accounts", {
    ...{ name: "theirs", address: "a-1", channel: { id: channel } },
    chatConfigurations: {
      ...{ orchestration: { id: second?.id }, entryPoint: { id: "1007" }, timeout: 30 },
    },
  });
  box.write(pending("creating", created));
  await box.repair({ apply: true });
  expect(await box.control.objects("orchestrations")).toMatchObject([{ id: second?.id }]);
});

test("a copy that a person made of what was begun is left, and nothing is written", async () => {
  const box = await stackSandbox();
  const id = await box.up("Orchestration", "flow", await flowOf(box));
  const created = box.popped();
  const [made] = await box.control.objects("orchestrations");
  if (!made) throw new Error("nothing was made");
  const { id: _, created: __, modified: ___, ...body } = made;
  await box.control.byHand("POST", "/orchestrations", body);
  box.write(pending("creating", created));
  const before = box.bytes();
  const found = await box.repair({ apply: true });
  expect(found.left).toEqual([expect.stringContaining("the marks do not show which")]);
  expect(found.left[0]).toContain(id);
  expect(box.bytes()).toEqual(before);
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
});

test("what a run began in another account is looked for there", async () => {
  const box = await stackSandbox();
  const staging = await managedStack();
  const id = await staging.up("Channel", "web", web);
  const created = { ...staging.state.at(-1) };
  const inputs = { ...(created.inputs as Record<string, unknown>), profile: "staging" };
  box.write(pending("creating", { ...created, inputs }));
  const ofStaging = Object.fromEntries(
    Object.entries(emulatorEnvironment(staging.control.emulator)).map(([name, value]) => [
      name.replace("CONVERSATION_", "CONVERSATION_STAGING_"),
      value,
    ]),
  );
  const env = { ...box.options.env, ...ofStaging, CONVERSATION_STAGING_BURST: "1000" };
  const { steps, left } = await box.repair({ env, apply: true });
  expect({ steps, left }).toMatchObject({
    steps: [{ action: "record", id, done: true }],
    left: [],
  });
  // Its settings are not there: said, and nothing is taken off.
  box.write(pending("creating", { ...created, inputs }));
  const before = box.bytes();
  const refusal = await box.repair({ apply: true }).then(String, messageOf);
  expect(refusal).toContain("CONVERSATION_STAGING_");
  expect(box.bytes()).toEqual(before);
});

test.each(["creating", "updating"])(
  "%s an object of a kind that may not be listed is left to a person, and so is the state",
  async (type) => {
    const box = await stackSandbox();
    await box.up("Channel", "web", web);
    const begun = type === "creating" ? box.popped() : { ...box.state.at(-1) };
    box.write(pending(type, begun));
    const before = box.bytes();
    const forbidden = { kind: "status", status: 403, times: 99 };
    await box.control.faults(
      { on: "GET /channels", kind: "forbidden-list", times: 99 },
      { on: "GET /channels/{id}", ...forbidden },
    );
    const found = await box.repair({ apply: true });
    expect(found.left).toEqual([expect.stringContaining("Channel web")]);
    expect(found.notes.join()).toContain(
      "may not see everything that a run left behind. channels: ",
    );
    expect(box.bytes()).toEqual(before);
    for (const line of repairReport(found).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  },
);

test.each([true, false])("a deletion that was cut off is done again (reached: %s)", async (is) => {
  const box = await stackSandbox();
  const id = await box.up("Channel", "web", web);
  if (is) await box.control.byHand("DELETE", `/channels/${id}`);
  box.write(pending("deleting", { ...box.state.at(-1) }));
  const found = await box.repair({ apply: true });
  expect(found).toMatchObject({
    steps: [{ action: "forget", why: "deletion", done: true }],
    left: [],
  });
  const report = repairReport(found);
  expect(report).toMatch(/its object may already be\s+deleted\./);
  expect(report).toMatch(/To continue:\n {2}pulumi destroy .*\n {2}pulumi up --refresh .*/);
  expect(box.deployment().resources.at(-1)).toMatchObject({ id });
  expect(await box.control.objects("channels")).toHaveLength(is ? 0 : 1);
});

test.each([
  { type: "updating", is: true, step: { action: "refresh" } },
  { type: "updating", is: false, step: { action: "forget", why: "again" } },
  { type: "creating", is: true, step: { action: "refresh" } },
  { type: "creating", is: false, step: { action: "forget", why: "held" } },
])("an update, or a replacement in place: $type, reached: $is", async ({ type, is, step }) => {
  const box = await stackSandbox();
  const id = await box.up("Channel", "web", web);
  const [live] = await box.control.objects("channels");
  if (!live) throw new Error("nothing was made");
  const { id: _, created: __, modified: ___, ...body } = live;
  if (is) await box.control.byHand("PUT", `/channels/${id}`, { ...body, displayName: "New" });
  const held = { ...box.state.at(-1), id };
  // Half of a replacement stays until its other half: the object that is to be deleted is the same one.
  if (type === "creating") box.state.push({ ...held, delete: true });
  box.write(pending(type, held));
  const found = await box.repair({ apply: true });
  expect(found).toMatchObject({ steps: [{ ...step, done: true }], left: [] });
  const { resources, pending_operations: notes } = box.deployment();
  expect(notes ?? []).toEqual([]);
  const channel = typeToken("Channel");
  const kept = resources.filter((resource: { type: string }) => resource.type === channel);
  expect(kept[0]).toMatchObject({ id, outputs: { displayName: is ? "New" : "Web" } });
  expect(kept.slice(1)).toEqual(
    type === "creating" ? [expect.objectContaining({ delete: true })] : [],
  );
  expect(await box.control.writes()).toHaveLength(is ? 2 : 1);
});

test("a state that moved meanwhile is not written, and nothing is deleted then", async () => {
  const { box } = await madeTwice();
  // Looks: for the names, with secrets, for all states, and twice before it is written.
  box.writeThen(4);
  const found = await box.repair({ apply: true });
  expect(found.steps).toMatchObject([
    { action: "record", done: false, reason: expect.stringContaining("changed in the meantime") },
    { action: "delete", done: false, reason: "the state was not written" },
  ]);
  expect(box.asked().filter((line) => line.startsWith("stack import"))).toEqual([]);
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
});

const ended = 4_194_303;
const lockOf = (pid: unknown, since = new Date().toISOString(), host = hostname()) => ({
  ...{ pid, username: "ci", hostname: host, timestamp: since },
});

const cutOff = async (backend?: string) => {
  const box = await stackSandbox(backend ? { backend } : {});
  await box.up("Channel", "web", web);
  box.write(pending("creating", box.popped()));
  return box;
};

const said = (box: StackSandbox, more = {}): Promise<string> =>
  box.repair({ apply: true, ...more }).then(repairReport, messageOf);

test("the lock of a run that is gone is taken away, and reported with its time", async () => {
  const box = await cutOff();
  const elsewhere = new Date(Date.now() + 3_600_000).toISOString().replace("Z", "+01:00");
  box.lock(lockOf(ended, elsewhere));
  const since = new Date(elsewhere).toISOString().slice(0, 19);
  const found = await box.repair({ apply: true });
  expect(found.steps).toMatchObject([
    { action: "cancel", by: `ci@${hostname()}, process ${ended}, since ${since}Z` },
    { action: "record", done: true },
  ]);
  expect(box.asked().filter((line) => line.startsWith("cancel"))).toHaveLength(1);
});

test("a lock that is empty was cut off", async () => {
  const box = await cutOff();
  box.lock("");
  expect(await box.repair()).toMatchObject({ steps: [{ action: "cancel" }, {}] });
});

test("a run that begins while repair looks is left alone: the state is not written", async () => {
  const box = await cutOff();
  const before = box.deployment();
  // At the third export all states are read; then the steps are done.
  box.lockThen(2, lockOf(process.pid));
  const { steps } = await box.repair({ apply: true });
  const reason = expect.stringContaining("A run may be in progress on the stack shop/prod");
  expect(steps).toMatchObject([{ action: "record", done: false, reason }]);
  expect(box.deployment()).toEqual(before);
});

test("what was interrupted while it looked writes nothing", async () => {
  const box = await cutOff();
  const before = box.deployment();
  const controller = new AbortController();
  const say = () => undefined;
  const repairing = box.repair({ apply: true, say, signal: controller.signal });
  controller.abort(new Error("interrupted"));
  await expect(repairing).rejects.toThrow();
  expect(box.deployment()).toEqual(before);
});

const refusals: readonly (readonly [string, (box: StackSandbox) => void, string])[] = [
  [
    "of a process that runs",
    (box) => box.lock(lockOf(process.pid)),
    "its lock belongs to a running process (ci@",
  ],
  [
    "of another machine",
    (box) => box.lock(lockOf(7, undefined, "elsewhere")),
    "acquired on another machine (ci@elsewhere, process 7",
  ],
  ["without an owner", (box) => box.lock({}), "does not name its holder"],
  ["that cannot be read", (box) => mkdirSync(join(box.locks, "1.json")), "its lock is unreadable"],
  [
    "in a folder that cannot be read",
    (box) => {
      rmSync(box.locks, { recursive: true });
      writeFileSync(box.locks, "");
    },
    "its locks are unreadable",
  ],
];

test.each(refusals)("a lock %s is refused, and nothing changes", async (_, prepare, text) => {
  const box = await cutOff();
  prepare(box);
  const before = box.bytes();
  expect(await said(box)).toContain(text);
  expect(box.bytes()).toEqual(before);
  expect(await said(box, { ignoreLock: true })).toContain("✓ Write Channel web into the state");
});

test.each([
  ["s3://states", "the backend s3 does not expose its locks"],
  ["gs://states", "the backend gs does not expose its locks"],
])("a backend that hides its locks: %s", async (backend, text) => {
  const box = await cutOff(backend);
  expect(await said(box)).toContain(text);
  expect(await said(box, { ignoreLock: true })).toContain("✓ Write Channel web into the state");
});

test("Pulumi Cloud reports updates itself", async () => {
  const box = await cutOff("https://api.pulumi.com");
  const { steps } = await box.repair({ apply: true });
  expect(steps).toMatchObject([{ action: "record", done: true }]);
});

test("attributes that were cut off: nothing else can be seen before they are gone", async () => {
  const box = await cutOff();
  const file = `${box.stateFile}.attrs`;
  writeFileSync(file, "");
  const shown = await box.repair();
  expect(shown).toMatchObject({ steps: [{ action: "remove-cut-off-files", files: [file] }] });
  expect(existsSync(file)).toBe(true);
  const done = await box.repair({ apply: true });
  expect(done.steps.map(({ action }) => action)).toEqual(["remove-cut-off-files", "record"]);
  expect(isRepaired(done)).toBe(true);
  expect(existsSync(file)).toBe(false);
});

const copies = ["stacks/shop/prod.json.bak", "backups/shop/prod/prod.1795355262375591458.json"];

test.each(copies)(
  "a state that was cut off is what its copy %s is, and the rest is found",
  async (name) => {
    const box = await cutOff();
    const copy = join(box.folder, ".pulumi", name);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, readFileSync(box.stateFile));
    for (const length of [300, 1, 0]) {
      truncateSync(box.stateFile, length);
      const shown = await box.repair();
      expect(shown.steps[0]).toMatchObject({ action: "restore-state", file: box.stateFile, copy });
      expect(readFileSync(box.stateFile)).toHaveLength(length);
    }
    const done = await box.repair({ apply: true });
    expect(done.steps).toMatchObject([{ action: "restore-state" }, { action: "record" }]);
    expect(isRepaired(done)).toBe(true);
  },
);

test("files of a stack at which a run is at work are not touched", async () => {
  const box = await cutOff();
  const file = `${box.stateFile}.attrs`;
  writeFileSync(file, "");
  box.lock(lockOf(7, undefined, "elsewhere"));
  expect(await said(box)).toContain("acquired on another machine");
  expect(existsSync(file)).toBe(true);
});

/** What a run of another package began. */
const foreign = (type: string, at: number) =>
  pending(type, {
    urn: `urn:pulumi:prod::shop::aws:s3/bucket:Bucket::bucket-${at}`,
    ...{ type: "aws:s3/bucket:Bucket", custom: true, id: `b-${at}`, inputs: {}, outputs: {} },
  });

const kinds = ["creating", "updating", "deleting", "reading"];

test("what other packages have pending stays, whatever it is, and is reported in one sentence", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "web", web);
  const created = box.popped();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 400 }),
      async (types) => {
        box.write(...types.map(foreign), pending("creating", created));
        const before = box.bytes();
        const found = await box.repair({ apply: true });
        expect(box.bytes()).toEqual(before);
        expect(found.steps).toMatchObject([{ action: "record", done: false }]);
        expect(found.left).toHaveLength(1);
        expect(found.left[0]).toContain(`${types.length} pending operation`);
        expect(found.left[0]).toContain(`${types[0]} urn:pulumi:prod::shop::aws:s3`);
        expect(repairReport(found).split("\n").length).toBeLessThan(20);
      },
    ),
    { numRuns: Number(process.env.FUZZ_SCALE ?? 1) * 3, seed: 12 },
  );
  // Once they are settled it goes on.
  box.write(pending("creating", created));
  expect(await box.repair({ apply: true })).toMatchObject({ left: [], steps: [{ done: true }] });
});

const heldFlows = (box: StackSandbox): readonly unknown[] => {
  const resources: readonly unknown[] = box.deployment().resources;
  return resources.flatMap((each) =>
    isObject(each) && each.type === typeToken("Orchestration") ? [each.id] : [],
  );
};

const commands = {
  repair: (box: StackSandbox) => box.repair({ apply: true }),
  orphans: (box: StackSandbox) => runOrphans({ ...box.options, delete: true }),
} as const;

test.each([
  { order: ["repair", "repair", "repair"] as const, objects: [1] },
  // Whoever comes first decides: what is left over is deleted, or taken into the state.
  { order: ["repair", "orphans", "repair", "orphans"] as const, objects: [0, 1] },
])("at once, $order: what is there is what the state has", async ({ order, objects }) => {
  const { box } = await madeTwice();
  const ended = await Promise.allSettled(order.map((name) => commands[name](box)));
  for (const end of ended)
    if (end.status === "rejected") expect(String(end.reason)).toContain("is changing shop/prod");
  await box.repair({ apply: true });
  const left = (await box.control.objects("orchestrations")).map(({ id }) => id);
  expect(heldFlows(box)).toEqual(left);
  expect(objects).toContain(left.length);
});

test("one command at a time changes a stack, and the next one may when it has ended or failed", async () => {
  const stack = (name: string) => ({
    names: { project: "shop", stack: name },
    env: { XDG_CACHE_HOME: cache },
  });
  const cache = temporaryFolder();
  await whileAlone(stack("prod"), async () => {
    const second = whileAlone(stack("prod"), async () => "done");
    await expect(second).rejects.toThrow("is changing shop/prod");
    expect(await whileAlone(stack("test"), async () => "done")).toBe("done");
  });
  const failing = whileAlone(stack("prod"), async () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(await whileAlone(stack("prod"), async () => "done")).toBe("done");
  // Nothing can be kept there, so nobody else can hold a lock.
  const nowhere = { ...stack("prod"), env: { XDG_CACHE_HOME: "/dev/null" } };
  expect(await whileAlone(nowhere, async () => "done")).toBe("done");
});

test("a repair that is cut off at any question to Pulumi is finished by the next one", async () => {
  const { box: whole } = await madeTwice();
  await whole.repair({ apply: true });
  const questions = whole.asked().length;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: questions }),
      fc.constantFrom("before" as const, "after" as const),
      async (question, moment) => {
        const { box } = await madeTwice();
        box.killedAt(question, moment);
        await box.repair({ apply: true }).catch(() => undefined);
        box.alive();
        await box.repair({ apply: true });
        const left = (await box.control.objects("orchestrations")).map(({ id }) => id);
        expect(left).toHaveLength(1);
        expect(heldFlows(box)).toEqual(left);
        expect(await box.repair()).toMatchObject({ steps: [], left: [] });
      },
    ),
    { numRuns: Number(process.env.FUZZ_SCALE ?? 1) * 4, seed: 7 },
  );
});
