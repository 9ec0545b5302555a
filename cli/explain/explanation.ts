import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { isHttpUrl } from "../../provider/definition/violations.js";
import { fieldsFromWire, type VendorName } from "../../provider/definition/wire.js";
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

/** A member that counts as absent if it has another shape. */
const lenient = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const reference = lenient(z.string());
const text = z.string().catch("");
/** Only an explicit false counts as false, as services omit what is usual. */
const active = z
  .unknown()
  .optional()
  .transform((value) => value !== false);
const named = { id: z.string(), name: text, active };

const directionSchema = z.object({
  features: lenient(z.array(z.unknown())),
  richMessageTypes: lenient(z.array(z.unknown())),
  midChatAuth: z.unknown().optional(),
});

/** The members read of each kind. */
const accountSchema = z.object({
  ...named,
  address: text,
  channel: reference,
  chatConfigurations: z.object({ orchestration: reference }).catch({ orchestration: undefined }),
  created: text,
});

const channelSchema = z.object({
  ...named,
  type: text,
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
      agentConfiguration: lenient(z.object({ agents: z.array(z.string()).catch([]) })),
    })
    .catch({}),
});

const applicationSchema = z.object({
  ...named,
  roles: z.array(z.object({ name: z.string(), callback: text })).catch([]),
});

const participantSchema = z.object({ ...named, type: text });

type Direction = z.infer<typeof directionSchema>;

/** Somebody whom an orchestration names. */
interface NamedParty {
  readonly applicationId: string;
  readonly application: z.infer<typeof applicationSchema> | undefined;
  readonly participant: z.infer<typeof participantSchema> | undefined;
}

/** An account with what decides who gets its messages. */
interface AccountSetUp {
  readonly account: z.infer<typeof accountSchema>;
  readonly channel: z.infer<typeof channelSchema> | undefined;
  readonly orchestration: z.infer<typeof orchestrationSchema> | undefined;
  /** The parties named for each side: the first one that takes part has the side. */
  readonly parties: Readonly<Record<ConversationSide, readonly NamedParty[]>>;
}

type ListedObject = Pick<ObjectInputs, "definition" | "id" | "created" | "wire">;

/** Links the accounts with the objects that they refer to; the oldest account comes first. */
const readSetUps = (
  objects: readonly ListedObject[],
  vendor: VendorName,
): readonly AccountSetUp[] => {
  const read = <T>(definition: Definition, schema: z.ZodType<T>): ReadonlyMap<string, T> =>
    new Map(
      objects.flatMap(({ definition: { kind }, id, created, wire }) => {
        if (kind !== definition.kind) return [];
        // Unlike in a program, an empty list is not the same as none.
        const fields = fieldsFromWire(definition.fields, wire, vendor);
        const { data } = schema.safeParse({ ...fields, id, created });
        return data === undefined ? [] : [[id, data] as const];
      }),
    );
  const channels = read(channel, channelSchema);
  const orchestrations = read(orchestration, orchestrationSchema);
  const applications = read(clientApplication, applicationSchema);
  const participants = read(participant, participantSchema);
  const accounts = [...read(account, accountSchema).values()];
  return accounts
    .toSorted((a, b) => (a.created < b.created ? -1 : a.created > b.created ? 1 : 0))
    .map((each) => {
      const followed = orchestrations.get(each.chatConfigurations.orchestration ?? "");
      const partiesOn = (side: ConversationSide): readonly NamedParty[] =>
        namedOnSide(followed?.applications ?? {}, side).map(({ application, participant }) => ({
          applicationId: application,
          application: applications.get(application),
          participant: participants.get(participant ?? ""),
        }));
      return {
        account: each,
        channel: channels.get(each.channel ?? ""),
        orchestration: followed,
        parties: {
          customer: partiesOn("customer"),
          bot: partiesOn("bot"),
          agent: partiesOn("agent"),
        },
      };
    });
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

const inactiveText = ({ application, participant }: NamedParty): string | undefined => {
  if (participant?.active === false) return `the participant ${participant.name} is not active`;
  if (application?.active === false)
    return `the client application ${application.name} is not active`;
  return undefined;
};

const takesPart = (party: NamedParty): boolean => inactiveText(party) === undefined;

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

/** Who gets the messages for a side of an account's conversations. */
const findRecipient = ({ parties }: AccountSetUp, side: ConversationSide): ExplainedRecipient => {
  const party = parties[side].find(takesPart) ?? parties[side][0];
  if (!party)
    return { side, unreached: `the orchestration specifies no recipient for the ${side}'s side` };
  const { applicationId, application, participant } = party;
  // A bot is addressed by the role of its own type, if its application has it.
  const roles = rolesOnSide[side].toSorted(
    (a, b) => Number(b === participant?.type) - Number(a === participant?.type),
  );
  const [held] = roles.flatMap(
    (name) => application?.roles.find((role) => role.name === name) ?? [],
  );
  const role = roles.find((name) => name === held?.name) ?? roles[0];
  const unreached = unreachedText(side, party, held?.callback);
  return {
    side,
    applicationId,
    ...(application ? { application: application.name } : {}),
    ...(participant ? { participant: participant.name } : {}),
    ...(role ? { role } : {}),
    ...(held ? { callback: held.callback } : {}),
    ...(unreached === undefined ? {} : { unreached }),
  };
};

/** What a conversation of the account lacks to begin; undefined if nothing. */
const missingPart = ({ account, channel, orchestration }: AccountSetUp): string | undefined => {
  if (!account.active) return "the account is not active";
  if (!channel) return "the account's channel does not exist";
  if (!channel.active) return `the channel ${channel.type} is not active`;
  return orchestration?.active === false
    ? `the orchestration ${orchestration.name} is not active`
    : undefined;
};

/** Why no conversation of an account can begin; undefined if one can. */
const whyUnused = (setUp: AccountSetUp, all: readonly AccountSetUp[]): string | undefined => {
  const missing = missingPart(setUp);
  if (missing !== undefined) return missing;
  const { address } = setUp.account;
  const type = setUp.channel?.type;
  const first = all.find(
    (other) =>
      other.account.address === address &&
      other.channel?.type === type &&
      missingPart(other) === undefined,
  );
  return first === setUp
    ? undefined
    : `the older account ${first?.account.name} has the same address, ${address}, on ${type}`;
};

/** The routes on which messages for a side reach nobody, each given once. */
const findDeadEnds = (routes: readonly MessageRoute[], begins: Phase): readonly string[] => {
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

const rich = "richMessage.";

const isCarried = (direction: Direction | undefined, type: MessageType): boolean => {
  if (!direction) return true;
  const { features, richMessageTypes, midChatAuth } = direction;
  if (type.startsWith("typing.")) return !features || features.includes("typing_events");
  if (!type.startsWith(rich)) return true;
  if (richMessageTypes && !richMessageTypes.includes(type.slice(rich.length))) return false;
  return type !== "richMessage.authentication" || midChatAuth === true;
};

const directionFor = ({ channel }: AccountSetUp, from: ConversationSide): Direction | undefined => {
  const { inbound, outbound } = channel?.restrictions ?? {};
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

const findRoutes = (
  setUp: AccountSetUp,
  phase: Phase,
  from: ConversationSide,
): readonly MessageRoute[] => {
  const direction = directionFor(setUp, from);
  // The two kinds of a side may send the same.
  const carried = messageTypes.filter(
    (type) => maySend(kindOf[from], type) && isCarried(direction, type),
  );
  const plain = carried.filter((type) => !endings.includes(type));
  const groups = [plain, ...endings.filter((type) => carried.includes(type)).map((type) => [type])];
  return groups.flatMap((types): MessageRoute[] => {
    const [first] = types;
    if (!first) return [];
    const leadsTo = outcomeOf(first, phase);
    const to = sidesOf(from, phase, leadsTo).map((side) => findRecipient(setUp, side));
    return [{ phase, from, types: [...types], to, ...(leadsTo ? { leadsTo } : {}) }];
  });
};

/** Everything that can happen to a message of one account. */
const explainAccount = (setUp: AccountSetUp, all: readonly AccountSetUp[]): ExplainedAccount => {
  const { account, channel, parties } = setUp;
  const begins = parties.bot.some(takesPart) ? "bot" : "agent";
  const phases: readonly Phase[] = begins === "bot" ? ["bot", "agent"] : ["agent"];
  // Nobody else takes part in the account's conversations (vendor, 400-240).
  const senders = conversationSides.filter(
    (side) => side === "customer" || parties[side].length > 0,
  );
  const routes = phases.flatMap((phase) =>
    senders.flatMap((from) => findRoutes(setUp, phase, from)),
  );
  const unused = whyUnused(setUp, all);
  return {
    id: account.id,
    name: account.name,
    address: account.address,
    channel: channel?.type ?? "",
    inUse: unused === undefined,
    begins,
    routes,
    deadEnds:
      unused === undefined
        ? [...findDeadEnds(routes, begins)]
        : [`no conversation begins: ${unused}`],
  };
};

/** Who gets which message from whom, for every account, and which conversations end up nowhere. */
export const explain = (
  objects: readonly ListedObject[],
  vendor: VendorName,
  source: string,
  notes: readonly string[] = [],
): Explanation => {
  const setUps = readSetUps(objects, vendor);
  return {
    source,
    accounts: setUps.map((each) => explainAccount(each, setUps)),
    notes: [...notes],
  };
};
