import { expect, test } from "vitest";
import { scopes } from "../support/specification.js";
import { kindOf, type Running, running } from "./running.js";

const origin = "https://shop.example.com";

const spa = (own: Running) =>
  own.emulator.control.clients({
    clientId: "spa",
    public: true,
    redirectUris: [`${origin}/back?a=b`],
    scopes: [scopes.IR],
  });

/** What a browser asks before a call that is not a simple one. */
const asks = (method: string, from = origin) => ({
  origin: from,
  "access-control-request-method": method,
  "access-control-request-headers": "content-type",
});

const addresses = async (own: Running): Promise<readonly (readonly [string, string])[]> => {
  await own.make(kindOf("Channel"), { type: "custom.kiosk" });
  const asset = {
    channel: { type: "custom.kiosk" },
    sender: { type: "customer" },
    name: "a.png",
    size: 1,
  };
  const { json } = await own.call("POST", "/assets", asset);
  return [
    ["POST", own.emulator.tokenUrl],
    ["POST", own.emulator.customerTokenUrl],
    ["POST", String(json.contentUrl)],
  ];
};

test("a page may exchange its code and use a signed address, refused or not", async () => {
  const own = await running();
  await spa(own);
  for (const [method, url] of await addresses(own)) {
    const asked = await own.send("OPTIONS", url, { headers: asks(method) });
    expect([asked.status, asked.text]).toEqual([204, ""]);
    expect(asked.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": expect.stringContaining("POST"),
      "access-control-allow-headers": "content-type",
    });
    const refused = await own.send(method, url, { headers: { origin }, raw: "x=y" });
    expect(refused.status).toBe(400);
    expect(refused.headers["access-control-allow-origin"]).toBe("*");
  }
});

test("with the switch only pages of registered redirect addresses may", async () => {
  const own = await running({ switches: { cors: "registered" } });
  await spa(own);
  for (const [method, url] of await addresses(own)) {
    const allowed = async (from: string) => {
      const { headers } = await own.send("OPTIONS", url, { headers: asks(method, from) });
      expect(headers.vary).toBe("Origin");
      return headers["access-control-allow-origin"];
    };
    expect(await allowed(origin)).toBe(origin);
    for (const other of [
      "https://evil.example",
      "null",
      `${origin}.evil.example`,
      "http://shop.example.com",
    ])
      expect(await allowed(other)).toBeUndefined();
  }
});

test("with the switch no page may", async () => {
  const own = await running({ switches: { cors: "none" } });
  await spa(own);
  for (const [method, url] of await addresses(own)) {
    const { status, headers } = await own.send("OPTIONS", url, { headers: asks(method) });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    const called = await own.send(method, url, { headers: { origin }, raw: "x=y" });
    expect(called.headers["access-control-allow-origin"]).toBeUndefined();
  }
});

test("the service itself is for servers, and the control for this machine: no page may read them", async () => {
  const own = await running();
  for (const url of [`${own.emulator.baseUrl}/channels`, `${own.emulator.controlUrl}/snapshot`]) {
    for (const headers of [{ origin }, asks("GET")]) {
      const reply = await own.send(
        "access-control-request-method" in headers ? "OPTIONS" : "GET",
        url,
        { headers },
      );
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.headers["access-control-allow-origin"]).toBeUndefined();
    }
  }
});

test("who is no browser sees nothing of it", async () => {
  const own = await running();
  const { headers } = await own.form(own.emulator.tokenUrl, own.credentials());
  expect(Object.keys(headers).filter((name) => /^(access-control|vary)/.test(name))).toEqual([]);
});
