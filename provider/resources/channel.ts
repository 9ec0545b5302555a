import {
  commonFields,
  defineResource,
  type Fields,
  flag,
  list,
  map,
  number,
  object,
  text,
} from "../definition/define.js";
import { clientApplication } from "./client-application.js";

const words = (doc: string, each: string, more: { readonly emptyCounts?: true } = {}) =>
  list({
    doc,
    unordered: true,
    ...more,
    of: text({ doc: each, min: 1 }),
  });

const restrictions: Fields = {
  maxTextLength: number({
    doc: "Maximum length of a text message, in characters.",
    integer: true,
    min: 0,
  }),
  features: words(
    "Allowed features: any of `typing_events`, `attachments`, and `richText`. If omitted, all are allowed.",
    "A feature.",
    { emptyCounts: true },
  ),
  attachmentPolicy: object({
    doc: "Restrictions on attachments.",
    fields: {
      enabled: flag({ doc: "Must be true to allow attachments." }),
      maxSize: number({
        doc: "Maximum size of an attachment, probably in bytes (the unit is not documented).",
        integer: true,
        min: 0,
      }),
      type: text({
        doc: "Whether `extensions` lists allowed or blocked extensions.",
        values: ["allow", "block"],
      }),
      extensions: words("File extensions without the dot.", "An extension."),
    },
  }),
};

export const channel = defineResource({
  kind: "Channel",
  noun: "channel",
  collection: "channels",
  listKey: "channel",
  doc: "A transport for chat messages, and its parameters.",
  heldByAny: {
    kinds: [clientApplication],
    basis: "spec",
    doc: "According to the service's specification, a channel that a client application uses cannot be deleted, although no field in a client application refers to a channel.",
  },
  fields: {
    type: text({
      doc: "The channel's identifier at run time, such as `custom.teams` for a custom channel. If you change it, lookups by the old type fail.",
      required: true,
      unique: true,
      names: "given",
      min: 1,
      max: 255,
    }),
    displayName: text({ doc: "Display name.", required: true, min: 1, max: 255 }),
    icon: text({
      doc: "Icon image. Must be a 32 × 32 pixel PNG if the platform's own agent desktop shows it.",
      required: true,
      min: 1,
      max: 512_000,
      format: "base64",
    }),
    ...commonFields("channel"),
    restrictions: object({
      doc: "Restrictions on the messages that the channel transports.",
      fields: {
        inbound: object({
          doc: "Restrictions on messages from the customer.",
          fields: restrictions,
        }),
        outbound: object({
          doc: "Restrictions on messages to the customer.",
          fields: {
            ...restrictions,
            systemMessages: flag({ doc: "Whether the service sends system messages." }),
            midChatAuth: flag({ doc: "Whether a customer can log in during a conversation." }),
            richMessageTypes: words(
              "Types of rich messages that the channel can show, without the `richMessage.` prefix (for example, `listpicker`).",
              "A rich message type.",
            ),
          },
        }),
      },
    }),
    l10nProperties: map({
      doc: "System text, grouped by language (such as `en-US`) and then by key (such as `msg_hub_off_hours`).",
      min: 1,
      max: 25,
      members: { key: "language", value: "properties" },
      of: map({
        doc: "System text in one language.",
        of: text({ doc: "The text; `{0}` is a placeholder for a value." }),
      }),
    }),
  },
  example: {
    type: "custom.kiosk",
    displayName: "Store kiosk",
    icon: "aVZCT1J3MEtHZ28=",
    description: "In-store kiosk chat",
    active: true,
    restrictions: {
      inbound: {
        maxTextLength: 500,
        features: ["typing_events", "attachments", "richText"],
        attachmentPolicy: {
          enabled: true,
          maxSize: 1_048_576,
          type: "block",
          extensions: ["exe", "bat"],
        },
      },
      outbound: {
        maxTextLength: 500,
        systemMessages: true,
        midChatAuth: false,
        richMessageTypes: ["listpicker", "quickreply"],
      },
    },
    l10nProperties: { "en-US": { msg_hub_off_hours: "We are closed right now." } },
  },
});
