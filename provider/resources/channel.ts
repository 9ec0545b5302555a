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

/** The vendor's words for what a channel can transport. */
const featureWords = ["typing_events", "attachments", "richText", "delivery_receipts"];

const richMessageWords = [
  "listpicker",
  "timepicker",
  "richlink",
  "quickreply",
  "template",
  "form",
  "authentication",
  "payment",
  "app",
];

const languages = [
  "en-US",
  "es-ES",
  "fr-FR",
  "it-IT",
  "de-DE",
  "nl-NL",
  "pt-BR",
  "pt-PT",
  "da-DK",
  "ru-RU",
  "fr-CA",
  "zh-CN",
  "ja-JP",
  "ko-KR",
  "sv-SE",
];

/** A list of the vendor's words, in any order. */
const words = (doc: string, each: string, values: readonly string[], max?: number) =>
  list({
    doc,
    unordered: true,
    min: 1,
    ...(max === undefined ? {} : { max }),
    of: text({ doc: each, values }),
  });

const restrictions: Fields = {
  maxTextLength: number({
    doc: "Maximum length of a text message, in characters.",
    integer: true,
    min: 1,
    max: 10_000,
    serviceDefault: 10_000,
  }),
  attachmentPolicy: object({
    doc: "Restrictions on attachments.",
    fields: {
      enabled: flag({ doc: "Whether attachments are allowed.", serviceDefault: true }),
      maxSize: number({
        doc: "Maximum size of an attachment, in bytes.",
        integer: true,
        min: 1,
        max: 10_485_760,
        serviceDefault: 10_485_760,
      }),
      type: text({
        doc: "Whether `extensions` lists allowed or blocked extensions.",
        values: ["allow", "block"],
      }),
      extensions: list({
        doc: "File extensions without the dot.",
        unordered: true,
        min: 1,
        max: 75,
        of: text({ doc: "An extension.", min: 1, max: 255 }),
      }),
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
          fields: {
            ...restrictions,
            features: words(
              "What messages from the customer may contain. If omitted, everything.",
              "A feature.",
              featureWords,
              4,
            ),
          },
        }),
        outbound: object({
          doc: "Restrictions on messages to the customer.",
          fields: {
            ...restrictions,
            features: words(
              "What messages to the customer may contain. If omitted, nothing but text. The vendor allows four words, but at most three of them.",
              "A feature.",
              featureWords,
              3,
            ),
            systemMessages: flag({
              doc: "Whether the service sends system messages.",
              serviceDefault: false,
            }),
            midChatAuth: flag({
              doc: "Whether a customer can log in during a conversation.",
              serviceDefault: false,
            }),
            richMessageTypes: words(
              "Types of rich messages that the channel can show, without the `richMessage.` prefix. If omitted, none.",
              "A rich message type.",
              richMessageWords,
              9,
            ),
            customerServiceWindow: object({
              doc: "Limits messages to a time after the customer's last message.",
              fields: {
                durationMinutes: number({
                  doc: "Length of the window, in minutes.",
                  required: true,
                  integer: true,
                  min: 1,
                  max: 10_080,
                }),
                continueMessageTypes: words(
                  "Types of rich messages that may be sent after the window has closed.",
                  "A rich message type.",
                  richMessageWords,
                ),
              },
            }),
          },
        }),
      },
    }),
    l10nProperties: map({
      doc: "System text, grouped by language (such as `en-US`) and then by key (such as `msg_hub_off_hours`).",
      min: 1,
      max: 25,
      keys: languages,
      members: { key: "language", value: "properties" },
      of: map({
        doc: "System text in one language.",
        min: 1,
        max: 75,
        of: text({ doc: "The text; `{0}` is a placeholder for a value.", min: 1, max: 1023 }),
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
        features: ["typing_events", "attachments", "richText"],
        systemMessages: true,
        midChatAuth: false,
        richMessageTypes: ["listpicker", "quickreply"],
      },
    },
    l10nProperties: { "en-US": { msg_hub_off_hours: "We are closed right now." } },
  },
});
