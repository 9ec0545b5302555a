import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel as channelDefinition } from "../../provider/resources/channel.js";
import { handedBack } from "../support/door.js";
import { asBody, type Emulated, emulated, owned } from "../support/emulated.js";
import { oauth2, roleOf } from "../support/forms.js";
import { basicInputs, kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const { make, change } = stepsOn(() => hub);

test("an update is one read and one PUT", async () => {
  const { id, state } = await make("Channel", kiosk());
  await hub.calls();
  await change("Channel", id, state, kiosk({ displayName: "New" }));
  expect(await hub.calls()).toEqual(["GET /channels/{id} 200", "PUT /channels/{id} 204"]);
});

test("an update keeps what the program never gave and removes what it gives no more", async () => {
  const { id, state } = await make(
    "Channel",
    kiosk({ restrictions: { inbound: { maxTextLength: 5 } } }),
  );
  const live = await hub.service.read(channelDefinition, id);
  await hub.service.replace(channelDefinition, id, {
    ...asBody(live),
    l10nProperties: [{ language: "en-US", properties: [{ name: "a", value: "A" }] }],
  });
  await change("Channel", id, state, kiosk());
  const [object] = await hub.objects("channels");
  expect(object).toMatchObject({ l10nProperties: [{ language: "en-US" }] });
  expect(object).not.toHaveProperty("restrictions");
});

test("a changed secret is written, and no mask is ever written back", async () => {
  const { id, state } = await make("Authentication", basicInputs("first-password"));
  const after = await change("Authentication", id, state, basicInputs("second-password"));
  await change("Authentication", id, after, {
    ...basicInputs("second-password"),
    description: "x",
  });
  expect(await hub.objects("authentications")).toMatchObject([
    { basicAuth: { username: "hub", password: "second-password" } },
  ]);
});

test("a refused new name of another resource of the program names that one", async () => {
  const { id, state } = await make("Channel", kiosk());
  const taken = kiosk({ type: "custom.web" });
  await make("Channel", { ...taken, owner: "shop/prod/0123456789abcdef/web" });
  // At its check it was unknown.
  await expect(hub.of("Channel").update(id, state, taken)).rejects.toThrow(
    /the type belongs to another resource in this program: Channel "web"/,
  );
});

test("what an update leaves undeclared is said before the next one", async () => {
  const { id, state } = await make("Channel", kiosk());
  const live = await hub.service.read(channelDefinition, id);
  const byHand = { language: "en-US", properties: [{ name: "a", value: "A" }] };
  await hub.service.replace(channelDefinition, id, { ...asBody(live), l10nProperties: [byHand] });
  const later = await change("Channel", id, state, kiosk({ displayName: "New" }));
  await hub.of("Channel").diff(id, later, { ...later, displayName: "Newer" });
  expect(hub.reported.join()).toContain("not declared in the program: l10nProperties");
});

test("another method takes the place of the one before", async () => {
  const { id, state } = await make("Authentication", basicInputs("first-password"));
  await change(
    "Authentication",
    id,
    state,
    owned("basic", { name: "web", oauth2: { ...oauth2, payload: { a: 1 } } }),
  );
  const [object] = await hub.objects("authentications");
  expect(object).toMatchObject({ type: "oauth2", oauth2: { payload: '{"a":1}' } });
  expect(object).not.toHaveProperty("basicAuth");
});

test("a vendor's own word is mapped both ways", async () => {
  await hub.stop();
  hub = await emulated(
    { switches: { platformName: "acme" } },
    { CONVERSATION_PLATFORM_NAME: "acme" },
  );
  const app = await make(
    "ClientApplication",
    owned("app", { name: "app", roles: [roleOf("platform_bot")] }),
  );
  expect(await hub.objects("clientapplications")).toMatchObject([
    { roles: [{ name: "acme_bot" }] },
  ]);
  hub.nextRun();
  const { inputs } = await hub.of("ClientApplication").read(app.id, app.state);
  expect(inputs).toMatchObject({ roles: [{ name: "platform_bot" }] });
});

test.each([
  ["status-after-commit", undefined],
  ["status", /the response is not JSON/],
] as const)("where only pages answer a PUT (%s), the object decides", async (kind, failure) => {
  const { id, state } = await make("Channel", kiosk());
  await hub.faults({ on: "PUT /channels/{id}", kind, status: 200, body: "<html>", times: 9 });
  const changes = { displayName: "New", description: "A person's words" };
  const changed = change("Channel", id, state, kiosk(changes));
  if (failure) await expect(changed).rejects.toThrow(failure);
  else await changed;
  expect((await hub.objects("channels"))[0]?.displayName === "New").toBe(!failure);
});

test("where only pages answer, a secret or a removal that the object does not prove is not written", async () => {
  const pages = { kind: "status", status: 200, body: "<html>", times: 9 };
  const secret = await make("Authentication", basicInputs("first-password"));
  await hub.faults({ on: "PUT /authentications/{id}", ...pages });
  const rotated = change("Authentication", secret.id, secret.state, basicInputs("second-password"));
  await expect(rotated).rejects.toThrow("not JSON");
  const limited = await make("Channel", kiosk({ restrictions: { inbound: { maxTextLength: 5 } } }));
  await hub.faults({ on: "PUT /channels/{id}", ...pages });
  await expect(change("Channel", limited.id, limited.state, kiosk())).rejects.toThrow("not JSON");
});

test("a refresh shows when a person changed the object", async () => {
  const { id, state } = await make("Channel", kiosk());
  hub.emulator.advance(5_000);
  const live = await hub.service.read(channelDefinition, id);
  await hub.service.replace(channelDefinition, id, asBody(live));
  hub.nextRun();
  const { props } = await hub.of("Channel").read(id, state);
  const [object] = await hub.objects("channels");
  expect(props).toMatchObject({ created: state.created, modified: object?.modified });
});

test("a removed mark comes back with the next update", async () => {
  const { id, state } = await make("Channel", kiosk());
  const live = await hub.service.read(channelDefinition, id);
  await hub.service.replace(channelDefinition, id, { ...asBody(live), description: "by hand" });
  hub.nextRun();
  const { inputs, props } = await hub.of("Channel").read(id, state);
  expect(inputs).not.toHaveProperty("description");
  await change("Channel", id, handedBack(props), kiosk());
  expect((await hub.objects("channels"))[0]?.description).toMatch(/^by hand \[pulumi: /);
});

test("a new resource does not take the object of one that was renamed", async () => {
  const { id, state } = await make("Channel", kiosk());
  hub.nextRun();
  const owner = "shop/prod/0123456789abcdef/renamed";
  const renamed = handedBack(
    (await hub.of("Channel").check(state, { ...kiosk({ type: "custom.next" }), owner })).inputs,
  );
  // The engine compares the owners, and an update renews the mark.
  expect(await hub.of("Channel").diff(id, state, renamed)).not.toEqual({ changes: false });
  await expect(make("Channel", kiosk())).rejects.toThrow(
    /the type belongs to another resource in this program: Channel "renamed".* The type of a channel must be unique/,
  );
  expect((await hub.objects("channels")).map((object) => object.id)).toEqual([id]);
});

const login = (name: string, ownership?: string) =>
  owned("login", { name, basicAuth: { username: "u", password: "p" } }, ownership);

test("a replacement after a refresh of the same run keeps an object whose mark was overwritten", async () => {
  const { id, state } = await make("Authentication", login("one"));
  const live = await hub.service.read(authentication, id);
  await hub.service.replace(authentication, id, { ...asBody(live), description: "by hand" });
  hub.nextRun([{ kind: "Authentication", id, owner: String(state.owner) }]);
  const { props } = await hub.of("Authentication").read(id, state);
  await hub.of("Authentication").diff(id, handedBack(props), state);
  expect((await make("Authentication", login("two"))).id).toBe(id);
  expect(await hub.objects("authentications")).toMatchObject([{ name: "two" }]);
});

test("a replacement of the ownership, too, keeps an object that gets another name", async () => {
  const { id } = await make("Authentication", login("one"));
  const renewed = "shop/prod/fedcba9876543210";
  hub.nextRun([{ kind: "Authentication", id, owner: `${renewed}/login` }]);
  expect((await make("Authentication", login("two", renewed))).id).toBe(id);
  expect(await hub.objects("authentications")).toMatchObject([{ name: "two" }]);
});

const full = () =>
  kiosk({
    description: "Old words",
    restrictions: { inbound: { maxTextLength: 5 } },
    l10nProperties: { "en-US": { a: "A" } },
  });

const expectUnmarked = async (): Promise<void> => {
  const [object] = await hub.objects("channels");
  expect(object).not.toHaveProperty("restrictions");
  expect(object).not.toHaveProperty("l10nProperties");
  expect(object?.description).toMatch(/^\[pulumi: /);
};

test("a replacement that deletes first removes what the program removed, also in a second try", async () => {
  const { id, state } = await make("Channel", full());
  hub.nextRun();
  await hub.of("Channel").check(state, kiosk());
  await hub.of("Channel").delete(id, state);
  await hub.faults({
    on: "PUT /channels/{id}",
    kind: "status",
    status: 400,
    times: 1,
    body: { code: "400-1", developerMessage: "not now" },
  });
  const failure = (await make("Channel", kiosk()).catch((error) => error)) as Json;
  expect(failure.id).toBe(id);
  hub.nextRun();
  await change("Channel", id, handedBack(failure.properties), kiosk());
  await expectUnmarked();
});

test("a replacement that creates first removes what the program removed", async () => {
  const { id, state } = await make("Channel", full());
  hub.nextRun([{ kind: "Channel", id, owner: String(state.owner) }]);
  await make("Channel", kiosk());
  await hub.of("Channel").delete(id, state);
  await expectUnmarked();
});
