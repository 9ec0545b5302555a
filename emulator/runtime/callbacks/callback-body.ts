import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";
import type { Switches } from "../../control/switches.js";
import type { Conversation, Message } from "../conversation.js";
import { valueAt } from "../json-path.js";
import { messageOnWire } from "../message-on-wire.js";

/** Content as text: the text itself, or the JSON of what is none. */
const textOf = (content: unknown): string => {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (isObject(content) && typeof content.text === "string") return content.text;
  return JSON.stringify(content);
};

/** As when it was sent, with what the service adds (public reference). */
const v3 = (message: Message, conversation: Conversation, switches: Switches): JsonObject => {
  const further = { conversation: { ...conversation.about, id: conversation.id } };
  const text = { content: textOf(message.body.content) };
  const wire = messageOnWire(message, {
    ...further,
    ...(switches.callbackContent === "text" ? text : {}),
  });
  return objectOf([
    ["metadata", message.metadata],
    ["messages", { message: [wire] }],
  ]);
};

/** The older generation: content is text, time is a number, a sender is a user or the system (assumed). */
const v1 = (message: Message, conversation: Conversation): JsonObject => {
  const isCustomer = valueAt(message.body, "sender", "type") === "customer";
  return {
    message: [
      {
        id: message.id,
        sender: { type: isCustomer ? "user" : "system" },
        conversation: { id: conversation.id },
        type: message.body.type,
        content: textOf(message.body.content),
        timeStamp: Date.parse(message.created),
      },
    ],
  };
};

/** What is posted to a callback, in the version of its role. */
export const callbackBody = (
  version: unknown,
  message: Message,
  conversation: Conversation,
  switches: Switches,
): JsonObject =>
  version === "v1" ? v1(message, conversation) : v3(message, conversation, switches);
