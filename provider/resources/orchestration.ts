import {
  commonFields,
  defineResource,
  flag,
  list,
  number,
  object,
  reference,
  text,
} from "../definition/define.js";
import { clientApplication } from "./client-application.js";
import { participant } from "./participant.js";

/** That what an orchestration refers to cannot be deleted is assumed. */
export const orchestration = defineResource({
  kind: "Orchestration",
  noun: "orchestration",
  collection: "orchestrations",
  listKey: "orchestration",
  doc: "How a conversation moves between the customer, the bot, and the agents.",
  fields: {
    name: text({
      doc: "Name, which need not be unique; derived from the logical name if omitted.",
      required: true,
      names: "automatic",
    }),
    ...commonFields("orchestration"),
    applications: object({
      doc: "The parties to a conversation.",
      required: true,
      rule: { atLeastOne: ["botConfiguration", "agentConfiguration"] },
      fields: {
        botConfiguration: object({
          doc: "Settings for the bot, which answers first.",
          fields: {
            forwardTranscript: flag({
              doc: "Whether to pass the transcript to an agent if the bot did not escalate and the customer is known.",
              serviceDefault: true,
            }),
            bypassVaDuration: number({
              doc: "Number of minutes within which a returning customer's conversation skips the bot and goes to the agent.",
              usuallyWhole: true,
              min: 1,
              max: 10_080,
            }),
            bots: list({
              doc: "The bot: a list of exactly one.",
              required: true,
              min: 1,
              max: 1,
              identity: ["participant"],
              of: object({
                doc: "A bot, and the agents who take over from it.",
                fields: {
                  application: reference(clientApplication, {
                    doc: "The bot's client application.",
                    required: true,
                    wire: "id",
                    plainId: true,
                  }),
                  participant: reference(participant, {
                    doc: "The bot's participant.",
                    required: true,
                  }),
                  onEscalation: object({
                    doc: "What happens when the bot escalates.",
                    fields: {
                      agent: reference(clientApplication, {
                        doc: "Client application that receives the conversation after the escalation.",
                        required: true,
                      }),
                    },
                  }),
                },
              }),
            }),
          },
        }),
        customerConfiguration: object({
          doc: "The customer's client application; required for custom channels.",
          fields: {
            customer: reference(clientApplication, {
              doc: "Client application that receives the replies to the customer.",
              required: true,
            }),
          },
        }),
        agentConfiguration: object({
          doc: "The agents.",
          fields: {
            agents: list({
              doc: "The agents' client application: a list of exactly one.",
              required: true,
              min: 1,
              max: 1,
              of: reference(clientApplication, {
                doc: "An agent's client application.",
              }),
            }),
          },
        }),
      },
    }),
  },
  example: {
    name: "orders",
    description: "Orders bot first, agents on escalation",
    active: true,
    applications: {
      botConfiguration: {
        forwardTranscript: true,
        bypassVaDuration: 15,
        bots: [
          {
            application: "${ClientApplication}",
            participant: "${Participant}",
            onEscalation: { agent: "${ClientApplication}" },
          },
        ],
      },
      customerConfiguration: { customer: "${ClientApplication}" },
      agentConfiguration: { agents: ["${ClientApplication}"] },
    },
  },
});
