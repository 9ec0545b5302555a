import { authentication } from "../../provider/resources/authentication.js";
import { messageTypes } from "../../provider/resources/message-types.js";
import { accountTitle } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import { type AccountOptions, readAccountInputs } from "../inventory/open-account.js";
import { unreadKinds } from "../inventory/read-account.js";
import { shortened, textTable, wrapped } from "../terminal/columns.js";
import {
  type ExplainedAccount,
  type ExplainedRecipient,
  type Explanation,
  explain,
  type MessageRoute,
} from "./explanation.js";

const familyOf = (type: string): string => type.split(".")[0] ?? type;

/** Types; a family whose members are all present becomes one: `richMessage.*`. */
const typesText = (types: readonly string[]): string => {
  const parts = types.map((type) => {
    const family = messageTypes.filter((other) => familyOf(other) === familyOf(type));
    const isWhole = family.length > 1 && family.every((other) => types.includes(other));
    return isWhole ? `${familyOf(type)}.*` : type;
  });
  return [...new Set(parts)].join(", ");
};

/** Who gets it: side, bot or client application, role; or why nobody does. */
const recipientText = ({
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
  typesText(types) + (leadsTo ? ` → ${leadsTo === "ended" ? "ended" : "to the agent"}` : ""),
  to.map((each) => shortened(recipientText(each), 200)).join("\n"),
];

const phases = ["bot", "agent"] as const;

/** An agent may speak in the phase of a bot, but the setup decides nothing about it. */
const isShown = ({ phase, from }: MessageRoute): boolean => from === "customer" || from === phase;

const phaseLines = ({ routes }: ExplainedAccount, phase: MessageRoute["phase"]) => {
  const rows = routes.filter((route) => route.phase === phase && isShown(route)).map(routeRow);
  if (rows.length === 0) return [];
  return [
    `While the ${phase} has the conversation:`,
    "",
    ...textTable(["from", "types", "to"], rows),
    "",
  ];
};

const deadEndLines = (deadEnds: readonly string[]): readonly string[] =>
  deadEnds.length === 0
    ? ["No message is lost.", ""]
    : [...deadEnds.flatMap((text) => wrapped(`✗ ${text}`, 80)), ""];

const accountLines = (account: ExplainedAccount): readonly string[] => [
  ...wrapped(`${account.name}: ${account.address} on ${account.channel || "no channel"}`, 80),
  ...(account.inUse ? [`A new conversation begins with the ${account.begins}.`] : []),
  "",
  ...(account.inUse ? phases.flatMap((phase) => phaseLines(account, phase)) : []),
  ...deadEndLines(account.deadEnds),
];

export const explanationText = ({ accounts, notes }: Explanation): string => {
  const noted = notes.flatMap((note) => wrapped(`note: ${note}`, 80));
  // What could not be read comes first: it may explain why there is no account.
  if (accounts.length === 0) return `${[...noted, "There is no account to explain."].join("\n")}\n`;
  const lines = [...accounts.flatMap(accountLines), ...noted];
  return `${lines.join("\n").trimEnd()}\n`;
};

/** Kinds that decide nothing about messages. */
const undecisive: readonly string[] = [authentication.kind];

/**
 * Reads the live setup and says what happens to each message, and whether something that does not
 * decide about it could not be read.
 *
 * @throws CommandFailure, ConversationError if the setup cannot be read
 */
export const explainSetUp = async (
  options: AccountOptions,
): Promise<{ readonly explanation: Explanation; readonly isIncomplete: boolean }> => {
  const { profile } = options;
  const title = profile ? accountTitle(profile) : "the account";
  const { settings, objects, notes, reading } = await readAccountInputs(options);
  // An unread object would be taken for one that does not exist.
  const missing = unreadKinds(reading.kinds).find(({ kind }) => !undecisive.includes(kind));
  if (missing)
    throw new CommandFailure(
      `Cannot explain ${title}: the command could not read every ${missing.kind}: ${missing.problem.replace(/(?<![.!?])$/, ".")}`,
    );
  const explanation = explain(objects, settings, title, notes);
  return { explanation, isIncomplete: notes.length > 0 };
};
