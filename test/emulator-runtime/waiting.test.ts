import { expect, test } from "vitest";
import { answering } from "./callback-server.js";
import { hub } from "./hub.js";

test("a delivery is waited for: also one that came before, an accepted one unless another is asked for", async () => {
  const { service, begin, bot } = await hub();
  const { control } = service.emulator;
  bot.answer = (_received, response, place) =>
    void response.writeHead(place === 1 ? 503 : 200).end();
  const accepted = control.waitForDelivery({ messageId: "m-0001" });
  await begin();
  expect(await control.waitForDelivery({ status: 503 })).toMatchObject({ attempt: 1 });
  await control.advance(1_000);
  expect(await accepted).toMatchObject({ attempt: 2, status: 200 });
  expect(await control.waitForDelivery()).toEqual(await accepted);
  expect(await control.waitForDelivery(({ attempt }) => attempt === 1)).toMatchObject({
    status: 503,
  });
});

test("a delivery that does not come is an error that names those that did", async () => {
  const { service, begin, bot, logged } = await hub();
  const { control } = service.emulator;
  await expect(control.waitForDelivery({}, { timeoutMs: 0 })).rejects.toThrow(
    "No delivery with {} within 0 ms. No delivery was tried.",
  );
  bot.answer = answering(500);
  await begin();
  await logged(1);
  await expect(control.waitForDelivery({ messageId: "m-0001" }, { timeoutMs: 0 })).rejects.toThrow(
    `text m-0001 to ${bot.url}/custom_bot: 500.`,
  );
});

test("conversations are read with their messages, and only those that changed since", async () => {
  const { service, begin } = await hub();
  const { control } = service.emulator;
  const first = await begin();
  await control.advance(1_000);
  const second = await begin({ messageId: "m-0002" });
  const all = await control.conversations();
  expect(all.map(({ id, phase }) => [id, phase])).toEqual([
    [first, "bot"],
    [second, "bot"],
  ]);
  expect(all[1]?.messages).toMatchObject([{ messageId: "m-0002", type: "text" }]);
  const since = new Date(String(all[1]?.modified));
  expect((await control.conversations(since)).map(({ id }) => id)).toEqual([second]);
  expect((await service.control("GET", "/conversations?since=soon")).status).toBe(400);
});
