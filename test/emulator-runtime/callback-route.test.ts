import { expect, test } from "vitest";
import { callbackServer } from "./callback-server.js";
import { hub } from "./hub.js";

test("calls of callbacks can be led elsewhere; the log keeps the address of the object", async () => {
  const elsewhere = await callbackServer();
  const { begin, bot, logged } = await hub({
    callbackRoute: (address) => `${elsewhere.url}/${encodeURIComponent(address)}`,
  });
  await begin();
  const [delivery] = await logged(1);
  expect(delivery).toMatchObject({ status: 200, url: `${bot.url}/custom_bot` });
  expect(elsewhere.received[0]?.path).toBe(`/${encodeURIComponent(`${bot.url}/custom_bot`)}`);
  expect(bot.received).toEqual([]);
});
