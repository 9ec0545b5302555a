import { expect, test } from "vitest";
import { hub, message } from "./hub.js";

test("a conversation of 1,000 messages with two callbacks comes through once and in order", async () => {
  const { begin, send, bot, customer, logged } = await hub();
  const conversation = await begin({ messageId: "n-0" });
  const times: number[] = [];
  for (let place = 1; place < 1000; place += 1) {
    const [sender, target] = place % 2 === 0 ? ["customer", bot] : ["custom_bot", customer];
    const begun = performance.now();
    const arrived = target.count(target.received.length + 1);
    await send(message(conversation, sender, "text", { messageId: `n-${place}` }));
    await arrived;
    times.push(performance.now() - begun);
  }
  await logged(1000);
  const own = Array.from({ length: 1000 }, (_, place) => `n-${place}`);
  expect(bot.messageIds).toEqual(own.filter((_, place) => place % 2 === 0));
  expect(customer.messageIds).toEqual(own.filter((_, place) => place % 2 === 1));
  const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  console.log(`1,000 messages, sent to arrived: p99 ${p99.toFixed(1)} ms`);
});
