/** The kinds of senders, with `platform` instead of the vendor's own word (specification §6). */
export const senderKinds = [
  "customer",
  "platform_agent",
  "custom_agent",
  "platform_bot",
  "custom_bot",
] as const;

/** One of the five kinds of senders (specification §6). */
export type SenderKind = (typeof senderKinds)[number];

const agents = ["platform_agent", "custom_agent"] as const;
const agentsAndBots = [...agents, "platform_bot", "custom_bot"] as const;

/** One row of the specification's table: who may send which types. */
interface SenderRule {
  readonly types: readonly string[];
  readonly senders: readonly SenderKind[];
}

/** Every message type and who may send it (specification §6). Types and run-time checks follow from it. */
const senderRules = [
  {
    types: ["text", "typing.start", "typing.end", "customer.info", "error", "conversation.end"],
    senders: senderKinds,
  },
  {
    types: [
      "escalation.transfer",
      "pagePush",
      "richMessage.listpicker",
      "richMessage.quickreply",
      "richMessage.template",
      "richMessage.timepicker",
      "richMessage.richlink",
      "richMessage.form",
      "richMessage.payment",
      "richMessage.app",
      "richMessage.authentication",
    ],
    senders: agentsAndBots,
  },
  {
    types: [
      "conversation.state",
      "agent.join",
      "agent.available",
      "agent.unavailable",
      "agent.transfer",
      "queue.transfer",
    ],
    senders: agents,
  },
  {
    types: [
      "authentication.success",
      "authentication.failure",
      "customer.active",
      "customer.inactive",
      "delete.soft",
      "delete.permanent",
      "undo",
    ],
    senders: ["customer"],
  },
] as const satisfies readonly SenderRule[];

type Rule = (typeof senderRules)[number];

/** Every type that a message can have (specification §6). */
export type MessageType = Rule["types"][number];

type IfListed<R, T extends MessageType> = R extends {
  readonly types: readonly (infer Listed)[];
  readonly senders: readonly (infer Sender)[];
}
  ? T extends Listed
    ? Sender
    : never
  : never;

/** The kinds of senders that may send a message of type `T`. */
export type SendersOf<T extends MessageType> = IfListed<Rule, T>;

/** The message types that a sender of kind `K` may send. */
export type MessageTypesOf<K extends SenderKind> = {
  [T in MessageType]: K extends SendersOf<T> ? T : never;
}[MessageType];

/** Every message type, in the order of the specification. */
export const messageTypes: readonly MessageType[] = senderRules.flatMap(({ types }) => [...types]);

/** Whether a value is one of the five kinds of senders. */
export const isSenderKind = (text: unknown): text is SenderKind =>
  senderKinds.some((kind) => kind === text);

/** Whether a value is one of the message types. */
export const isMessageType = (text: unknown): text is MessageType =>
  messageTypes.some((type) => type === text);

/**
 * The kinds of senders that may send messages of this type, in the order of the specification (§6);
 * empty for an unknown type. Never fails.
 *
 * @example sendersOf("agent.join"); // ["platform_agent", "custom_agent"]
 */
export const sendersOf = (type: MessageType): readonly SenderKind[] =>
  senderRules.find(({ types }) => types.some((listed) => listed === type))?.senders ?? [];

/**
 * Whether a sender of this kind may send messages of this type (specification §6). Never fails.
 *
 * @example
 * maySend("customer", "agent.join"); // false
 */
export const maySend = (sender: SenderKind, type: MessageType): boolean =>
  sendersOf(type).includes(sender);

/**
 * The types that the vendor lists besides those of the specification, without saying who may send
 * them (vendor).
 */
export const furtherMessageTypes = [
  "status.read",
  "status.delivered",
  "authentication.start",
  "authentication.accept",
  "authentication.reject",
  "bot.transfer",
  "escalation.request",
  "agent.exit",
  "agent.active",
  "agent.inactive",
  "customer.exit",
  "customer.block",
  "cobrowse.start",
] as const;

/** A type that the specification does not list, but the vendor does. */
export type FurtherMessageType = (typeof furtherMessageTypes)[number];

/** A type of one's own (vendor). */
export type OwnMessageType = `custom.${string}`;

/** Whether a value is a type of one's own: `custom.` and more. */
export const isOwnMessageType = (text: unknown): text is OwnMessageType =>
  typeof text === "string" && /^custom\../.test(text);

/** A type of the specification, one that only the vendor lists, or one of one's own. */
export type AnyMessageType = MessageType | FurtherMessageType | OwnMessageType;

/** Whether a value is a type of the specification, one that only the vendor lists, or an own one. */
export const isAnyMessageType = (text: unknown): text is AnyMessageType =>
  isMessageType(text) ||
  isOwnMessageType(text) ||
  furtherMessageTypes.some((type) => type === text);

/** Whether messages of this type change or remove an earlier message. */
export const isDeletion = (type: string): boolean => type.startsWith("delete.") || type === "undo";

/** The types of messages that can come along with a new conversation (vendor). */
export const earlierTypes: readonly MessageType[] = messageTypes.filter(
  (type) =>
    type === "text" || type === "pagePush" || type.startsWith("richMessage.") || isDeletion(type),
);

/** Whether a message of this type names an earlier one; a deletion may in a running conversation. */
export const needsParent = (type: string, isRunning: boolean): boolean =>
  type === "delete.soft" || (isDeletion(type) && !isRunning);

/** Whether messages of this type belong to an entry point, not to a conversation (vendor). */
export const isAvailability = (type: string): boolean =>
  type === "agent.available" || type === "agent.unavailable";

const neutral = "platform_";

/**
 * The kind of sender that a word from the service stands for. Unknown words, such as `system`, are
 * returned unchanged.
 */
export const senderFromWire = (word: string, platformName: string): SenderKind | (string & {}) => {
  const own = `${platformName}_`;
  const kind = word.startsWith(own) ? neutral + word.slice(own.length) : word;
  return isSenderKind(kind) ? kind : word;
};

/** The sides of a conversation. */
export const conversationSides = ["customer", "bot", "agent"] as const;

/**
 * A side of a conversation. Both kinds of bots are on one side, and both kinds of agents are on
 * another.
 */
export type ConversationSide = (typeof conversationSides)[number];

/**
 * The kinds of senders on each side, custom kinds first. They are also the roles that receive
 * messages for that side.
 */
export const rolesOnSide = {
  customer: ["customer"],
  bot: ["custom_bot", "platform_bot"],
  agent: ["custom_agent", "platform_agent"],
} as const satisfies Readonly<Record<ConversationSide, readonly SenderKind[]>>;

/**
 * The applications that an orchestration names, by the IDs of client applications and participants.
 */
interface NamedApplications {
  readonly botConfiguration?: { readonly bots: readonly NamedBot[] } | undefined;
  readonly customerConfiguration?: { readonly customer?: string | undefined } | undefined;
  readonly agentConfiguration?: { readonly agents: readonly string[] } | undefined;
}

interface NamedBot {
  readonly application?: string | undefined;
  readonly participant?: string | undefined;
  readonly onEscalation?: { readonly agent?: string | undefined } | undefined;
}

/** A client application named for a side; for the bot side with the participant. */
interface NamedRecipient {
  readonly application: string;
  readonly participant?: string | undefined;
}

const named = (application: string | undefined, participant?: string): readonly NamedRecipient[] =>
  application === undefined ? [] : [{ application, participant }];

/**
 * The recipients that an orchestration names for a side (specification §6; vendor: one bot, one
 * agent). The first one that participates receives the messages.
 */
export const namedOnSide = (
  { botConfiguration, customerConfiguration, agentConfiguration }: NamedApplications,
  side: ConversationSide,
): readonly NamedRecipient[] => {
  const bots = botConfiguration?.bots ?? [];
  switch (side) {
    case "customer":
      return named(customerConfiguration?.customer);
    case "bot":
      return bots.flatMap(({ application, participant }) => named(application, participant));
    case "agent":
      return [
        ...bots.flatMap(({ onEscalation }) => named(onEscalation?.agent)),
        ...(agentConfiguration?.agents ?? []).flatMap((id) => named(id)),
      ];
  }
};
