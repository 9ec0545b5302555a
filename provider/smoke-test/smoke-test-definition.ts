import {
  defineResource,
  flag,
  list,
  number,
  object,
  reference,
  text,
} from "../definition/define.js";
import { account } from "../resources/account.js";

/** Default time limit for the message to arrive, in seconds. */
export const defaultTimeout = 30;

/**
 * The resource that represents a conversation rather than a setup object. It shares only the rules
 * for inputs and secrets with the other kinds.
 */
export const smokeTest = defineResource({
  kind: "ConversationSmokeTest",
  noun: "smoke test",
  collection: "conversations",
  listKey: "conversation",
  doc: "Sends one message through an account and reports the broken link in the chain, if any.",
  fields: {
    account: reference(account, {
      doc: "The account to test.",
      basis: "spec",
      required: true,
    }),
    enabled: flag({ doc: "Whether to send messages.", basis: "assumed", default: false }),
    sender: text({
      doc: "Sender: a customer's message goes to the bots, or to the agents if there are none; any other message goes to the customer.",
      basis: "spec",
      values: ["customer", "platform_agent", "custom_agent", "platform_bot", "custom_bot"],
      default: "customer",
    }),
    text: text({
      doc: "The text of the message.",
      basis: "assumed",
      min: 1,
      max: 1000,
      default: "Smoke test of this account. Please ignore.",
    }),
    customer: text({
      doc: "Name of the customer in the conversation.",
      basis: "assumed",
      min: 1,
      max: 255,
      default: "Smoke test",
    }),
    probe: object({
      doc: "How to check that the message arrived. If omitted, a 202 response from the service is sufficient.",
      basis: "assumed",
      fields: {
        url: text({
          doc: "URL that reports which conversations have arrived.",
          basis: "assumed",
          required: true,
          format: "url",
        }),
        authorization: text({
          doc: "Authorization header for calls to `url`.",
          basis: "assumed",
          min: 1,
          secret: true,
        }),
      },
    }),
    timeout: number({
      doc: "Time limit, in seconds, from the 202 response until the probe finds the message.",
      basis: "assumed",
      integer: true,
      min: 1,
      max: 600,
    }),
    triggers: list({
      doc: "The test runs again when any of these values changes.",
      basis: "assumed",
      of: text({
        doc: "Digest of a value that the test depends on.",
        basis: "assumed",
        secret: true,
      }),
    }),
    profile: text({ doc: "Name of the settings profile.", basis: "assumed", min: 1, max: 64 }),
  },
  example: { account: "${Account}", enabled: true, probe: { url: "https://bot.example.com/seen" } },
});
