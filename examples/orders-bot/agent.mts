import type { ConversationClient, ReceivedMessage } from "pulumi-conversation/runtime";

const sender = { kind: "custom_agent", name: "Sam" } as const;

/** The scripted agent: joins when the bot asks for one, answers, and ends when the customer has no more questions. */
export const agent =
  (hub: ConversationClient) =>
  async (message: ReceivedMessage): Promise<void> => {
    if (message.type === "escalation.transfer") {
      await hub.messages.reply(message, { type: "agent.join", sender });
      const text = `Order ${message.content?.order} will be with you tomorrow by noon.`;
      await hub.messages.reply(message, { type: "text", sender, text });
    }
    if (message.type === "text") await hub.messages.end(message, sender);
  };
