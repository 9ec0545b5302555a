import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf, running } from "./running.js";
import { given, madeInOwnForms, plain, stored } from "./stored-and-given.js";

/** Bodies in the service's own forms, and what is kept of them. */
const accepted: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    "Channel",
    { restrictions: { inbound: { maxTextLength: "500" } } },
    { restrictions: { inbound: { maxTextLength: 500 } } },
  ],
  [
    "Account",
    { chatConfigurations: { timeout: "1.5", entryPoint: { id: 1007 } } },
    { chatConfigurations: { timeout: 1.5, entryPoint: { id: "1007" } } },
  ],
  ["ClientApplication", { description: "a\r\nb" }, { description: "a\nb" }],
  [
    "Participant",
    { intents: { intent: [{ id: "item-1", value: "a", displayValue: "A" }] } },
    { intents: { intent: [{ value: "a", displayValue: "A" }] } },
  ],
  [
    "Participant",
    { options: [{ id: "item-1", name: "n", value: "v" }] },
    { options: [{ name: "n", value: "v" }] },
  ],
  [
    "Participant",
    { extraList: [{ id: "item-1", a: 1 }, { id: "theirs" }] },
    { extraList: [{ a: 1 }, { id: "theirs" }] },
  ],
];

test.each(accepted)("a %s may be written as %j", async (kind, sent, kept) => {
  const { service, id } = await madeInOwnForms(kind, sent);
  const object = await stored(service, kind, id);
  for (const [name, value] of Object.entries(kept)) expect(object[name]).toEqual(value);
});

test.each(accepted.slice(0, 2))(
  "in the forms given a %s may not be written as %j",
  async (kind, sent) => {
    const service = await running();
    const body = await service.body(kindOf(kind), sent);
    const { status, json } = await service.call("POST", `/${kindOf(kind).collection}`, body);
    expect({ status, code: json.code }).toEqual({ status: 400, code: "400-152" });
  },
);

test("null for an optional member takes it away, for a required one it is refused", async () => {
  for (const put of ["replace", "keep"]) {
    const { service, id, path } = await madeInOwnForms("Channel", {}, { put });
    const body = await given(service, "Channel", id);
    const sent = { ...body, description: null, active: null };
    expect((await service.call("PUT", path, sent)).status).toBe(204);
    const { description, active } = await stored(service, "Channel", id);
    expect({ description, active }).toEqual({ description: undefined, active: true });
    expect((await service.call("PUT", path, { ...body, icon: null })).json.code).toBe("400-143");
    await service.control("PUT", "/switches", { forms: "given" });
    const refused = await service.call("PUT", path, {
      ...plain(await given(service, "Channel", id)),
      description: null,
    });
    expect(refused).toMatchObject({ status: 400 });
  }
});

test("an expanded reference is kept as the id alone", async () => {
  const { service, path, id } = await madeInOwnForms("Participant");
  const body = await given(service, "Participant", id);
  const before = await stored(service, "Participant", id);
  const application = { ...(body.application as object), name: "any other" };
  expect((await service.call("PUT", path, { ...body, application })).status).toBe(204);
  expect((await stored(service, "Participant", id)).application).toEqual(before.application);
});

test("a secret is kept as it is written", async () => {
  const basicAuth = { username: "u", password: "e\u0301\r\n" };
  const changes = { type: "basic", oauth2: undefined, basicAuth };
  const { service, id } = await madeInOwnForms("Authentication", changes);
  expect((await stored(service, "Authentication", id)).basicAuth).toEqual(basicAuth);
});

test("an id is kept that only looks like one of the service's for an item", async () => {
  const agents = [{ id: "item-1" }];
  const applications = { agentConfiguration: { agents } };
  const accept = { unknownReference: "accept" };
  const { service, id } = await madeInOwnForms("Orchestration", { applications }, accept);
  expect((await stored(service, "Orchestration", id)).applications).toEqual(applications);
});
