import { expect, test } from "vitest";
import { maySend, messageTypes, type SenderKind, senderKinds } from "../../sdk/runtime/index.js";
import { json } from "../service/support/fake-hub.js";
import { messageSenders, senders } from "../support/specification.js";
import { connectedClient } from "./support/connected-client.js";

const matrix = messageSenders.flatMap(([type, allowed]) =>
  senders.map((sender) => [sender, allowed.includes(sender) ? "may" : "may not", type] as const),
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
  expect(messageTypes).toEqual(messageSenders.map(([type]) => type));
  expect(senderKinds).toEqual(senders);
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
