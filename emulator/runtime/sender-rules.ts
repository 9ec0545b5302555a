import { type Switches, vendorWord } from "../control/switches.js";

/**
 * Who may send messages; on the wire the vendor's word stands for `platform` (specification §6).
 * Like the rules below independent on purpose: with the client's own table a mistake there would
 * be accepted here.
 */
export const senderTypes = [
  "customer",
  "platform_agent",
  "custom_agent",
  "platform_bot",
  "custom_bot",
] as const;

export type SenderType = (typeof senderTypes)[number];

const agents: readonly SenderType[] = ["platform_agent", "custom_agent"];
const bots: readonly SenderType[] = ["platform_bot", "custom_bot"];

/** Which message types which senders may send: the table of the specification's §6. */
const rules: readonly { readonly senders: readonly SenderType[]; readonly types: string }[] = [
  {
    senders: senderTypes,
    types: "text typing.start typing.end customer.info error conversation.end",
  },
  {
    senders: [...agents, ...bots],
    types:
      "escalation.transfer pagePush richMessage.listpicker richMessage.quickreply richMessage.template richMessage.timepicker richMessage.richlink richMessage.form richMessage.payment richMessage.app richMessage.authentication",
  },
  {
    senders: agents,
    types:
      "conversation.state agent.join agent.available agent.unavailable agent.transfer queue.transfer",
  },
  {
    senders: ["customer"],
    types:
      "authentication.success authentication.failure customer.active customer.inactive delete.soft delete.permanent undo",
  },
];

const sendersByType: ReadonlyMap<string, readonly SenderType[]> = new Map(
  rules.flatMap(({ senders, types }) => types.split(" ").map((type) => [type, senders] as const)),
);

/** Every message type. */
export const knownMessageTypes: readonly string[] = [...sendersByType.keys()];

/** The message types that a sender of this type may send. */
export const messageTypesOf = (sender: SenderType): readonly string[] =>
  knownMessageTypes.filter((type) => sendersByType.get(type)?.includes(sender));

/** The sender type that a word on the wire means; undefined where it means none. */
export const senderTypeOf = (word: unknown, switches: Switches): SenderType | undefined =>
  senderTypes.find((type) => vendorWord(type, switches) === word);

/** One side of a conversation. */
export type Side = "customer" | "bot" | "agent";

/** Which side of a conversation a type of sender is on. */
export const sideOf = (sender: SenderType): Side => {
  if (agents.includes(sender)) return "agent";
  return bots.includes(sender) ? "bot" : "customer";
};
