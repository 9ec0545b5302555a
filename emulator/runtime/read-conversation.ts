import { type Answer, Refusal } from "../http/refusal.js";
import type { World } from "../objects/world.js";
import { messageOnWire } from "./message-on-wire.js";
import { isCompleted } from "./send-messages.js";

/** Details of a completed conversation (specification §4.2). A running one is not given (assumed: 404). */
export const readConversation = (world: World, id: string): Answer => {
  const conversation = world.runtime.conversations.get(id);
  if (!conversation) throw new Refusal(404, "404-101", "There is no conversation with this id.");
  if (!isCompleted(world, conversation)) {
    const status = world.switches.runningConversationStatus;
    throw new Refusal(status, `${status}-101`, "The conversation is not completed yet.");
  }
  const message = world.runtime.conversations.messagesOf(id).map((each) => messageOnWire(each));
  return { status: 200, body: { ...conversation.about, id, messages: { message } } };
};
