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
          doc: "Time within which a returning customer's conversation joins the same case. The vendor does not state the unit; the range is that of minutes in a week.",
          usuallyWhole: true,
          min: 1,
          max: 10_080,
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
          doc: "Idle time, in minutes, after which the customer must start a new conversation.",
          usuallyWhole: true,
          min: 3,
          max: 10_080,
          serviceDefault: 240,
        }),
        defaultLanguage: text({
          doc: "Default language, such as `en-US`.",
          serviceDefault: "en-US",
        }),
        onAgentUnavailability: text({
          doc: "Whether to answer with the off-hours text if no agent is available, or hold the message until one is.",
          values: ["off_hours", "retain_and_retry"],
          serviceDefault: "off_hours",
        }),
        allowLogoutWithOpenChats: flag({
          doc: "Whether agents may log out while chats are open.",
          serviceDefault: false,
        }),
        allowQueueTransferOnAgentUnavailability: flag({
          doc: "Whether agents may return messages to the queue when no agent is available.",
          serviceDefault: false,
        }),
        orchestration: reference(orchestration, {
          doc: "Orchestration for the account's conversations.",
          required: true,
        }),
        entryPoint: text({
          doc: "ID of the entry point, which belongs to another product area. Usually numeric, such as `1007`.",
          required: true,
          min: 1,
          max: 255,
          envelope: "id",
        }),
      },
    }),
    attributes: map({
      doc: "Additional attributes, which may include credentials for a provider.",
      min: 1,
      max: 10,
      of: text({ doc: "Attribute value.", secret: true, min: 1, max: 1023 }),
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
