import { travelling } from "../http/vendor-word.js";

/** Who may send messages; on the wire the vendor's word stands for `platform` (specification §6). */
export const senderKinds = [
  "customer",
  "platform_agent",
  "custom_agent",
  "platform_bot",
  "custom_bot",
] as const;

export type SenderKind = (typeof senderKinds)[number];

const agents: readonly SenderKind[] = ["platform_agent", "custom_agent"];
const bots: readonly SenderKind[] = ["platform_bot", "custom_bot"];

/** Which message types which senders may send: the table of the specification's §6. */
const rules: readonly { readonly senders: readonly SenderKind[]; readonly types: string }[] = [
  {
    senders: senderKinds,
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

const sendersByType: ReadonlyMap<string, readonly SenderKind[]> = new Map(
  rules.flatMap(({ senders, types }) => types.split(" ").map((type) => [type, senders] as const)),
);

/** Every message type. */
export const messageTypes: readonly string[] = [...sendersByType.keys()];

/** The message types that a sender of this kind may send. */
export const typesOf = (sender: SenderKind): readonly string[] =>
  messageTypes.filter((type) => sendersByType.get(type)?.includes(sender));

/** The kind that a word on the wire means; undefined where it means none. */
export const senderKindOf = (word: unknown, platformName: string): SenderKind | undefined =>
  senderKinds.find((kind) => travelling(kind, platformName) === word);

/** Which side of a conversation a kind of sender is on. */
export const sideOf = (sender: SenderKind): "customer" | "agent" | "bot" => {
  if (agents.includes(sender)) return "agent";
  return bots.includes(sender) ? "bot" : "customer";
};
