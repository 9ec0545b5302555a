import { expect, test } from "vitest";
import { messageOf } from "../../../cli/command.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { repairReport } from "../../../cli/repair/repair.js";
import { typeToken } from "../../../provider/pointer.js";
import { managedStack } from "../drift/managed-stack.js";
import { pending, type StackSandbox, stackSandbox } from "../stack/stack-sandbox.js";

const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };

const flowOf = async (box: StackSandbox) => {
  const authentication = await box.up("Authentication", "auth", {
    ...{ name: "auth", basicAuth: { username: "hub", password: "a-secret" } },
  });
  const application = await box.up("ClientApplication", "app", {
    name: "app",
    roles: [
      {
        ...{ name: "custom_bot", version: "v3", callback: "https://x.example.com/" },
        ...{ notificationEmail: "a@b.example", authentication },
      },
    ],
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
  return { box, created };
};

test("an object that was made twice: one is written into the state, the other deleted", async () => {
  const { box, created } = await madeTwice();
  box.write(pending("creating", created));
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
  expect(found.left).toEqual([expect.stringContaining("nothing tells which")]);
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
    expect(found.notes.join()).toContain("channels cannot be seen");
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
    steps: [{ action: "forget", why: "again", done: true }],
    left: [],
  });
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
  const { box, created } = await madeTwice();
  box.write(pending("creating", created));
  // Looks: for the names, with secrets, for all states, and twice before it is written.
  box.writeThen(5);
  const found = await box.repair({ apply: true });
  expect(found.steps).toMatchObject([
    { action: "record", done: false, reason: expect.stringContaining("has changed meanwhile") },
    { action: "delete", done: false, reason: "the state was not written" },
  ]);
  expect(box.asked().filter((line) => line.startsWith("stack import"))).toEqual([]);
  expect(await box.control.objects("orchestrations")).toHaveLength(2);
});
