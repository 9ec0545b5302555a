import { createHash } from "node:crypto";
import type { ConversationClient, ReceivedMessage } from "pulumi-conversation/runtime";
import { type Order, openOrders, orderIn, ordersFile } from "./orders.mts";

const sender = { kind: "custom_bot", name: "orders-bot" } as const;

/** Offers the open orders as a list to choose from, and as a file. */
const offer = async (hub: ConversationClient, to: ReceivedMessage, channel: string) => {
  const items = openOrders.map(({ id, item, status }) => ({ id, title: item, subtitle: status }));
  await hub.messages.reply(to, {
    type: "richMessage.listpicker",
    sender,
    content: { title: "Which order is it?", list: { sections: [{ title: "Open", items }] } },
  });
  const bytes = ordersFile(openOrders);
  const file = await hub.assets.upload(bytes, {
    channel,
    sender: sender.kind,
    name: "open-orders.csv",
  });
  await hub.messages.reply(to, {
    type: "text",
    sender,
    text: "All of them in one file:",
    attachments: [file],
    // With this, the recipient can check that the file arrived unchanged.
    attributes: { sha256: createHash("sha256").update(bytes).digest("hex") },
  });
};

/** Replies to the customer, and hands the conversation over to the agent with the order. */
const handOver = async (hub: ConversationClient, to: ReceivedMessage, order: Order) => {
  const text = `${order.item}: ${order.status}. I will ask a colleague for details.`;
  await hub.messages.reply(to, { type: "text", sender, text });
  await hub.messages.escalate(to, sender, { content: { order: order.id } });
};

/** The bot: what it does with a message. The message holds everything that the bot needs. */
export const ordersBot =
  (hub: ConversationClient, channel: string) =>
  async (message: ReceivedMessage): Promise<void> => {
    if (message.type !== "text") return;
    const order = orderIn(message.text ?? "");
    await (order ? handOver(hub, message, order) : offer(hub, message, channel));
  };
