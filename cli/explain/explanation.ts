import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { isHttpUrl } from "../../provider/definition/violations.js";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import {
  type ConversationSide,
  conversationSides,
  type MessageType,
  maySend,
  messageTypes,
  namedOnSide,
  rolesOnSide,
} from "../../provider/resources/message-types.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import type { ObjectInputs } from "../inventory/object-inputs.js";

const id = z.coerce.string();
/** Only an explicit false counts as false, as services omit what is usual. */
const active = z
  .unknown()
  .optional()
  .transform((value) => value !== false && value !== "false");
const named = { id, name: z.coerce.string().catch(""), active };
/** A member that counts as absent if it has another shape. */
const lenient = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const reference = lenient(id);

const directionSchema = z.object({
  features: lenient(z.array(z.unknown())),
  richMessageTypes: lenient(z.array(z.unknown())),
  midChatAuth: z.unknown().optional(),
});

/** The members read of each kind; anything of another shape counts as absent. */
const accountSchema = z.object({
  ...named,
  address: z.coerce.string().catch(""),
  channel: reference,
  chatConfigurations: z.object({ orchestration: reference }).catch({ orchestration: undefined }),
  created: z.string().catch(""),
});

const channelSchema = z.object({
  ...named,
  type: z.coerce.string().catch(""),
  restrictions: z
    .object({ inbound: lenient(directionSchema), outbound: lenient(directionSchema) })
    .catch({}),
});

const botSchema = z.object({
  application: reference,
  participant: reference,
  onEscalation: lenient(z.object({ agent: reference })),
});

const orchestrationSchema = z.object({
  ...named,
  applications: z
    .object({
      botConfiguration: lenient(z.object({ bots: z.array(botSchema).catch([]) })),
      customerConfiguration: lenient(z.object({ customer: reference })),
      agentConfiguration: lenient(z.object({ agents: z.array(id).catch([]) })),
    })
    .catch({}),
});

const applicationSchema = z.object({
  ...named,
  roles: z.array(z.object({ name: z.string(), callback: z.string().catch("") })).catch([]),
});

const participantSchema = z.object({ ...named, type: z.string().catch("") });

/** A restriction of a channel in one direction. */
type Direction = z.infer<typeof directionSchema>;
type AccountObject = z.infer<typeof accountSchema>;
type ApplicationObject = z.infer<typeof applicationSchema>;
type ParticipantObject = z.infer<typeof participantSchema>;
type OrchestrationObject = z.infer<typeof orchestrationSchema>;
type ChannelObject = z.infer<typeof channelSchema>;

/** The objects that decide who gets which message, by ID; accounts in order of creation. */
interface SetUpObjects {
  readonly accounts: readonly AccountObject[];
  readonly channels: ReadonlyMap<string, ChannelObject>;
  readonly orchestrations: ReadonlyMap<string, OrchestrationObject>;
  readonly applications: ReadonlyMap<string, ApplicationObject>;
  readonly participants: ReadonlyMap<string, ParticipantObject>;
}

const byId = <T extends { readonly id: string }>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((object) => [object.id, object]));

/** Reads the objects of an account. Never fails: what cannot be read is absent. */
export const setUpObjects = (
  objects: readonly Pick<ObjectInputs, "definition" | "id" | "created" | "fields">[],
): SetUpObjects => {
  const read = <T>(definition: Definition, schema: z.ZodType<T>): readonly T[] =>
    objects.flatMap(({ definition: { kind }, id, created, fields }) => {
      if (kind !== definition.kind) return [];
      const parsed = schema.safeParse({ ...fields, id, created });
      return parsed.success ? [parsed.data] : [];
    });
  return {
    accounts: read(account, accountSchema).toSorted((a, b) =>
      a.created < b.created ? -1 : a.created > b.created ? 1 : 0,
    ),
    channels: byId(read(channel, channelSchema)),
    orchestrations: byId(read(orchestration, orchestrationSchema)),
    applications: byId(read(clientApplication, applicationSchema)),
    participants: byId(read(participant, participantSchema)),
  };
};

const side = z.enum(conversationSides);

const recipientSchema = z.strictObject({
  side: side.describe("Side of the conversation"),
  applicationId: z.string().optional(),
  application: z.string().optional().describe("Name of the client application"),
  participant: z.string().optional().describe("Name of the bot"),
  role: z.string().optional(),
  callback: z.string().optional().describe("URL that receives the messages"),
  unreached: z
    .string()
    .optional()
    .describe("Why the recipient gets no messages; absent if it gets them"),
});

const routeSchema = z.strictObject({
  phase: z.enum(["bot", "agent"]).describe("Who has the conversation when the message is sent"),
  from: side,
  types: z
    .array(z.string())
    .describe("Message types that the sender may send and the channel supports"),
  to: z.array(recipientSchema).describe("The recipients, in call order"),
  leadsTo: z
    .enum(["agent", "ended"])
    .optional()
    .describe(
      "`agent`: the messages escalate the conversation; `ended`: they end it; absent if they do neither",
    ),
});

const explainedSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  channel: z.string().describe("Channel type; empty if the account has no channel"),
  inUse: z.boolean().describe("Whether a conversation can begin"),
  begins: z.enum(["bot", "agent"]).describe("Who gets a new conversation"),
  routes: z.array(routeSchema),
  refused: z
    .array(z.strictObject({ from: side, type: z.string(), reason: z.string() }))
    .describe("Message types that the channel does not support"),
  deadEnds: z.array(z.string()).describe("Dead ends: where messages or conversations are lost"),
});

/** Shape of what `explain --json` prints. */
export const explanationSchema = z.strictObject({
  source: z.string(),
  accounts: z.array(explainedSchema),
  notes: z.array(z.string()).describe("Notes, such as what the command could not read"),
});

/** Who gets the messages for a side: a role of a client application, or why nobody does. */
export type ExplainedRecipient = Readonly<z.infer<typeof recipientSchema>>;
export type MessageRoute = Readonly<z.infer<typeof routeSchema>>;
export type ExplainedAccount = Readonly<z.infer<typeof explainedSchema>>;
export type Explanation = Readonly<z.infer<typeof explanationSchema>>;

type Phase = MessageRoute["phase"];

/** Somebody whom an orchestration names. */
interface NamedParty {
  readonly applicationId: string;
  readonly application: ApplicationObject | undefined;
  readonly participant?: ParticipantObject | undefined;
}

/** The parties named for a side: the first one that takes part has the side. */
const partiesFor = (
  { applications, participants }: SetUpObjects,
  orchestration: OrchestrationObject | undefined,
  side: ConversationSide,
): readonly NamedParty[] =>
  namedOnSide(orchestration?.applications ?? {}, side).map(({ application, participant }) => ({
    applicationId: application,
    application: applications.get(application),
    participant: participants.get(participant ?? ""),
  }));

const inactiveText = ({ application, participant }: NamedParty): string | undefined => {
  if (participant?.active === false) return `the participant ${participant.name} is not active`;
  if (application?.active === false)
    return `the client application ${application.name} is not active`;
  return undefined;
};

const recipientOf = (side: ConversationSide, party: NamedParty): ExplainedRecipient => {
  const { applicationId, application, participant } = party;
  // A bot is addressed by the role of its own type, if its application has it.
  const roles = rolesOnSide[side].toSorted(
    (a, b) => Number(b === participant?.type) - Number(a === participant?.type),
  );
  const [held] = roles.flatMap(
    (name) => application?.roles.find((role) => role.name === name) ?? [],
  );
  const role = roles.find((name) => name === held?.name) ?? roles[0];
  const known = {
    side,
    applicationId,
    ...(application ? { application: application.name } : {}),
    ...(participant ? { participant: participant.name } : {}),
    ...(role ? { role } : {}),
    ...(held ? { callback: held.callback } : {}),
  };
  const unreached = unreachedText(side, party, held?.callback);
  return unreached === undefined ? known : { ...known, unreached };
};

const unreachedText = (
  side: ConversationSide,
  party: NamedParty,
  callback: string | undefined,
): string | undefined => {
  const { application, applicationId } = party;
  if (!application) return `there is no client application with the ID ${applicationId}`;
  const inactive = inactiveText(party);
  if (inactive !== undefined) return inactive;
  if (callback === undefined)
    return `the client application ${application.name} has no ${rolesOnSide[side].join(" or ")} role`;
  return isHttpUrl(callback)
    ? undefined
    : `the callback of the client application ${application.name} is not an HTTP or HTTPS URL`;
};

const nobody = (side: ConversationSide): ExplainedRecipient => ({
  side,
  unreached: `the orchestration specifies no recipient for the ${side}'s side`,
});

const takesPart = (party: NamedParty): boolean => inactiveText(party) === undefined;

/** The orchestration that an account's conversations follow. */
const orchestrationFor = (
  { orchestrations }: SetUpObjects,
  { chatConfigurations }: AccountObject,
): OrchestrationObject | undefined => orchestrations.get(chatConfigurations.orchestration ?? "");

/** Who gets the messages for a side of an account's conversations. */
const recipientFor = (
  objects: SetUpObjects,
  account: AccountObject,
  side: ConversationSide,
): ExplainedRecipient => {
  const parties = partiesFor(objects, orchestrationFor(objects, account), side);
  const party = parties.find(takesPart) ?? parties[0];
  return party ? recipientOf(side, party) : nobody(side);
};

/** Whether a conversation of the account begins with a bot. */
const beginsWithBot = (objects: SetUpObjects, account: AccountObject): boolean =>
  partiesFor(objects, orchestrationFor(objects, account), "bot").some(takesPart);

const channelTypeOf = ({ channels }: SetUpObjects, { channel }: AccountObject) =>
  channels.get(channel ?? "")?.type;

const missingPart = (objects: SetUpObjects, account: AccountObject): string | undefined => {
  const channel = objects.channels.get(account.channel ?? "");
  if (!account.active) return "no conversation begins: the account is not active";
  if (!channel) return "no conversation begins: the account's channel does not exist";
  if (!channel.active) return `no conversation begins: the channel ${channel.type} is not active`;
  const orchestration = orchestrationFor(objects, account);
  return orchestration?.active === false
    ? `no conversation begins: the orchestration ${orchestration.name} is not active`
    : undefined;
};

/** Why no conversation of an account can begin; undefined if one can. */
const outOfUse = (objects: SetUpObjects, account: AccountObject): string | undefined => {
  const missing = missingPart(objects, account);
  if (missing !== undefined) return missing;
  const type = channelTypeOf(objects, account);
  const first = objects.accounts.find(
    (other) =>
      other.address === account.address &&
      channelTypeOf(objects, other) === type &&
      missingPart(objects, other) === undefined,
  );
  return first === account
    ? undefined
    : `no conversation begins: the older account ${first?.name} has the same address, ${account.address}, on ${type}`;
};

/** The routes on which messages for a side reach nobody, each given once. */
const deadEndsOf = (routes: readonly MessageRoute[], begins: Phase): readonly string[] => {
  const found = routes.flatMap(({ phase, from, to, types }) => {
    const isHandOver = types.includes("escalation.transfer") && phase === "bot";
    const lost = (side: ConversationSide, what: string): readonly string[] =>
      to.flatMap((each) =>
        each.side === side && each.unreached !== undefined ? [`${what}: ${each.unreached}`] : [],
      );
    return [
      ...(from === "customer" && phase === begins
        ? lost(phase, "a new conversation reaches no recipient")
        : []),
      ...(isHandOver ? lost("agent", "an escalation reaches no agent") : []),
      ...(from !== "customer" ? lost("customer", "no reply reaches the customer") : []),
    ];
  });
  return [...new Set(found)];
};

const kindOf = { customer: "customer", bot: "custom_bot", agent: "custom_agent" } as const;

/** The types that a side may send; the two kinds of a side may send the same. */
const typesFrom = (from: ConversationSide): readonly MessageType[] =>
  messageTypes.filter((type) => maySend(kindOf[from], type));

const rich = "richMessage.";

/** Why a channel does not carry a type; undefined if it does. */
const refusal = (direction: Direction | undefined, type: MessageType): string | undefined => {
  if (!direction) return undefined;
  const { features, richMessageTypes, midChatAuth } = direction;
  if (type.startsWith("typing.") && features && !features.includes("typing_events"))
    return "the channel's features do not include typing_events";
  if (!type.startsWith(rich)) return undefined;
  if (richMessageTypes && !richMessageTypes.includes(type.slice(rich.length)))
    return "the channel's richMessageTypes do not include this type";
  return type === "richMessage.authentication" && midChatAuth !== true
    ? "midChatAuth is off for the channel"
    : undefined;
};

const directionFor = (objects: SetUpObjects, account: AccountObject, from: ConversationSide) => {
  const restrictions = objects.channels.get(account.channel ?? "")?.restrictions;
  const { inbound, outbound } = restrictions ?? {};
  if (from === "customer" || !outbound) return from === "customer" ? inbound : undefined;
  const { features = [], richMessageTypes = [] } = outbound;
  return { ...outbound, features, richMessageTypes };
};

const endings: readonly MessageType[] = ["escalation.transfer", "conversation.end"];

/** What a message changes in the conversation; undefined if nothing. */
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
    const to = sides.map((each) => recipientFor(objects, account, each));
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
const explainAccount = (objects: SetUpObjects, account: AccountObject): ExplainedAccount => {
  const begins = beginsWithBot(objects, account) ? "bot" : "agent";
  const phases: readonly Phase[] = begins === "bot" ? ["bot", "agent"] : ["agent"];
  // Nobody else takes part in the account's conversations (vendor, 400-240).
  const senders = conversationSides.filter(
    (side) =>
      side === "customer" ||
      partiesFor(objects, orchestrationFor(objects, account), side).length > 0,
  );
  const routes = phases.flatMap((phase) =>
    senders.flatMap((from) => routesFrom(objects, account, phase, from)),
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
    refused: senders.flatMap((from) => refusedFrom(objects, account, from)),
    deadEnds: unused === undefined ? [...deadEndsOf(routes, begins)] : [unused],
  };
};

/** Who gets which message from whom, for every account, and which conversations end up nowhere. */
export const explain = (
  objects: SetUpObjects,
  source: string,
  notes: readonly string[] = [],
): Explanation => ({
  source,
  accounts: objects.accounts.map((account) => explainAccount(objects, account)),
  notes: [...notes],
});
