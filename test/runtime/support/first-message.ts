import type { Message } from "../../../sdk/runtime/index.js";
import { json } from "../../service/support/fake-hub.js";

/** Id of the conversation that the first message starts. */
export const conversation = "21822806-0000-4000-8000-097b4f0d68a7";

/** The answer of the service to messages that get these ids. */
export const answer = (...ids: string[]) =>
  json(202, {
    messages: {
      message: ids.map((id) => ({
        id,
        messageId: `own-${id}`,
        conversation: { id: conversation },
      })),
    },
  });

/** The first message of the public example. */
export const first: Message = {
  messageId: "m-0001",
  type: "text",
  text: "Where is my order?",
  sender: { kind: "customer", name: "Ada Example" },
  conversation: {
    account: { channel: "custom.kiosk", address: "kiosk-berlin-01" },
    entryPoint: "1007",
    clientInfo: { timeOffset: 60, referrerName: "kiosk", referrerUrl: "https://shop.example.com" },
    lookupContact: "email",
    conversationContact: "email",
    customer: {
      name: "Ada Example",
      attributes: { loyalty: "gold" },
      contacts: [
        { type: "phone", subType: "mobile", address: "5550100" },
        { type: "email", address: "ada@example.com" },
      ],
    },
  },
  attributes: { k: { value: "v", external: true } },
};
