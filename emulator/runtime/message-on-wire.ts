import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import type { Message } from "./conversation.js";

/** A message as the service gives it back, with further members. */
export const messageOnWire = (message: Message, further: JsonObject = {}): JsonObject =>
  objectOf([
    ["id", message.id],
    ["messageId", message.messageId],
    ...Object.entries(message.body),
    ...Object.entries(further),
    ["recipients", { recipient: message.recipients }],
    // The only status that was ever seen; nothing is said of others.
    ["status", "sent"],
    ["created", message.created],
    ["sent", message.created],
  ]);
