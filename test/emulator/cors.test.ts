import { expect, test } from "vitest";
import { kindOf, type Running, running } from "./running.js";

const origin = "https://shop.example.com";

/** What a browser asks before a call that is not a simple one. */
const asks = (method: string) => ({
  origin,
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
    ["POST", String(json.contentUrl)],
  ];
};

test("a page may exchange its code and use a signed address, refused or not", async () => {
  const own = await running();
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
