import fc from "fast-check";
import { expect, test } from "vitest";
import { driftReport } from "../../cli/drift/report.js";
import { definitionOfType, openedValues } from "../../cli/pulumi/stack-documents.js";
import type { Definition, Field } from "../../provider/definition/define.js";
import { changeFieldSecrets, wireName } from "../../provider/definition/fields.js";
import { toWire } from "../../provider/definition/wire.js";
import { mutationsOf } from "../definition/support/mutations.js";
import { roleOf } from "../support/forms.js";
import { managedStack } from "./inventory/stack-sandbox.js";
import { run } from "./session.js";

const seed = Number(process.env.DRIFT_SEED ?? 20_261_122);
/** Outside edits that are tried for each way of the service: more on demand. */
const editsTried = Number(process.env.DRIFT_EDITS ?? 40);

const services = (["mask", "echo", "omit"] as const).map((secrets) => ({ secrets }));

test.each(services)("no drift after up, whatever is declared: %j", async (switches) => {
  const given = fc.sample(fc.infiniteStream(fc.boolean()), { numRuns: 3, seed });
  for (const choices of [
    () => true,
    () => false,
    ...given.map((stream) => () => stream.next().value),
  ]) {
    const stack = await managedStack(switches);
    await stack.upForms(choices);
    const calls = (await stack.control.log()).length;
    const found = await stack.drift();
    expect(found).toMatchObject({
      drift: false,
      changed: [],
      deleted: [],
      unmanaged: [],
      unread: [],
      compared: stack.state.length - 1,
    });
    const more = (await stack.control.log()).slice(calls);
    expect(
      more.filter(({ method, template }) => method !== "GET" || template.includes("{")),
    ).toEqual([]);
  }
});

test.each(services)("no drift after an import: %j", async (switches) => {
  const stack = await managedStack(switches);
  await stack.upForms(() => true);
  await stack.importAll();
  expect(await stack.drift()).toMatchObject({ drift: false, changed: [] });
});

test("a secret that somebody changed is not compared, but the change of its object is told", async () => {
  const stack = await managedStack({ secrets: "echo" });
  await stack.up("Authentication", "auth", {
    name: "auth",
    basicAuth: { username: "hub", password: "first-secret" },
  });
  const modified = "2099-01-01T00:00:00.000Z";
  await stack.edit((objects) => {
    for (const object of objects.authentications ?? [])
      Object.assign(object, { modified, basicAuth: { username: "hub", password: "another" } });
  });
  const note = `Authentication "auth" changed at ${modified}, but not in a compared field`;
  const { drift, notes } = await stack.drift();
  expect([drift, notes]).toEqual([false, [expect.stringContaining(note)]]);
  await stack.edit((objects) => {
    for (const object of objects.authentications ?? []) object.active = false;
  });
  const who = expect.stringMatching(
    /^someone else: this stack last wrote or read the object as of 20/,
  );
  const found = await stack.drift();
  expect(found).toMatchObject({ drift: true, changed: [{ who, modified }] });
  expect(JSON.stringify(found)).not.toMatch(/first-secret|another/);
  expect(driftReport(found, { stack: "prod" }).replaceAll(/\s+/g, " ")).toContain(
    "run pulumi refresh --stack prod, and then pulumi up --stack prod.",
  );
});

/** A place of a state and a value that means something else. */
interface Edit {
  readonly id: string;
  readonly definition: Definition;
  readonly name: string;
  readonly value: unknown;
  readonly prior: unknown;
}

test.each(services)(
  "every edit by others is found, at the object and the field: %j",
  async (switches) => {
    const stack = await managedStack(switches);
    await stack.upForms(() => true);
    const edits = stack.state.flatMap((resource): Edit[] => {
      const definition = definitionOfType(String(resource.type));
      const values = openedValues(resource.outputs as Record<string, unknown>);
      return Object.entries(definition?.fields ?? {}).flatMap(([name, field]) =>
        definition && values[name] !== undefined
          ? mutationsOf(field, values[name]).map((value) => ({
              ...{ id: String(resource.id), definition, name, value, prior: values[name] },
            }))
          : [],
      );
    });
    let tried = 0;
    const chosen = fc.sample(fc.constantFrom(...edits), { numRuns: editsTried, seed });
    const before = structuredClone(await stack.control.collections());
    const open = (field: Field, value: unknown): string =>
      JSON.stringify(changeFieldSecrets({ field }, { field: value }, () => undefined));
    for (const { id, definition, name, value, prior } of chosen) {
      const field = definition.fields[name];
      if (!field) throw new Error(name);
      const isTaken = await stack.edit((objects) => {
        for (const [collection, all] of Object.entries(structuredClone(before)))
          objects[collection] = [...all];
        const object = objects[definition.collection]?.find((each) => each.id === id);
        if (!object) return;
        object[wireName(name, field)] = toWire(field, value, stack.settings);
        object.modified = "2099-01-01T00:00:00.000Z";
      });
      if (!isTaken) continue;
      tried += 1;
      const { changed, deleted, drift, notes } = await stack.drift();
      // What differs in secrets only is not compared, but the object is named.
      if (!drift && open(field, value) === open(field, prior)) {
        expect(notes.join()).toContain("changed at 2099-01-01T00:00:00.000Z");
        continue;
      }
      const found = changed.map((each) => ({
        id: each.id,
        fields: [...new Set(each.changes.map(({ path }) => path.split(/[.[]/)[0]))],
      }));
      const edit = `${definition.kind}.${name} = ${JSON.stringify(value)}`;
      expect({ edit, drift, found, deleted }).toEqual({
        ...{ edit, drift: true, found: [{ id, fields: [name] }], deleted: [] },
      });
    }
    expect(tried).toBeGreaterThan(editsTried / 4);
  },
);

test("what the program made secret is named without its values on either side", async () => {
  const stack = await managedStack();
  const id = await stack.up("ClientApplication", "bot", {
    name: "name-key",
    description: "first words",
    roles: [roleOf("custom_bot", { callback: "https://bot.example.com/first-key" })],
  });
  for (const field of ["name", "roles"]) stack.sealInState(field);
  await stack.edit((objects) => {
    const [object] = objects.clientapplications ?? [];
    if (!object) return;
    object.description = "other words";
    object.roles = [roleOf("custom_bot", { callback: "https://bot.example.com/second-key" })];
  });
  const found = await stack.drift();
  expect(found.changed).toMatchObject([
    {
      id,
      name: "[secret]",
      changes: [
        { path: "description", state: '"first words"', live: '"other words"' },
        { path: "roles[custom_bot].callback", state: "[secret]", live: "[secret]" },
      ],
    },
  ]);
  expect(JSON.stringify(found)).not.toMatch(/first-key|second-key|name-key/);
});

test("what is gone, what is in no stack and what is another stack's are distinguished", async () => {
  const stack = await managedStack();
  const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };
  const kept = await stack.up("Channel", "web", web);
  const gone = await stack.up("Channel", "gone", { ...web, type: "custom.gone" });
  await stack.control.byHand("DELETE", `/channels/${gone}`);
  const again = await stack.control.byHand("POST", "/channels", { ...web, type: "custom.gone" });
  const copied = (await stack.control.objects("channels")).find(({ id }) => id === kept);
  if (!copied) throw new Error("no channel");
  const { id: _, created: __, modified: ___, ...body } = copied;
  const copy = await stack.control.byHand("POST", "/channels", { ...body, type: "custom.copy" });
  const description = "by others [pulumi: site/prod shop #0123abcd-0123456789ab]";
  const other = await stack.control.byHand("POST", "/channels", {
    ...{ ...web, type: "custom.other", description },
  });
  const found = await stack.drift();
  expect(found.changed).toEqual([]);
  expect(found.deleted).toMatchObject([{ id: gone, name: "custom.gone" }]);
  expect(found.unmanaged).toMatchObject([
    { id: again.id, standing: "foreign" },
    { id: copy.id, standing: "copy" },
  ]);
  expect(found.otherStacks).toMatchObject([{ id: other.id, stack: "site/prod" }]);
});

const ignoringBot = async (ignoreChanges: readonly string[]) => {
  const stack = await managedStack();
  const role = { name: "custom_bot", version: "v3", notificationEmail: "ops@example.com" };
  const callback = "https://bot.example.com/";
  const fields = { name: "bot", description: "first", roles: [{ ...role, callback }] };
  await stack.up("ClientApplication", "bot", fields);
  Object.assign(stack.state.at(-1) ?? {}, { ignoreChanges });
  await stack.edit(({ clientapplications: [bot = {}] = [] }) => {
    bot.description = String(bot.description).replace("first", "second");
    const changed = { callback: "https://other.example.com/", notificationEmail: "x@example.com" };
    bot.roles = (Array.isArray(bot.roles) ? bot.roles : []).map((each) => ({
      ...each,
      ...changed,
    }));
  });
  const { changed, drift } = await stack.drift();
  return { drift, paths: changed.flatMap(({ changes }) => changes.map(({ path }) => path)) };
};

const [callback, email] = ["roles[custom_bot].callback", "roles[custom_bot].notificationEmail"];

test.each<[readonly string[], readonly string[]]>([
  [["description"], [callback, email]],
  [["roles[0].callback", "description"], [email]],
  [
    ["roles[*].notificationEmail", "active"],
    ["description", callback],
  ],
  [["roles"], ["description"]],
  [
    ["role", "desc"],
    ["description", callback, email],
  ],
  [["*"], []],
  [["description", 'roles[0]["callback"]', "roles[0].*"], []],
])("what a resource ignores (%j) is no drift", async (ignored, paths) => {
  const found = await ignoringBot(ignored);
  expect({ ...found, paths: found.paths.toSorted() }).toEqual({
    ...{ drift: paths.length > 0, paths: paths.toSorted() },
  });
});

test("an account that has nothing of the stack is not said to have lost it by somebody's hand", async () => {
  const [stack, other] = [await managedStack(), await managedStack()];
  const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };
  for (const name of ["web", "desk"]) await stack.up("Channel", name, { ...web, type: name });
  other.state.splice(0, 1, ...stack.state);
  const found = await other.drift();
  expect(found).toMatchObject({ drift: true, deleted: [{ elsewhere: true }, { elsewhere: true }] });
  const report = driftReport(found, { stack: "prod" }).replaceAll(/\s+/g, " ");
  expect(report).toContain("Drift: 2 not found;");
  expect(report).toContain(`the account at ${other.settings.baseUrl} has none of the`);
  expect(report).toContain("If the settings point to another service, correct baseUrl");
  expect(report).not.toMatch(/someone else|restore the program's values/);
  // One object proves it for all.
  const read = (await other.control.log()).filter(({ template }) => template === "/channels/{id}");
  expect(read).toHaveLength(1);
});

test("an object that its list does not show yet is not gone", async () => {
  const stack = await managedStack();
  const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };
  await stack.up("Channel", "desk", { ...web, type: "custom.desk" });
  const id = await stack.up("Channel", "web", web);
  const behind = { on: "GET /channels", kind: "stale-list", ms: 600_000, times: 9 };
  await stack.control.faults(behind);
  expect(await stack.drift()).toMatchObject({ drift: false, changed: [], deleted: [] });
  await stack.control.byHand("DELETE", `/channels/${id}`);
  expect(await stack.drift()).toMatchObject({
    ...{ drift: true, changed: [] },
    deleted: [{ id, who: expect.stringMatching(/^someone else/) }],
  });
});

test("an object that cannot be read is named with the reason, beside what is found of the others", async () => {
  const stack = await managedStack();
  const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };
  const id = await stack.up("Channel", "web", web);
  await stack.up("Channel", "desk", { ...web, type: "custom.desk" });
  const behind = { on: "GET /channels", kind: "stale-list", ms: 600_000, times: 9 };
  const refused = { on: "GET /channels/{id}", kind: "status", status: 403, times: 1 };
  for (const fault of [behind, refused]) await stack.control.faults(fault);
  const found = await stack.drift();
  expect(found).toMatchObject({ drift: false, deleted: [], compared: 1 });
  expect(found.unread).toEqual([{ kind: "Channel", problem: expect.stringContaining(id) }]);
  expect(found.notes).toContain(found.unread[0]?.problem);
});

test("a kind that may not be listed is named with the reason, and no object of it counts as gone", async () => {
  const stack = await managedStack();
  await stack.up("Channel", "web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
  await stack.control.faults({ on: "GET /channels", kind: "forbidden-list", times: 9 });
  const found = await stack.drift();
  expect(found).toMatchObject({ drift: false, deleted: [], unread: [{ kind: "Channel" }] });
});

test("a wrong command line is 1, as 2 stands for drift", async () => {
  expect((await run("drift", "--nonsense")).code).toBe(1);
  expect((await run("drift", "--json", "--markdown")).code).toBe(1);
  expect((await run("repair", "--nonsense")).code).toBe(2);
});
