import { z } from "zod";
import { clientApplication } from "../resources/client-application.js";
import { participant } from "../resources/participant.js";
import { type ConversationSide, namedOnSide, rolesOnSide } from "../service/message-types.js";
import { brokenLink } from "./broken-link.js";
import type { ChainObject, ChainReader } from "./chain-reader.js";

/** A client application that a message may go to, and the roles in which it can take it. */
export interface MessageRecipient {
  readonly application: string;
  readonly roles: readonly string[];
}

const applications = z.object({
  botConfiguration: z
    .object({ bots: z.array(z.object({ application: z.string(), participant: z.string() })) })
    .optional(),
  agentConfiguration: z.object({ agents: z.array(z.string()) }).optional(),
  customerConfiguration: z.object({ customer: z.string() }).optional(),
});

type Applications = z.output<typeof applications>;

const readApplications = (flow: ChainObject, { findings }: ChainReader): Applications => {
  const parsed = applications.safeParse(flow.fields.applications);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = ["applications", ...(issue?.path ?? [])].join(".");
  const what = `${flow.label} holds something unexpected at ${place}. Nothing was sent. Compare it with the program, and run \`pulumi refresh\`.`;
  throw brokenLink(flow.definition.noun, what, findings);
};

/** A bot takes messages in the role that its participant's type says. */
const botRoles = (bot: ChainObject | undefined): readonly string[] =>
  typeof bot?.fields.type === "string" ? [bot.fields.type] : rolesOnSide.bot;

const assertSameApplication = (
  bot: ChainObject | undefined,
  application: string,
  { findings }: ChainReader,
): void => {
  const own = bot?.fields.application;
  if (!bot || own === undefined || own === application) return;
  findings.doubts.push(
    `${bot.label} belongs to ${clientApplication.noun} ${String(own)}, while the orchestration names ${application} for it`,
  );
};

const namedFor = (named: Applications, side: ConversationSide) => namedOnSide(named, side).flat();

const botRecipients = async (
  named: Applications,
  flow: ChainObject,
  reader: ChainReader,
): Promise<readonly MessageRecipient[]> => {
  const found: MessageRecipient[] = [];
  for (const { application, participant: id = "" } of namedFor(named, "bot")) {
    const bot = await reader.wanted(participant, id, flow);
    assertSameApplication(bot, application, reader);
    found.push({ application, roles: botRoles(bot) });
  }
  return found;
};

const recipientsOnSide = (
  named: Applications,
  side: ConversationSide,
): readonly MessageRecipient[] =>
  namedFor(named, side).map(({ application }) => ({ application, roles: rolesOnSide[side] }));

/**
 * Who gets a message (specification §6; contract of the orchestration): a customer's goes to the
 * bots, where there are none to the agents; every other one goes to the customer.
 *
 * @throws ConversationError that names the link where nobody is there, or a bot does not exist
 */
export const recipientsOf = async (
  sender: string,
  flow: ChainObject,
  reader: ChainReader,
): Promise<readonly MessageRecipient[]> => {
  const named = readApplications(flow, reader);
  const isCustomer = sender === "customer";
  const bots = isCustomer ? await botRecipients(named, flow, reader) : [];
  const others = recipientsOnSide(named, isCustomer ? "agent" : "customer");
  const recipients = bots.length > 0 ? bots : others;
  if (recipients.length > 0) return recipients;
  const missing = isCustomer ? "neither a bot nor an agent" : "no client application of a customer";
  const what = `${flow.label} names ${missing}, so nobody would get the message of a ${sender}. Nothing was sent. Add it to the orchestration's applications.`;
  throw brokenLink(flow.definition.noun, what, reader.findings);
};
