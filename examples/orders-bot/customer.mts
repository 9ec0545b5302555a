import { createHash } from "node:crypto";
import type {
  ConversationClient,
  MessageType,
  NewConversation,
  ReceivedMessage,
} from "pulumi-conversation/runtime";
import type { Inbox } from "./inbox.mts";
import { choiceIn } from "./list-picker.mts";
import type { SideName } from "./side.mts";

const sender = { kind: "customer", name: "Ada" } as const;

/** A file that came with a message. */
export interface ReceivedFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: string;
}

export interface CustomerOptions {
  readonly hub: ConversationClient;
  readonly account: NewConversation["account"];
  /** What arrives at the customer's callback. */
  readonly inbox: Inbox;
  /** Called before the customer says something. */
  readonly onSpeak: () => void;
}

/** What the customer leaves with. */
export interface Visit {
  readonly conversationId: string;
  readonly file: ReceivedFile;
}

/** Downloads the file of a message, and compares it with the digest from the sender. */
const downloaded = async (
  { assets }: ConversationClient,
  { attachments: [attachment], attributes }: ReceivedMessage,
): Promise<ReceivedFile> => {
  if (!attachment?.id) throw new Error("The message of the bot has no attachment with an ID.");
  const { bytes, name = attachment.id, size } = await assets.download(attachment.id);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== attributes.sha256)
    throw new Error(
      `The ${size} bytes of ${name} differ from those that the bot sent: their SHA-256 is ${sha256}, not ${attributes.sha256}.`,
    );
  return { name, size, sha256 };
};

/** The scripted customer: asks, takes the file, picks an order, and thanks the agent. */
export const visit = async ({ hub, account, inbox, onSpeak }: CustomerOptions): Promise<Visit> => {
  onSpeak();
  const { conversationId } = await hub.messages.start({
    type: "text",
    sender,
    text: "Where is my order?",
    conversation: { account, customer: { name: sender.name } },
  });
  const say = async (text: string): Promise<void> => {
    onSpeak();
    await hub.messages.reply(conversationId, { type: "text", sender, text });
  };
  const next = (type: MessageType, from: SideName) => inbox.next({ conversationId, type, from });
  const choice = choiceIn(await next("richMessage.listpicker", "bot"));
  const file = await downloaded(hub, await next("text", "bot"));
  await say(choice?.titles.at(-1) ?? "None of them");
  await next("escalation.transfer", "bot");
  await next("agent.join", "agent");
  await next("text", "agent");
  await say("Thank you!");
  await next("conversation.end", "agent");
  return { conversationId, file };
};
