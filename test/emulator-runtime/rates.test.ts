import { expect, test } from "vitest";
import { scopes } from "../emulator/running.js";
import { firstMessage, hub } from "./hub.js";

test("sending has a bucket and a rate of its own: five a second on the largest plan", async () => {
  const { service, send } = await hub({ plan: "enterprise", burst: 7 });
  const asset = { channel: { type: "custom.kiosk" }, sender: { type: "customer" } };
  for (let call = 0; call < 7; call += 1) expect((await send(firstMessage())).status).toBe(202);
  const refused = await send(firstMessage());
  expect([refused.status, refused.json]).toEqual([
    429,
    { code: "429-001", developerMessage: "Too many requests." },
  ]);
  const other = await service.call("POST", "/assets", { ...asset, name: "a.png", size: 1 });
  expect(other.status).toBe(200);
  service.emulator.advance(200);
  expect((await send(firstMessage())).status).toBe(202);
  expect((await send(firstMessage())).status).toBe(429);
});

test("a message that is refused for its rate is not sent", async () => {
  const { service, send, bot, logged } = await hub({ plan: "enterprise", burst: 7 });
  for (let call = 0; call < 8; call += 1) await send(firstMessage({ messageId: `n-${call}` }));
  service.emulator.advance(200);
  await send(firstMessage({ messageId: "last" }));
  await logged(8);
  expect(bot.messageIds.length).toBe(8);
  expect(bot.messageIds).not.toContain("n-7");
});

test("token, rate, scope, body: each is looked at only when the one before is right", async () => {
  const { service, bot } = await hub({ plan: "enterprise", burst: 7 });
  const call = async (body: unknown, token?: string | null) => {
    const options = token === undefined ? {} : { token };
    return (await service.call("POST", "/conversations/messages", body, options)).json.code;
  };
  const reader = await service.tokenFor(scopes.IR);
  expect(await call({}, null)).toBe("401-104");
  expect(await call({}, reader)).toBe("403-197");
  expect(await call({})).toBe("400-143");
  for (let used = 2; used < 7; used += 1) await call({});
  expect(await call({}, reader)).toBe("429-001");
  expect(bot.received.length).toBe(0);
});

test("a fault that comes after the work leaves the message sent", async () => {
  const { service, send, bot, logged } = await hub();
  const on = "POST /conversations/messages";
  await service.control("POST", "/faults", { on, kind: "status-after-commit", status: 500 });
  await service.control("POST", "/faults", { on, kind: "status", status: 503 });
  expect((await send(firstMessage())).status).toBe(500);
  expect((await send(firstMessage({ messageId: "m-2" }))).status).toBe(503);
  await send(firstMessage({ messageId: "m-3" }));
  await logged(2);
  expect(bot.messageIds.sort()).toEqual(["m-0001", "m-3"]);
});
