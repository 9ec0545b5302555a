import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import {
  isConversationOver,
  type NewConversation,
  type ReceivedMessage,
} from "../../sdk/runtime/index.js";
import { failureOf } from "../service/support/connected.js";
import { declaredAccount } from "./support/declared-account.js";

const start: NewConversation = {
  account: { channel: "custom.kiosk", address: "kiosk-1" },
  customer: { name: "Ada Example" },
};
const receipt = randomBytes(20_480);

/** Something that happens once, and is waited for. */
const signal = () => {
  let happen: () => void = () => {};
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happen, happened };
};

/** Version v1 carries texts only. */
const files = { v1: [], v3: ["customer: got receipt.png, equal: true"] } as const;

test.each(["v1", "v3"] as const)(
  "a whole conversation, with callbacks of version %s",
  async (version) => {
    const log: string[] = [];
    const [picked, joined, over] = [signal(), signal(), signal()];
    const note = (side: string, { type, text }: ReceivedMessage) => {
      log.push(`${side}: ${text ?? type}`);
    };
    await using live = await declaredAccount(
      {
        bot: ({ messages, assets }) => ({
          onMessage: async (message) => {
            note("bot", message);
            if (message.text === "An agent, please")
              return void (await messages.escalate(message, "custom_bot"));
            const items = [{ id: "7", title: "Shoes" }];
            const content = { title: "Which?", list: { sections: [{ title: "Open", items }] } };
            const asset = await assets.upload(receipt, {
              channel: "custom.kiosk",
              sender: "custom_bot",
              name: "receipt.png",
            });
            await messages.reply(message, {
              type: "richMessage.listpicker",
              sender: "custom_bot",
              content,
            });
            await messages.reply(message, {
              type: "text",
              sender: "custom_bot",
              attachments: [asset],
            });
          },
        }),
        customer: ({ assets }) => ({
          onMessage: async (message) => {
            note("customer", message);
            const [file] = message.attachments;
            if (file?.id) {
              const { bytes } = await assets.download(file.id);
              log.push(`customer: got ${file.name}, equal: ${receipt.equals(bytes)}`);
            }
            if (message.type === "text") picked.happen();
            if (message.type === "conversation.end") over.happen();
          },
        }),
        agent: ({ messages }) => ({
          onMessage: async (message) => {
            note("agent", message);
            if (message.type !== "escalation.transfer") return;
            await messages.reply(message, { type: "agent.join", sender: "custom_agent" });
            joined.happen();
          },
        }),
      },
      version,
    );
    const { messages, conversations } = live.client;
    const sender = { kind: "customer", name: "Ada Example" } as const;
    const { conversationId } = await messages.start({
      type: "text",
      text: "Where is my order?",
      sender,
      conversation: start,
    });
    await picked.happened;
    expect(await failureOf(conversations.get(conversationId))).toMatchObject({
      message: expect.stringContaining("Only a completed conversation"),
    });
    await messages.reply(conversationId, { type: "text", text: "An agent, please", sender });
    await joined.happened;
    await messages.end(conversationId, "custom_agent");
    await over.happened;
    await live.idle();
    expect(log.filter((line) => line.startsWith("bot"))).toEqual([
      "bot: Where is my order?",
      "bot: An agent, please",
    ]);
    expect(log).toContain("customer: richMessage.listpicker");
    expect(log.filter((line) => line.includes("receipt"))).toEqual(files[version]);
    const transcript = await conversations.get(conversationId);
    expect(transcript.messages.map(({ type }) => type)).toEqual([
      "text",
      "richMessage.listpicker",
      "text",
      "text",
      "escalation.transfer",
      "agent.join",
      "conversation.end",
    ]);
    const late = messages.reply(conversationId, { type: "text", text: "Wait!", sender });
    expect(isConversationOver(await failureOf(late))).toBe(true);
  },
);
