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
  doc: "A registered bot. Several can be registered for one client application.",
  fields: {
    ...namedFields("participant"),
    type: text({
      doc: "Kind of bot. The platform's own are made by its bot product.",
      required: true,
      values: ["custom_bot", "platform_bot"],
    }),
    application: reference(clientApplication, {
      doc: "Client application whose callback gets this bot's messages.",
      required: true,
      length: 36,
    }),
    intents: list({
      doc: "What the bot can do.",
      envelope: "intent",
      identity: ["value"],
      of: object({
        doc: "One thing the bot can do.",
        fields: {
          value: text({ doc: "Internal value.", required: true, min: 1 }),
          displayValue: text({ doc: "Shown value.", required: true, min: 1 }),
        },
      }),
    }),
    options: map({
      doc: "Free attributes.",
      min: 1,
      max: 25,
      of: text({ doc: "Value of the attribute." }),
    }),
  },
  example: {
    name: "orders-bot",
    type: "custom_bot",
    description: "Answers order questions",
    active: true,
    application: "${ClientApplication}",
    intents: [
      { value: "order_status", displayValue: "Order status" },
      { value: "returns", displayValue: "Returns" },
    ],
    options: { tier: "gold" },
  },
});
