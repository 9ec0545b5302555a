import { z } from "zod";
import {
  type ConversationSide,
  conversationSides,
  type MessageType,
  maySend,
  messageTypes,
  type SenderKind,
} from "../../provider/service/message-types.js";
import { deadEndsOf, outOfUse } from "./dead-ends.js";
import { beginsWithBots, recipientsFor } from "./recipients.js";
import type { AccountObject, Direction, SetUpObjects } from "./set-up-objects.js";

const side = z.enum(conversationSides);

const recipientSchema = z.strictObject({
  side: side.describe("Whose side of the conversation it is"),
  applicationId: z.string().optional(),
  application: z.string().optional().describe("Name of the client application"),
  participant: z.string().optional().describe("Name of the bot"),
  role: z.string().optional(),
  callback: z.string().optional().describe("Where its messages go"),
  unreached: z.string().optional().describe("Why it gets nothing; left out: it does"),
});

const routeSchema = z.strictObject({
  phase: z.enum(["bot", "agent"]).describe("Who has the conversation when the message is sent"),
  from: side,
  types: z
    .array(z.string())
    .describe("Message types that the sender may send and the channel carries"),
  to: z.array(recipientSchema).describe("In the order in which they are called"),
  leadsTo: z.enum(["agent", "ended"]).optional().describe("What becomes of the conversation"),
});

const explainedSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  channel: z.string().describe("Type of the channel; empty where there is none"),
  inUse: z.boolean().describe("Whether a conversation can begin"),
  begins: z.enum(["bot", "agent"]).describe("Who has a new conversation"),
  routes: z.array(routeSchema),
  refused: z
    .array(z.strictObject({ from: side, type: z.string(), reason: z.string() }))
    .describe("What the channel does not carry"),
  deadEnds: z.array(z.string()).describe("Where a conversation ends up nowhere"),
});

/** Shape of what `explain --json` prints. */
export const explanationSchema = z.strictObject({
  source: z.string(),
  accounts: z.array(explainedSchema),
  notes: z.array(z.string()).describe("What could not be seen"),
});

export type MessageRoute = Readonly<z.infer<typeof routeSchema>>;
export type ExplainedAccount = Readonly<z.infer<typeof explainedSchema>>;
export type Explanation = Readonly<z.infer<typeof explanationSchema>>;

const kindOf = { customer: "customer", bot: "custom_bot", agent: "custom_agent" } as const;

/** The types that a side may send; the two kinds of a side may send the same. */
const typesFrom = (from: ConversationSide): readonly MessageType[] => {
  const kind: SenderKind = kindOf[from];
  return messageTypes.filter((type) => maySend(kind, type));
};

const rich = "richMessage.";

/** Why a channel does not carry a type; undefined where it does. */
const refusal = (direction: Direction | undefined, type: MessageType): string | undefined => {
  if (!direction) return undefined;
  const { features, richMessageTypes, midChatAuth } = direction;
  if (type.startsWith("typing.") && features && !features.includes("typing_events"))
    return "the channel's features have no typing_events";
  if (!type.startsWith(rich)) return undefined;
  if (richMessageTypes && !richMessageTypes.includes(type.slice(rich.length)))
    return "the channel's richMessageTypes do not name it";
  return type === "richMessage.authentication" && midChatAuth === false
    ? "the channel has midChatAuth off"
    : undefined;
};

const directionFor = (objects: SetUpObjects, account: AccountObject, from: ConversationSide) => {
  const restrictions = objects.channels.get(account.channel ?? "")?.restrictions;
  return from === "customer" ? restrictions?.inbound : restrictions?.outbound;
};

const endings: readonly MessageType[] = ["escalation.transfer", "conversation.end"];

type Phase = MessageRoute["phase"];

/** What a message makes of the conversation; undefined where nothing changes. */
const outcomeOf = (type: MessageType, phase: Phase): MessageRoute["leadsTo"] => {
  if (type === "conversation.end") return "ended";
  return type === "escalation.transfer" && phase === "bot" ? "agent" : undefined;
};

/** Whom a message is for, by its sender and the phase (specification §6). */
const sidesOf = (
  from: ConversationSide,
  phase: Phase,
  outcome: MessageRoute["leadsTo"],
): readonly ConversationSide[] => {
  if (from === "customer") return [phase];
  return outcome === "agent" ? ["customer", "agent"] : ["customer"];
};

const routesFrom = (
  objects: SetUpObjects,
  account: AccountObject,
  phase: Phase,
  from: ConversationSide,
): readonly MessageRoute[] => {
  const direction = directionFor(objects, account, from);
  const carried = typesFrom(from).filter((type) => refusal(direction, type) === undefined);
  const plain = carried.filter((type) => !endings.includes(type));
  const groups = [plain, ...endings.filter((type) => carried.includes(type)).map((type) => [type])];
  return groups.flatMap((types): MessageRoute[] => {
    const [first] = types;
    if (!first) return [];
    const leadsTo = outcomeOf(first, phase);
    const sides = sidesOf(from, phase, leadsTo);
    const to = sides.flatMap((each) => [...recipientsFor(objects, account, each)]);
    return [{ phase, from, types: [...types], to, ...(leadsTo ? { leadsTo } : {}) }];
  });
};

const refusedFrom = (objects: SetUpObjects, account: AccountObject, from: ConversationSide) => {
  const direction = directionFor(objects, account, from);
  return typesFrom(from).flatMap((type) => {
    const reason = refusal(direction, type);
    return reason === undefined ? [] : [{ from, type, reason }];
  });
};

/** Everything that can happen to a message of one account. */
export const explainAccount = (objects: SetUpObjects, account: AccountObject): ExplainedAccount => {
  const begins = beginsWithBots(objects, account) ? "bot" : "agent";
  const phases: readonly Phase[] = begins === "bot" ? ["bot", "agent"] : ["agent"];
  const routes = phases.flatMap((phase) =>
    conversationSides.flatMap((from) => routesFrom(objects, account, phase, from)),
  );
  const unused = outOfUse(objects, account);
  return {
    id: account.id,
    name: account.name,
    address: account.address,
    channel: objects.channels.get(account.channel ?? "")?.type ?? "",
    inUse: unused === undefined,
    begins,
    routes,
    refused: conversationSides.flatMap((from) => refusedFrom(objects, account, from)),
    deadEnds: unused === undefined ? [...deadEndsOf(routes, begins)] : [unused],
  };
};

/** Who gets which message from whom, for every account, and where a conversation ends up nowhere. */
export const explain = (
  objects: SetUpObjects,
  source: string,
  notes: readonly string[] = [],
): Explanation => ({
  source,
  accounts: objects.accounts.map((account) => explainAccount(objects, account)),
  notes: [...notes],
});
