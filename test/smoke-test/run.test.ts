import { expect, test } from "vitest";
import { callbackServer } from "../emulator-runtime/callback-server.js";
import { smokeHub } from "./smoke-hub.js";

const chain = [
  "GET /accounts/{id} 200",
  "GET /channels/{id} 200",
  "GET /orchestrations/{id} 200",
  "GET /participants/{id} 200",
  "GET /clientapplications/{id} 200",
];
const oneConversation = ["POST /conversations/messages 202", "POST /conversations/messages 202"];

/** A probe that answers what the bot has got, once it has got something. */
const probeOf = async (live: Awaited<ReturnType<typeof smokeHub>>) => {
  const probe = await callbackServer();
  probe.answer = (_received, response) => {
    void live.hub.bot.count(1).then(() => {
      const seen = live.hub.bot.received.map(({ message }) => message.conversation);
      response.writeHead(200).end(JSON.stringify({ seen }));
    });
  };
  return probe;
};

test("a message that arrives at the bot is seen at the probe, and its conversation ends", async () => {
  const live = await smokeHub();
  const probe = await probeOf(live);
  const outs = await live.run({
    text: "Hello?",
    probe: { url: `${probe.url}/seen?key=7`, authorization: "Bearer canary-probe" },
  });
  expect(outs).toMatchObject({ arrived: true, enabled: true, text: "Hello?" });
  await live.hub.bot.count(2);
  const [first, last] = live.hub.bot.received.map(({ message }) => message);
  expect(first).toMatchObject({
    messageId: outs.messageId,
    type: { value: "text" },
    content: { text: "Hello?" },
    conversation: { id: outs.conversationId },
    sender: { type: "customer", participant: { name: "Smoke test" } },
  });
  expect(last).toMatchObject({ type: { value: "conversation.end" } });
  expect(await live.calls()).toEqual([...chain, ...oneConversation]);
  expect(probe.received[0]).toMatchObject({
    method: "GET",
    path: "/seen?key=7",
    headers: { authorization: "Bearer canary-probe" },
  });
  expect(new Date(String(outs.sentAt)).toISOString()).toBe(outs.sentAt);
});

test("without a probe the service's 202 is enough", async () => {
  const live = await smokeHub();
  expect(await live.run()).toMatchObject({ arrived: false, conversationId: expect.any(String) });
  expect(await live.calls()).toEqual([...chain, ...oneConversation]);
});

test("a message of an agent goes to the customer's application, in the vendor's own word", async () => {
  const live = await smokeHub({}, { CONVERSATION_PLATFORM_NAME: "acme" });
  await live.hub.service.control("PUT", "/switches", { platformName: "acme" });
  await live.run({ sender: "platform_agent" });
  await live.hub.customer.count(1);
  expect(live.hub.customer.received[0]?.message).toMatchObject({
    sender: { type: "acme_agent" },
  });
  expect(await live.calls()).toEqual([
    ...chain.filter((call) => !call.includes("participants")),
    ...oneConversation,
  ]);
});

test("without a bot the agents get the customer's message", async () => {
  const live = await smokeHub({ bots: false });
  await live.run();
  await live.hub.agent.count(1);
  expect(live.hub.agent.received[0]?.message).toMatchObject({ type: { value: "text" } });
});

test("the row of the resource tells what is waited for", async () => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = (_received, response, place) => {
    const seen = live.hub.bot.received.map(({ message }) => message.id);
    const answer = () => response.writeHead(200).end(JSON.stringify(place > 2 ? seen : []));
    void live.hub.bot.count(1).then(answer);
  };
  await live.run({ probe: { url: probe.url } });
  expect(live.said[0]).toBe("waiting for the message to arrive at the probe, at most 30 s");
  expect(probe.received).toHaveLength(3);
  expect(live.clock.slept).toEqual([250, 500]);
});

test("a run that is cancelled stops waiting at once", async () => {
  const live = await smokeHub();
  const probe = await callbackServer();
  probe.answer = (_received, response) => {
    live.cancel.abort();
    response.writeHead(404).end();
  };
  await expect(live.run({ probe: { url: probe.url } })).rejects.toThrow("was given up");
  expect(probe.received).toHaveLength(1);
});
