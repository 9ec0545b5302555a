import {
  commonFields,
  defineResource,
  list,
  map,
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
    name: text({
      doc: "Name; made from the logical name where a program gives none.",
      basis: "public",
      required: true,
      unique: true,
      min: 1,
      max: 255,
    }),
    ...commonFields("participant"),
    type: text({
      doc: "Kind of bot. The platform's own are made by its bot product.",
      basis: "public",
      required: true,
      values: ["custom_bot", "platform_bot"],
    }),
    application: reference(clientApplication, {
      doc: "Client application whose callback gets this bot's messages.",
      basis: "public",
      required: true,
      length: 36,
    }),
    intents: list({
      doc: "What the bot can do.",
      basis: "public",
      envelope: "intent",
      identity: ["value"],
      of: object({
        doc: "One thing the bot can do.",
        basis: "public",
        fields: {
          value: text({ doc: "Internal value.", basis: "public", required: true, min: 1 }),
          displayValue: text({ doc: "Shown value.", basis: "public", required: true, min: 1 }),
        },
      }),
    }),
    options: map({
      doc: "Free attributes.",
      basis: "public",
      min: 1,
      max: 25,
      of: text({ doc: "Value of the attribute.", basis: "public" }),
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
