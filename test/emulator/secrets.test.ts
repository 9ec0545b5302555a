import { expect, test } from "vitest";
import { asBody } from "../support/emulated.js";
import { roleOf } from "../support/forms.js";
import { kindOf, running } from "./running.js";

const mask = "********";
const secret = "hush-hush";
const pair = { name: "X-Key", value: secret };
const role = roleOf("customer", { headers: [pair] });

/** Every secret of the service, and what is left where a secret is hidden or left out. */
const oauth2 = {
  tokenRequestUrl: "https://x.example.com/token",
  method: "POST",
  accessTokenPath: "$.token",
};

const holders: readonly (readonly [
  kind: string,
  changes: object,
  masked: object,
  omitted: object,
])[] = [
  [
    "Authentication",
    { type: "basic", oauth2: undefined, basicAuth: { username: "u", password: secret } },
    { basicAuth: { username: "u", password: mask } },
    { basicAuth: { username: "u" } },
  ],
  [
    "Authentication",
    { oauth2: { ...oauth2, payload: secret, headers: [pair] } },
    { oauth2: { ...oauth2, payload: mask, headers: [{ name: "X-Key", value: mask }] } },
    { oauth2: { ...oauth2, headers: [{ name: "X-Key" }] } },
  ],
  [
    "ClientApplication",
    { roles: [role] },
    { roles: [{ ...role, headers: [{ name: "X-Key", value: mask }] }] },
    { roles: [{ ...role, headers: [{ name: "X-Key" }] }] },
  ],
  [
    "Account",
    { attributes: [pair] },
    { attributes: [{ name: "X-Key", value: mask }] },
    { attributes: [{ name: "X-Key" }] },
  ],
];

test.each(holders)(
  "secrets of a %s are masked, echoed or omitted by switch: %j",
  async (kind, changes, masked, omitted) => {
    const service = await running();
    const id = await service.make(kindOf(kind), { ...changes });
    const item = await service.given(kind, id);
    for (const [name, value] of Object.entries(masked)) expect(item[name]).toEqual(value);
    expect(JSON.stringify(item)).not.toContain(secret);
    await service.control("PUT", "/switches", { secrets: "omit" });
    const without = await service.given(kind, id);
    for (const [name, value] of Object.entries(omitted)) expect(without[name]).toEqual(value);
    await service.control("PUT", "/switches", { secrets: "echo" });
    const { type, oauth2: _, ...plain } = changes as Record<string, unknown>;
    const echoed = await service.given(kind, id);
    for (const [name, value] of Object.entries(plain)) expect(echoed[name]).toEqual(value);
  },
);

test("a refusal does not repeat a secret", async () => {
  const service = await running();
  const body = await service.body(kindOf("Authentication"), {
    type: secret,
    oauth2: { payload: [secret], headers: [{ name: 5, value: { secret } }] },
  });
  const { status, text } = await service.call("POST", "/authentications", body);
  expect(status).toBe(400);
  expect(text).not.toContain(secret);
});

test("a mask that is written back is the secret from then on", async () => {
  const service = await running();
  const basicAuth = { username: "u", password: secret };
  const changes = { type: "basic", oauth2: undefined, basicAuth };
  const id = await service.make(kindOf("Authentication"), changes);
  const path = `/authentications/${id}`;
  await service.call("PUT", path, asBody((await service.call("GET", path)).json));
  await service.control("PUT", "/switches", { secrets: "echo" });
  expect((await service.call("GET", path)).json.basicAuth).toEqual({
    username: "u",
    password: mask,
  });
});
