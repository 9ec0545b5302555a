import { rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { messageOf } from "../../cli/command.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { whileAlone } from "../../cli/inventory/open-stack.js";
import { runOrphans } from "../../cli/orphans/orphans.js";
import { repairReport } from "../../cli/repair/repair.js";
import { isRepaired, repairSchema } from "../../cli/repair/repair-plan.js";
import { isObject } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { readMark } from "../../provider/lifecycle/ownership.js";
import { roleOf } from "../support/forms.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import {
  managedStack,
  pending,
  type StackSandbox,
  stackSandbox,
} from "./inventory/stack-sandbox.js";
import { run } from "./session.js";
import { ownershipOf, stateText } from "./stack-documents.js";

test("the help explains exactly the steps that a repair can take", async () => {
  const { out } = await run("repair", "--help");
  const steps = /^Steps:\n((?: {2}.*\n)+)/m.exec(out)?.[1] ?? "";
  const explained = [...steps.matchAll(/^ {2}(\S+)/gm)].map(([, action]) => action);
  const { options } = repairSchema.shape.steps.element;
  expect(explained).toEqual(options.map(({ shape }) => shape.action.value));
});

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
  // The run was begun again, and killed again.
  box.write(pending("creating", created), pending("creating", created));
  return { box, created };
};

test("an object that was made twice: one is written into the state, the other deleted", async () => {
  const { box, created } = await madeTwice();
  const before = box.bytes();
  const shown = await box.repair();
  expect(shown.steps.map(({ action }) => action)).toEqual(["record", "delete"]);
  expect(box.bytes()).toEqual(before);
  // The older one stays, wherever the list shows it.
  await box.edit(({ orchestrations = [] }) =>
    Object.assign(orchestrations[1] ?? {}, { created: "2026-01-01T00:00:00.000Z" }),
  );
  const [, first] = await box.control.objects("orchestrations");
  const done = await box.repair({ apply: true });
  expect(done.steps.map((step) => step.done)).toEqual([true, true]);
  const { resources, pending_operations: notes } = box.deployment();
  const kept = await box.control.objects("orchestrations");
  expect(kept.map(({ id }) => id)).toEqual([first?.id]);
  const { serial } = { ...readMark(first?.description).mark };
  expect(resources.at(-1)).toMatchObject({
    ...{ urn: created.urn, id: first?.id },
    outputs: { serial },
  });
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
  const found = await box.repair({ apply: true, stack: "prod" });
  expect(found.left).toEqual([expect.stringContaining("the marks do not show which")]);
  expect(found.left[0]).toContain(id);
  expect(found.left[0]).toContain("orphans --release --id <id> --stack prod)");
  expect(box.bytes()).toEqual(before);
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
});

test("what a run began in another account is looked for there, and nothing else is taken for it", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "here", { ...web, type: "custom.here" });
  await box.up("Channel", "web", web);
  box.popped();
  const staging = await managedStack();
  await staging.up("Channel", "other", { ...web, type: "custom.other" });
  const id = await staging.up("Channel", "web", web);
  const created = { ...staging.state.at(-1) };
  const [, { description } = {}] = await staging.control.objects("channels");
  await staging.control.byHand("POST", "/channels", { ...web, type: "custom.copy", description });
  const inputs = { ...(created.inputs as Record<string, unknown>), profile: "staging" };
  box.write(pending("creating", { ...created, inputs }));
  const ofStaging = Object.fromEntries(
    Object.entries(emulatorEnvironment(staging.control.emulator)).map(([name, value]) => [
      name.replace("CONVERSATION_", "CONVERSATION_STAGING_"),
      value,
    ]),
  );
  const env = { ...box.options.env, ...ofStaging, CONVERSATION_STAGING_BURST: "1000" };
  const found = await box.repair({ env, apply: true });
  expect(found).toMatchObject({ steps: [{ action: "record", id, done: true }], left: [] });
  const left = [...(await box.control.objects()), ...(await staging.control.objects())];
  expect(left).toHaveLength(5);
  // Its settings are not there: said, and nothing is taken off.
  box.write(pending("creating", { ...created, inputs }));
  const before = box.bytes();
  const refusal = await box.repair({ apply: true }).then(String, messageOf);
  expect(refusal).toContain("CONVERSATION_STAGING_");
  expect(box.bytes()).toEqual(before);
});

test("a creation of a kind that may not be listed is left to a person, and so is the state", async () => {
  const box = await cutOff();
  const before = box.bytes();
  await box.control.faults({ on: "GET /channels", kind: "forbidden-list", times: 99 });
  const found = await box.repair({ apply: true });
  expect(found.left).toEqual([expect.stringContaining("Channel web")]);
  expect(found.notes.join()).toContain("may not see everything that a run left behind. channels: ");
  expect(box.bytes()).toEqual(before);
  for (const line of repairReport(found).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

const marksOff = { CONVERSATION_OWNERSHIP_MARK: "none" };

test("what was begun is recorded if marks were turned off since", async () => {
  const box = await cutOff();
  const found = await box.repair({ env: { ...box.options.env, ...marksOff }, apply: true });
  expect(found).toMatchObject({ steps: [{ action: "record", done: true }], left: [] });
});

test("what was begun is recorded beside the object that it replaces", async () => {
  const box = await cutOff();
  const [{ resource }] = box.deployment().pending_operations;
  await box.up("Channel", "old", { ...web, type: "custom.old" });
  box.state.push({ ...box.popped(), urn: resource.urn, delete: true });
  box.write({ type: "creating", resource });
  const { steps } = await box.repair({ apply: true });
  expect(steps).toMatchObject([{ action: "record", done: true }]);
});

test("what the state has is not recorded again: the other one is deleted", async () => {
  const box = await stackSandbox();
  const flow = await flowOf(box);
  const kept = await box.up("Orchestration", "flow", flow);
  await box.control.faults({ on: "GET /orchestrations", kind: "stale-list", ms: 3_600_000 });
  await box.upAnew("Orchestration", "flow", flow);
  box.write(pending("creating", box.popped()));
  const { steps } = await box.repair({ apply: true });
  expect(steps.map(({ action, done }) => [action, done])).toEqual([
    ["forget", true],
    ["delete", true],
  ]);
  expect(await box.control.objects("orchestrations")).toMatchObject([{ id: kept }]);
});

test("a leftover stays if the other object is gone, in another stack, or perhaps in an unread one", async () => {
  const box = await stackSandbox({ other: "later" });
  await box.up("Channel", "here", { ...web, type: "custom.here" });
  const id = await box.up("Channel", "web", web);
  const held = box.popped();
  await box.upAnew("Channel", "web", { ...web, type: "custom.second" });
  box.popped();
  box.write();
  // Its stack before it was moved stands in its outputs.
  const moved = stateText("other", [{ kind: "Channel", name: "web", id }]).replace(
    `"outputs":{"owner":"${ownershipOf("other")}/web"`,
    `"outputs":{"owner":"${ownershipOf("prod")}/web"`,
  );
  box.writeOther(moved);
  expect((await box.repair()).steps).toEqual([]);
  box.state.push(held);
  box.write();
  box.writeOther(stateText("other", []));
  const [, { description } = {}] = await box.control.objects("channels");
  await box.control.byHand("POST", "/channels", { ...web, type: "custom.copy", description });
  expect((await box.repair()).steps).toMatchObject([{ action: "delete", name: "custom.second" }]);
  box.writeOther("torn");
  expect(await box.repair()).toMatchObject({
    steps: [],
    notes: [expect.stringContaining("could not read every stack")],
  });
  box.writeOther(stateText("other", []));
  await box.control.byHand("DELETE", `/channels/${id}`);
  expect((await box.repair()).steps).toEqual([]);
});

test.each([{}, { external: true }] as const)(
  "what another stack has by now is not recorded (%j)",
  async (more) => {
    const box = await stackSandbox({ other: "later" });
    const id = await box.up("Channel", "web", web);
    box.write(pending("creating", box.popped()));
    box.writeOther(stateText("other", [{ kind: "Channel", name: "web", id, ...more }]));
    const { steps } = await box.repair({ apply: true });
    expect(steps).toMatchObject([{ action: "forget", done: true }]);
  },
);

test("a creation whose object could carry no mark is left to a person", async () => {
  const box = await cutOff();
  const before = box.bytes();
  await box.edit(({ channels = [] }) => void channels.splice(0));
  const env = { ...box.options.env, ...marksOff };
  const found = await box.repair({ env, apply: true });
  const { left } = found;
  expect(left).toEqual([expect.stringContaining("Channel web: its object could not carry a mark")]);
  expect(isRepaired(found)).toBe(false);
  expect(box.bytes()).toEqual(before);
});

test("a creation that made nothing is forgotten, and so is one that the state has", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "held", web);
  const held = { ...box.state.at(-1) };
  await box.up("Channel", "gone", { ...web, type: "custom.gone" });
  const gone = box.popped();
  await box.control.byHand("DELETE", `/channels/${gone.id}`);
  // Half of a replacement stays until its other half: the object that is to be deleted is the same one.
  box.state.push({ ...held, delete: true });
  box.write(pending("creating", held), pending("creating", gone));
  const before = box.deployment().resources;
  const found = await box.repair({ apply: true });
  expect(found).toMatchObject({ steps: [1, 2].map(() => ({ action: "forget", done: true })) });
  expect(repairReport(found)).toMatch(/pulumi up --refresh\n.*pulumi destroy$/m);
  expect(repairReport(found, { stack: "prod" })).toMatch(
    /--refresh --stack prod\n.* --stack prod$/m,
  );
  const { resources, pending_operations: notes } = box.deployment();
  expect([resources, notes ?? []]).toEqual([before, []]);
  expect(await box.control.objects("channels")).toHaveLength(1);
});

test.each(["updating", "deleting"])(
  "what was cut off while %s is for the next run",
  async (type) => {
    const box = await stackSandbox();
    await box.up("Channel", "web", web);
    box.write(pending(type, { ...box.state.at(-1) }));
    const before = box.bytes();
    const { steps, notes } = await box.repair({ apply: true });
    // After a killed `destroy`, `up` would create again what is gone.
    const advice = /pulumi up --refresh settles them or, after a killed destroy, pulumi destroy\./;
    expect([steps, notes]).toEqual([[], [expect.stringMatching(advice)]]);
    expect(box.bytes()).toEqual(before);
  },
);

test("a state that moved meanwhile is not written, and nothing is deleted then", async () => {
  const { box } = await madeTwice();
  // Looks: for the stack, for all states, and before it is written.
  box.writeThen(3);
  const found = await box.repair({ apply: true });
  expect(found.steps).toMatchObject([
    { action: "record", done: false, reason: expect.stringContaining("changed in the meantime") },
    { action: "delete", done: false, reason: "the state was not written" },
  ]);
  expect(isRepaired(found)).toBe(false);
  expect(box.asked().filter((line) => line.startsWith("stack import"))).toEqual([]);
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
});

const cutOff = async (backend?: string) => {
  const box = await stackSandbox(backend ? { backend } : {});
  await box.up("Channel", "web", web);
  box.write(pending("creating", box.popped()));
  return box;
};

const said = (box: StackSandbox, more = {}): Promise<string> =>
  box.repair({ apply: true, ...more }).then(repairReport, messageOf);

test("a run that begins while repair looks is left alone: the state is not written", async () => {
  const box = await cutOff();
  const before = box.deployment();
  // At the second export all states are read; then the steps are done.
  box.lockThen(2, {});
  const { steps } = await box.repair({ apply: true });
  const reason = expect.stringContaining("the stack shop/prod is locked");
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

test("a lock is refused with what to do, and nothing changes", async () => {
  const box = await cutOff();
  box.lock({});
  const before = box.bytes();
  for (const more of [{}, { ignoreLock: true }])
    expect(await said(box, more)).toContain("if it was killed, run pulumi cancel");
  await expect(box.repair()).rejects.toThrow("if it was killed, run pulumi cancel");
  expect(box.bytes()).toEqual(before);
});

test.each([
  ["a file where their folder was", undefined, "its locks are unreadable"],
  ["a backend that hides them", "s3://states", "the backend s3 does not expose its locks"],
])("locks that cannot be read, %s: refused until a person vouches", async (_, backend, text) => {
  const box = await cutOff(backend);
  if (!backend) {
    rmSync(box.locks, { recursive: true });
    writeFileSync(box.locks, "");
  }
  const before = box.bytes();
  expect(await said(box)).toContain(text);
  expect(box.bytes()).toEqual(before);
  expect(await said(box, { ignoreLock: true })).toContain("✓ Write Channel web into the state");
});

test("Pulumi Cloud reports updates itself", async () => {
  const box = await cutOff("https://api.pulumi.com");
  const { steps } = await box.repair({ apply: true });
  expect(steps).toMatchObject([{ action: "record", done: true }]);
});

/** What a run of another package began. */
const foreign = (type: string, at: number) =>
  pending(type, {
    urn: `urn:pulumi:prod::shop::aws:s3/bucket:Bucket::bucket-${at}`,
    ...{ type: "aws:s3/bucket:Bucket", custom: true, id: `b-${at}`, inputs: {}, outputs: {} },
  });

test("an object that is gone once it is read was not made", async () => {
  const box = await stackSandbox({ emulator: { clock: "manual" } });
  const id = await box.up("Channel", "web", web);
  box.write(pending("creating", box.popped()));
  const [{ id: _, created: __, modified: ___, ...body } = { id: "" }] = await box.control.objects();
  await box.control.byHand("PUT", `/channels/${id}`, { ...body, displayName: "Else" });
  box.emulator.advance(60_000);
  await box.control.byHand("DELETE", `/channels/${id}`);
  await box.control.faults({ on: "GET /channels", kind: "stale-list", ms: 30_000, times: 1 });
  const { steps } = await box.repair({ apply: true });
  expect(steps).toMatchObject([{ action: "forget", done: true }]);
  expect(await box.control.control("GET", "/faults")).toEqual([]);
});

test("the pending creation of a component, such as the stack of a first run, is removed", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "web", web);
  const type = "pulumi:pulumi:Stack";
  const urn = `urn:pulumi:prod::shop::${type}::shop-prod`;
  box.write(pending("creating", { urn, type, custom: false, inputs: {} }));
  const { steps, left } = await box.repair({ apply: true });
  expect({ steps, left }).toEqual({
    steps: [{ action: "forget", urn, kind: "Stack", done: true }],
    left: [],
  });
  expect(box.deployment().pending_operations).toBeUndefined();
});

test("creations of other packages stay pending, however many, and are told in one sentence", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "web", web);
  const created = box.popped();
  for (const count of [1, 400]) {
    const operations = Array.from({ length: count }, (_, at) => foreign("creating", at));
    box.write(...operations, foreign("updating", count), pending("creating", created));
    const before = box.bytes();
    const found = await box.repair({ apply: true });
    expect(box.bytes()).toEqual(before);
    expect(found.steps).toMatchObject([{ action: "record", done: false }]);
    expect(found.left).toHaveLength(1);
    expect(found.left[0]).toContain(`(${count}): urn:pulumi:prod::shop::aws:s3`);
    expect(repairReport(found).split("\n").length).toBeLessThan(20);
  }
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
    readBackend: async () => ({ text: "file:///states" }),
  });
  const cache = temporaryFolder();
  await whileAlone(stack("prod"), async () => {
    const second = whileAlone(stack("prod"), async () => "done");
    await expect(second).rejects.toThrow("is changing shop/prod");
    expect(await whileAlone(stack("test"), async () => "done")).toBe("done");
    const elsewhere = { ...stack("prod"), readBackend: async () => ({ text: "s3://states" }) };
    expect(await whileAlone(elsewhere, async () => "done")).toBe("done");
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
