import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { roleOf } from "../support/forms.js";
import { kindOf, type Running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

const post = async (kind: string, changes: JsonObject) => {
  const { collection } = kindOf(kind);
  return service.call("POST", `/${collection}`, await service.body(kindOf(kind), changes));
};

/** What the bodies of `test/definition/vendor-facts.ts` do not show. */
test.each<[string, JsonObject, string]>([
  ["ClientApplication", { roles: [roleOf("customer"), roleOf("customer")] }, "400-138"],
  ["ClientApplication", { roles: [roleOf("customer", { callback: "not an address" })] }, "400-196"],
  [
    "ClientApplication",
    { roles: [roleOf("customer", { callback: "ftp://x.example.com" })] },
    "400-196",
  ],
  ["ClientApplication", { roles: [roleOf("customer", { notificationEmail: "ops" })] }, "400-196"],
  ["ClientApplication", { roles: [roleOf("customer", { headers: [{ name: "X-A" }] })] }, "400-143"],
  ["ClientApplication", { roles: [roleOf("customer", { headers: [{ value: "a" }] })] }, "400-143"],
  ["Participant", { description: null }, "400-196"],
  ["Participant", { intents: {} }, "400-143"],
  ["Participant", { options: [{ name: "", value: "a" }] }, "400-196"],
  ["Channel", { icon: "no base64!" }, "400-196"],
  ["Orchestration", { applications: {} }, "400-143"],
  ["Orchestration", { applications: { customerConfiguration: null } }, "400-196"],
  ["Account", { channel: {} }, "400-143"],
])("%s with %j is answered with %s", async (kind, changes, code) => {
  expect(await post(kind, changes)).toMatchObject({ status: 400, json: { code } });
});

test("a body without a required member is answered with 400-143 that names it", async () => {
  const { status, json, headers } = await post("Account", { channel: undefined });
  expect(status).toBe(400);
  expect(headers["content-type"]).toBe("application/json");
  const rule = "a required attribute is missing";
  expect(json).toEqual({
    code: "400-143",
    developerMessage: `channel: ${rule}.`,
    details: [{ key: "channel", value: rule }],
  });
});

test("credentials of the method that was not chosen are refused", async () => {
  const basicAuth = { username: "u", password: "p" };
  expect((await post("Authentication", { basicAuth })).json.code).toBe("400-420");
  const basic = { type: "basic", basicAuth, oauth2: undefined };
  expect((await post("Authentication", basic)).status).toBe(201);
  expect(
    (await post("Authentication", { ...basic, basicAuth: { username: "u" } })).json.details,
  ).toEqual([{ key: "basicAuth.password", value: "a required attribute is missing" }]);
});

test("everything that is wrong is listed, at most 30 of them", async () => {
  const { json } = await post("Participant", {
    name: 5,
    type: "nobody",
    options: Array.from({ length: 25 }, () => ({ name: "", value: 5 })),
  });
  expect(json.details).toHaveLength(30);
  expect(String(json.developerMessage).length).toBeLessThanOrEqual(255);
});
