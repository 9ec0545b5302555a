import {
  defineResource,
  flag,
  map,
  namedFields,
  number,
  object,
  reference,
  text,
} from "../definition/define.js";
import { channel } from "./channel.js";
import { orchestration } from "./orchestration.js";

export const account = defineResource({
  kind: "Account",
  noun: "account",
  collection: "accounts",
  listKey: "account",
  doc: "A channel and an orchestration, connected under one address.",
  fields: {
    ...namedFields("account"),
    address: text({
      doc: "Business address on the channel: a phone number, email address, or page ID. If you change it, lookups by the old address fail.",
      required: true,
      min: 1,
      max: 255,
    }),
    channel: reference(channel, {
      doc: "The account's channel.",
      required: true,
    }),
    caseManagement: object({
      doc: "How conversations are assigned to cases.",
      fields: {
        sameCaseDuration: number({
          doc: "Time within which a returning customer's conversation joins the same case. The unit is not documented.",
          min: 0,
        }),
        copyCustomAttributes: flag({
          doc: "Whether to copy custom attributes from the earlier conversation. Applies only if the orchestration sets `bypassVaDuration`.",
        }),
      },
    }),
    chatConfigurations: object({
      doc: "Settings for the account's conversations.",
      required: true,
      fields: {
        timeout: number({
          doc: "Idle time, in minutes (according to one integrator), after which the customer must start a new conversation.",
          min: 0,
        }),
        defaultLanguage: text({ doc: "Default language, such as `en-US`.", min: 1 }),
        onAgentUnavailability: text({
          doc: "Whether to answer with the off-hours text if no agent is available, or hold the message until one is.",
          values: ["off_hours", "retain_and_retry"],
        }),
        allowLogoutWithOpenChats: flag({ doc: "Whether agents may log out while chats are open." }),
        allowQueueTransferOnAgentUnavailability: flag({
          doc: "Whether agents may return messages to the queue when no agent is available.",
        }),
        orchestration: reference(orchestration, {
          doc: "Orchestration for the account's conversations.",
        }),
        entryPoint: text({
          doc: "ID of the entry point, which belongs to another product area. Usually numeric, such as `1007`.",
          min: 1,
          envelope: "id",
        }),
      },
    }),
    attributes: map({
      doc: "Additional attributes, which may include credentials for a provider.",
      basis: "assumed",
      min: 1,
      max: 10,
      of: text({ doc: "Attribute value.", basis: "assumed", secret: true }),
    }),
  },
  example: {
    name: "kiosk-berlin",
    description: "Kiosk in the Berlin store",
    active: true,
    address: "kiosk-berlin-01",
    channel: "${Channel}",
    caseManagement: { sameCaseDuration: 60, copyCustomAttributes: true },
    chatConfigurations: {
      timeout: 30,
      defaultLanguage: "en-US",
      onAgentUnavailability: "retain_and_retry",
      allowLogoutWithOpenChats: false,
      allowQueueTransferOnAgentUnavailability: true,
      orchestration: "${Orchestration}",
      entryPoint: "1007",
    },
  },
});
