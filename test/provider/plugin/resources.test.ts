import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type Emulator, startEmulator } from "../../../emulator/index.js";
import { autoName } from "../../../provider/definition/automatic-name.js";
import type { JsonObject as Json } from "../../../provider/kernel/json.js";
import { undisclosed, unknownValue } from "../../../provider/kernel/pulumi.js";
import { unlimitedBurst } from "../../../provider/pacing/pacer.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { PluginClient } from "../../support/plugin-client.js";

const key = "4dabf18193072939515e22adb298388d";
const secret = (value: unknown) => ({ [key]: "1b47061264138c4ac30d75fd1eb44270", value });
const ownership = "shop/prod/0123456789abcdef";

const urn = (kind: string, name: string, parents = "") =>
  `urn:pulumi:prod::shop::${parents}conversation:index:${kind}::${name}`;

const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };

let emulator: Emulator;
let control: EmulatorControl;
let plugin: PluginClient;

beforeAll(async () => {
  emulator = await startEmulator();
  control = new EmulatorControl(emulator);
});
afterAll(() => emulator.close());
afterEach(() => vi.unstubAllEnvs());

/** The plugin as the engine starts it anew for each run. */
const nextRun = async (name = "eu", owned = ownership): Promise<void> => {
  await plugin?.[Symbol.asyncDispose]();
  plugin = await PluginClient.open();
  const { baseUrl, tokenUrl, clientId, clientSecret } = emulator;
  await plugin.configure(name, {
    ...{ baseUrl, tokenUrl, clientId, ownership: owned },
    clientSecret: secret(clientSecret),
    burst: unlimitedBurst,
  });
};

beforeEach(async () => {
  await control.control("PUT", "/snapshot", { version: 1, objects: {} });
  await nextRun();
});
afterAll(() => plugin[Symbol.asyncDispose]());

const checked = async (name: string, inputs: Json, olds: Json = {}, kind = "Channel") => {
  const reply = await plugin.check(urn(kind, name), olds, inputs);
  expect(reply.error ?? reply.failures).toEqual([]);
  return reply.inputs ?? {};
};

const made = async (name: string, inputs: Json, kind = "Channel") => {
  const given = await checked(name, inputs, {}, kind);
  const { id = "", properties = {}, error } = await plugin.create(urn(kind, name), given);
  expect(error).toBeUndefined();
  return { id, inputs: given, outputs: properties };
};

test("the owner comes from the URN and the provider; a resource in the state keeps its ownership", async () => {
  expect((await checked("web", web)).owner).toBe(`${ownership}/web`);
  await nextRun();
  const inside = await plugin.check(urn("Channel", "web", "my:index:Shop$my:index:Help$"), {}, web);
  expect(inside.inputs?.owner).toBe(`${ownership}/my:index:Shop$my:index:Help$web`);
  await nextRun();
  const below = await plugin.check(urn("Channel", "web", "conversation:index:Account$"), {}, web);
  const asDynamic = "pulumi-nodejs:dynamic/conversation:Account$web";
  expect(below.inputs?.owner).toBe(`${ownership}/${asDynamic}`);
  await nextRun();
  const olds = { ...web, owner: "shop/prod/fedcba9876543210/before" };
  expect((await checked("web", web, olds)).owner).toBe("shop/prod/fedcba9876543210/web");
  await nextRun();
  const moved = { ...web, owner: "shop/other/fedcba9876543210/web" };
  expect((await checked("web", web, moved)).owner).toBe(`${ownership}/web`);
});

test("a resource that changes to another provider is checked under two owners, and is no namesake of itself", async () => {
  const olds = { ...web, owner: "shop/prod/fedcba9876543210/web" };
  await checked("web", web, olds);
  expect((await checked("web", web)).owner).toBe(`${ownership}/web`);
  const other = await plugin.check(urn("Channel", "web", "my:index:Shop$"), {}, web);
  expect(other.failures).toEqual([expect.stringMatching(/^type must be unique/)]);
});

test("nobody but the plugin says whose an object is", async () => {
  const given = { ...web, owner: "x/y/z/a", markedSecrets: ["icon"], autoName: "b" };
  expect(await checked("web", given)).toEqual({ ...(await checked("web", web)) });
});

const bot = { type: "custom_bot", application: "7b1d1bb3-0d4e-4d53-8d7e-3f6f0c9a2a10" };

test("an automatic name is the one that the classes make, for the same ownership and parents", async () => {
  const named = { kind: "Participant", name: "bot" };
  for (const [parents, asNamed] of [
    ["", ""],
    ["my:index:Shop$", "my:index:Shop$"],
    ["conversation:index:Account$", "pulumi-nodejs:dynamic/conversation:Account$"],
  ] as const) {
    const reply = await plugin.check(urn("Participant", "bot", parents), {}, bot);
    expect(reply.inputs?.name).toBe(autoName({ ...named, owner: `${ownership}/${asNamed}bot` }));
  }
});

test("what the program marks is marked for the life cycle, and sealed in inputs and outputs", async () => {
  const given = { ...web, displayName: secret("canary") };
  const inputs = await checked("web", given);
  const { properties } = await plugin.create(urn("Channel", "web"), inputs, true);
  for (const values of [inputs, properties]) {
    expect(values).toMatchObject({
      displayName: secret("canary"),
      markedSecrets: ["displayName"],
    });
  }
  const broken = await plugin.check(urn("Channel", "b"), {}, { ...given, type: 5, icon: "" });
  expect(broken.failures?.length).toBeGreaterThan(0);
  expect(broken.failures?.join()).not.toContain("canary");
});

test("a preview answers with unknowns and writes nothing", async () => {
  const given = await checked("web", web);
  const before = await control.log();
  const { id, properties } = await plugin.create(urn("Channel", "web"), given, true);
  expect(id).toBe("");
  expect(properties).toMatchObject({ ...web, created: unknownValue, modified: unknownValue });
  expect(await control.log()).toEqual(before);
});

test("a change is reported by property, made in place, and is gone afterward", async () => {
  const state = await made("web", { ...web, description: "old" });
  const news = await checked("web", { ...web, displayName: "New" }, state.inputs);
  const at = urn("Channel", "web");
  const change = await plugin.diff(at, state.id, state, news);
  expect(change).toEqual({
    changes: true,
    detailed: { displayName: 4, description: 2 },
    replaces: [],
  });
  const shown = await plugin.update(at, state.id, state, news, true);
  expect(shown.properties).toMatchObject({ displayName: "New", modified: unknownValue });
  expect(shown.properties?.created).toBe(state.outputs.created);
  const { properties = {} } = await plugin.update(at, state.id, state, news);
  const now = { inputs: news, outputs: properties };
  expect(await plugin.diff(at, state.id, now, news)).toMatchObject({
    changes: false,
    detailed: {},
  });
  expect(await control.objects("channels")).toMatchObject([{ id: state.id, displayName: "New" }]);
});

test("what dynamic resources wrote is the same, and stays so", async () => {
  const { id, inputs, outputs } = await made("web", web);
  const __provider = "exports.handler=…";
  const dynamic = { inputs: { ...inputs, __provider }, outputs: { ...outputs, __provider } };
  const news = await checked("web", web, dynamic.inputs);
  expect(news).toEqual(inputs);
  expect((await plugin.diff(urn("Channel", "web"), id, dynamic, news)).changes).toBe(false);
});

test("drift is read, and an object that is gone has no properties", async () => {
  const state = await made("web", web);
  const [object] = await control.objects("channels");
  await control.byHand("PUT", `/channels/${state.id}`, { ...object, displayName: "By hand" });
  await nextRun();
  const at = urn("Channel", "web");
  const drifted = await plugin.read(at, state.id, state);
  expect(drifted).toMatchObject({ id: state.id, inputs: { displayName: "By hand" } });
  expect((await plugin.delete(at, state.id, state.outputs)).error).toBeUndefined();
  const gone = await plugin.read(at, state.id, state);
  expect(gone).toEqual({ id: "", inputs: undefined, properties: undefined });
});

const desk = { name: "desk", basicAuth: { username: "hub", password: "canary" } };

const importedDesk = async () => {
  const body = { name: "desk", type: "basic", basicAuth: { username: "hub", password: "canary" } };
  const id = "7b1d1bb3-0d4e-4d53-8d7e-3f6f0c9a2a10";
  const time = "2026-01-01T00:00:00.000Z";
  const objects = { authentications: [{ id, created: time, modified: time, ...body }] };
  await control.control("PUT", "/snapshot", { version: 1, objects });
  const at = urn("Authentication", "desk");
  const { inputs = {}, properties = {}, error } = await plugin.read(at, id);
  expect(error).toBeUndefined();
  return { at, id, inputs, outputs: properties };
};

test("an import reads an object as a program would declare it, without secrets and without an owner", async () => {
  const { inputs, outputs } = await importedDesk();
  for (const values of [inputs, outputs]) {
    expect(values).toMatchObject({
      name: "desk",
      type: "basic",
      basicAuth: { username: "hub", password: secret(undisclosed) },
    });
    expect(values).not.toHaveProperty("owner");
    expect(JSON.stringify(values)).not.toContain("canary");
  }
  expect(Object.keys(inputs)).not.toContain("created");
});

test.each([
  ["as it was generated", undisclosed],
  ["with the right password", "canary"],
])("an imported object %s is no change", async (_, password) => {
  const { at, id, ...state } = await importedDesk();
  const given = { ...state.inputs, basicAuth: { username: "hub", password: secret(password) } };
  const news = await checked("desk", given, state.inputs, "Authentication");
  expect(news.owner).toBe(`${ownership}/desk`);
  expect((await plugin.diff(at, id, state, news)).changes).toBe(false);
  const changed = { ...news, description: "ours now" };
  expect(await plugin.diff(at, id, state, changed)).toMatchObject({ changes: true });
  const done = await plugin.update(at, id, { ...state, inputs: news }, changed);
  // The service hides it, so nobody can write it back.
  if (password === undisclosed)
    return expect(done.error).toMatch(/basicAuth\.password.*Declare basicAuth\.password/);
  expect(done.error).toBeUndefined();
  const [object] = await control.objects("authentications");
  expect(object?.description).toMatch(/^ours now \[pulumi: shop\/prod desk #/);
});

test("an object with the mark of another stack is read, but the check after an import refuses it, and nothing deletes it", async () => {
  const { id, outputs } = await made("desk", desk, "Authentication");
  const at = urn("Authentication", "desk");
  await nextRun("us", "shop/other/fedcba9876543210");
  const { inputs = {}, properties = {}, error } = await plugin.read(at, id);
  expect(error).toBeUndefined();
  expect(properties).toMatchObject({ name: "desk" });
  const refusal = await plugin.check(at, inputs, { ...inputs, name: 5 });
  expect(refusal.error).toMatch(
    /cannot be imported: it carries the mark of another stack or state, shop\/prod desk/,
  );
  expect((await plugin.delete(at, id, properties, inputs)).error).toBeUndefined();
  expect(await control.objects("authentications")).toMatchObject([{ id }]);
  await nextRun();
  const own = await plugin.read(at, id);
  expect(own.properties?.serial).toBe(outputs.serial);
  const news = await checked("desk", own.inputs ?? {}, own.inputs, "Authentication");
  expect(news.owner).toBe(`${ownership}/desk`);
  expect(news).not.toHaveProperty("imported");
});

test("find gives the id and the outputs of the one object, its secrets sealed", async () => {
  const { id } = await made("desk", desk, "Authentication");
  const found = await plugin.invoke("conversation:index:findAuthentication", { name: "desk" });
  expect(found.properties).toMatchObject({
    id,
    name: "desk",
    basicAuth: { password: { [key]: expect.any(String) } },
  });
  const none = await plugin.invoke("conversation:index:findAuthentication", { name: "no" });
  expect(none.error).toMatch(/^Authentication.find: no authentication has/);
  const wrong = await plugin.invoke("conversation:index:findAuthentication", { nme: "no" });
  expect(wrong.error).toMatch(/nme is not a text property of Authentication.*name/);
});
