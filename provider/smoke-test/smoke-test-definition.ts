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

/** Default maximum time for the message to arrive, in seconds. */
export const defaultTimeout = 30;

/**
 * The only resource that is not a set-up object but a single conversation: it shares the rules for
 * inputs and secrets with the kinds of the registry, and nothing else.
 */
export const smokeTest = defineResource({
  kind: "ConversationSmokeTest",
  noun: "smoke test",
  collection: "conversations",
  listKey: "conversation",
  doc: "Sends one message over an account and says which link of the chain is broken, if any.",
  fields: {
    account: reference(account, {
      doc: "The account to test.",
      basis: "spec",
      required: true,
    }),
    enabled: flag({ doc: "Whether messages are sent at all.", basis: "assumed", default: false }),
    sender: text({
      doc: "Who sends: a customer's message goes to the bot or the agents, all others go to the customer.",
      basis: "spec",
      values: ["customer", "platform_agent", "custom_agent", "platform_bot", "custom_bot"],
      default: "customer",
    }),
    text: text({
      doc: "What the message says.",
      basis: "assumed",
      min: 1,
      max: 1000,
      default: "Smoke test of this account. Please ignore.",
    }),
    customer: text({
      doc: "Name of the customer of the conversation.",
      basis: "assumed",
      min: 1,
      max: 255,
      default: "Smoke test",
    }),
    probe: object({
      doc: "Where one can see that the message arrived. Left out: the service's 202 is enough.",
      basis: "assumed",
      fields: {
        url: text({
          doc: "Address that answers which conversations have arrived.",
          basis: "assumed",
          required: true,
          format: "url",
        }),
        authorization: text({
          doc: "Authorization header of the calls to it.",
          basis: "assumed",
          min: 1,
          secret: true,
        }),
      },
    }),
    timeout: number({
      doc: "How long the message may take from the 202 to the probe, in seconds.",
      basis: "assumed",
      integer: true,
      min: 1,
      max: 600,
    }),
    triggers: list({
      doc: "The test runs again when any of them changes.",
      basis: "assumed",
      of: text({
        doc: "Digest of a value that the test depends on.",
        basis: "assumed",
        secret: true,
      }),
    }),
    profile: text({ doc: "Name of the settings to use.", basis: "assumed", min: 1, max: 64 }),
  },
  example: { account: "${Account}", enabled: true, probe: { url: "https://bot.example.com/seen" } },
});
