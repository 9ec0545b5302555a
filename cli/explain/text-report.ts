import { messageTypes } from "../../provider/service/message-types.js";
import { shortened, wrapped } from "../terminal/columns.js";
import { textTable } from "../terminal/text-table.js";
import type { ExplainedAccount, Explanation, MessageRoute } from "./explanation.js";
import type { ExplainedRecipient } from "./recipients.js";

const familyOf = (type: string): string => type.split(".")[0] ?? type;

/** Types, families of which all members are there as one: `richMessage.*`. */
export const typesText = (types: readonly string[]): string => {
  const parts = types.map((type) => {
    const family = messageTypes.filter((other) => familyOf(other) === familyOf(type));
    const isWhole = family.length > 1 && family.every((other) => types.includes(other));
    return isWhole ? `${familyOf(type)}.*` : type;
  });
  return [...new Set(parts)].join(", ");
};

/** Who gets it: side, bot or client application, role; or why nobody does. */
export const recipientText = ({
  side,
  application,
  participant,
  role,
  unreached,
}: ExplainedRecipient): string => {
  if (unreached !== undefined) return `✗ ${side}: ${unreached}`;
  const who = participant === undefined ? application : `${participant} (${application})`;
  return `${side}: ${who}, as ${role}`;
};

const routeRow = ({ from, types, to, leadsTo }: MessageRoute): readonly string[] => [
  from,
  typesText(types) + (leadsTo ? ` → ${leadsTo === "ended" ? "over" : "with the agent"}` : ""),
  to.map((each) => shortened(recipientText(each), 200)).join("\n"),
];

const phases = ["bot", "agent"] as const;

/** In the phase of a bot an agent may speak, but nothing of it is decided by the set-up. */
const isShown = ({ phase, from }: MessageRoute): boolean => from === "customer" || from === phase;

const phaseLines = ({ routes }: ExplainedAccount, phase: MessageRoute["phase"]) => {
  const rows = routes.filter((route) => route.phase === phase && isShown(route)).map(routeRow);
  if (rows.length === 0) return [];
  return [`While the ${phase} has it:`, "", ...textTable(["from", "types", "to"], rows), ""];
};

const deadEndLines = (deadEnds: readonly string[]): readonly string[] =>
  deadEnds.length === 0
    ? ["No message is lost on the way.", ""]
    : [...deadEnds.flatMap((text) => wrapped(`✗ ${text}`, 80)), ""];

const refusedLines = ({ refused }: ExplainedAccount): readonly string[] => {
  const reasons = [...Map.groupBy(refused, ({ from, reason }) => `from the ${from}: ${reason}`)];
  return reasons.flatMap(([reason, these]) => [
    ...wrapped(`Refused ${reason}: ${typesText(these.map(({ type }) => type))}`, 80),
    "",
  ]);
};

const accountLines = (account: ExplainedAccount): readonly string[] => [
  ...wrapped(`${account.name}: ${account.address} on ${account.channel || "no channel"}`, 80),
  ...(account.inUse ? [`A new conversation is with the ${account.begins}.`] : []),
  "",
  ...(account.inUse ? phases.flatMap((phase) => phaseLines(account, phase)) : []),
  ...refusedLines(account),
  ...deadEndLines(account.deadEnds),
];

/** The explanation as a person reads it, within 80 columns. */
export const explanationText = ({ accounts, notes }: Explanation): string => {
  const told = notes.flatMap((note) => wrapped(`note: ${note}`, 80));
  // What could not be read comes first: it may be why there is no account.
  if (accounts.length === 0) return `${[...told, "There is no account to explain."].join("\n")}\n`;
  const lines = [...accounts.flatMap(accountLines), ...told];
  return `${lines.join("\n").trimEnd()}\n`;
};
