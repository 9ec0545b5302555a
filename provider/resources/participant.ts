import {
  defineResource,
  list,
  map,
  namedFields,
  object,
  reference,
  text,
} from "../definition/define.js";
import { clientApplication } from "./client-application.js";

export const participant = defineResource({
  kind: "Participant",
  noun: "participant",
  collection: "participants",
  listKey: "participant",
  doc: "A registered bot. A client application can have several participants.",
  fields: {
    ...namedFields("participant"),
    type: text({
      doc: "Kind of bot. The platform's own bot product creates bots of type `platform_bot`.",
      required: true,
      values: ["custom_bot", "platform_bot"],
    }),
    application: reference(clientApplication, {
      doc: "Client application whose callback receives this bot's messages.",
      required: true,
    }),
    intents: list({
      doc: "The bot's features.",
      min: 1,
      max: 500,
      envelope: "intent",
      identity: ["value"],
      of: object({
        doc: "A bot feature.",
        fields: {
          value: text({ doc: "Internal value of the feature.", required: true, min: 1, max: 255 }),
          displayValue: text({
            doc: "Display value of the feature.",
            required: true,
            min: 1,
            max: 255,
          }),
        },
      }),
    }),
    options: map({
      doc: "Custom attributes.",
      min: 1,
      max: 25,
      of: text({ doc: "Attribute value.", min: 1, max: 1023 }),
    }),
  },
  example: {
    name: "orders-bot",
    type: "custom_bot",
    description: "Answers questions about orders",
    active: true,
    application: "${ClientApplication}",
    intents: [
      { value: "order_status", displayValue: "Order status" },
      { value: "returns", displayValue: "Returns" },
    ],
    options: { tier: "gold" },
  },
});
