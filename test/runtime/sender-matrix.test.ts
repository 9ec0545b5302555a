import { expect, test } from "vitest";
import { maySend, messageTypes, type SenderKind, senderKinds } from "../../sdk/runtime/index.js";
import { json } from "../service/support/fake-hub.js";
import { connectedClient } from "./support/connected-client.js";

/** The table of the specification's §6, copied by hand: customer, agents, bots. */
const table = `
text                        customer agents bots
typing.start                customer agents bots
typing.end                  customer agents bots
customer.info               customer agents bots
error                       customer agents bots
conversation.end            customer agents bots
escalation.transfer         agents bots
pagePush                    agents bots
richMessage.listpicker      agents bots
richMessage.quickreply      agents bots
richMessage.template        agents bots
richMessage.timepicker      agents bots
richMessage.richlink        agents bots
richMessage.form            agents bots
richMessage.payment         agents bots
richMessage.app             agents bots
richMessage.authentication  agents bots
conversation.state          agents
agent.join                  agents
agent.available             agents
agent.unavailable           agents
agent.transfer              agents
queue.transfer              agents
authentication.success      customer
authentication.failure      customer
customer.active             customer
customer.inactive           customer
delete.soft                 customer
delete.permanent            customer
undo                        customer`;

const sides: Readonly<Record<string, string>> = {
  customer: "customer",
  platform_agent: "agents",
  custom_agent: "agents",
  platform_bot: "bots",
  custom_bot: "bots",
};

const rows = table
  .trim()
  .split("\n")
  .map((line) => line.split(/\s+/))
  .map(([type = "", ...allowed]) => ({ type, allowed }));

const matrix = rows.flatMap(({ type, allowed }) =>
  Object.entries(sides).map(
    ([sender, side]) => [sender, allowed.includes(side) ? "may" : "may not", type] as const,
  ),
);

/** The least that a message of each type holds. */
const bodies: Readonly<Record<string, object>> = {
  text: { text: "Hello" },
  "richMessage.listpicker": {
    content: {
      title: "Which?",
      list: { sections: [{ title: "A", items: [{ id: "1", title: "One" }] }] },
    },
  },
  "richMessage.richlink": {
    content: { imageid: "i", images: [{ imageid: "i", url: "https://img.example.com/i.png" }] },
  },
  "conversation.state": { content: { status: "escalated" } },
  "delete.soft": { parent: "m-1" },
};

const accepted = json(202, { messages: { message: [{ id: "x", conversation: { id: "c-1" } }] } });

test("the specification has 30 types and 5 kinds of senders, in this order", () => {
  expect(messageTypes).toEqual(rows.map(({ type }) => type));
  expect(senderKinds).toEqual(Object.keys(sides));
});

test.each(matrix)("a %s %s send %s", async (sender, may, type) => {
  await using live = await connectedClient(accepted);
  // As a program without type checks would call it.
  const message = JSON.parse(
    JSON.stringify({ sender, type, conversation: "c-1", ...bodies[type] }),
  );
  const sending = live.client.messages.send(message);
  if (may === "may") {
    await sending;
    expect(live.lastBody).toMatchObject({
      messages: { message: [{ type: { value: type }, sender: { type: sender } }] },
    });
  } else {
    await expect(sending).rejects.toMatchObject({
      code: "INPUT_INVALID",
      effect: "none",
      message: expect.stringContaining(`a ${sender} may not send`),
    });
    expect([live.hub.calls, live.hub.tokenCalls]).toEqual([[], []]);
  }
});

test("what may be sent can be asked", () => {
  const asked = matrix.map(([sender, , type]) => {
    const kind = senderKinds.find((each): each is SenderKind => each === sender) ?? "customer";
    const known = messageTypes.find((each) => each === type) ?? "text";
    return maySend(kind, known) ? "may" : "may not";
  });
  expect(asked).toEqual(matrix.map(([, may]) => may));
});
