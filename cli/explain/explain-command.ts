import { authentication } from "../../provider/resources/authentication.js";
import { messageTypes } from "../../provider/resources/message-types.js";
import { CommandFailure } from "../command.js";
import {
  type AccountSource,
  readLiveSource,
  readSourceFile,
  readStackSource,
} from "../inventory/account-source.js";
import type { AccountOptions } from "../inventory/open-account.js";
import { shortened, textTable, wrapped } from "../terminal/columns.js";
import {
  type ExplainedAccount,
  type ExplainedRecipient,
  type Explanation,
  explain,
  type MessageRoute,
  setUpObjects,
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

const refusedLines = ({ refused }: ExplainedAccount): readonly string[] => {
  const reasons = [...Map.groupBy(refused, ({ from, reason }) => `from the ${from}: ${reason}`)];
  return reasons.flatMap(([reason, these]) => [
    ...wrapped(`Refused ${reason}: ${typesText(these.map(({ type }) => type))}`, 80),
    "",
  ]);
};

const accountLines = (account: ExplainedAccount): readonly string[] => [
  ...wrapped(titleOf(account), 80),
  ...(account.inUse ? [`A new conversation begins with the ${account.begins}.`] : []),
  "",
  ...(account.inUse ? phases.flatMap((phase) => phaseLines(account, phase)) : []),
  ...refusedLines(account),
  ...deadEndLines(account.deadEnds),
];

/** The explanation as a person reads it, within 80 columns. */
export const explanationText = ({ accounts, notes }: Explanation): string => {
  const noted = notes.flatMap((note) => wrapped(`note: ${note}`, 80));
  // What could not be read comes first: it may explain why there is no account.
  if (accounts.length === 0) return `${[...noted, "There is no account to explain."].join("\n")}\n`;
  const lines = [...accounts.flatMap(accountLines), ...noted];
  return `${lines.join("\n").trimEnd()}\n`;
};

/** The few routes that show the path of a conversation. */
const mainRoutes = ({ routes, inUse }: ExplainedAccount): readonly MessageRoute[] =>
  routes.filter(
    (route) =>
      inUse &&
      isShown(route) &&
      route.leadsTo !== "ended" &&
      !(route.leadsTo && route.from === "customer"),
  );

const nameOf = ({ side, application, participant }: ExplainedRecipient): string =>
  `${side} ${participant ?? application ?? ""}`.trim();

/** Names come from the account: nothing in them may be interpreted as Mermaid or HTML. */
const label = (text: string): string =>
  `"${shortened(text, 60).replace(/[^\p{L}\p{N} .,:_()/✗-]/gu, (each) => `#${each.codePointAt(0)};`)}"`;

const titleOf = ({ name, address, channel }: ExplainedAccount): string =>
  `${name}: ${address} on ${channel || "no channel"}`;

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly isLost: boolean;
}

const edgeText = ({ leadsTo, phase }: MessageRoute): string =>
  leadsTo === "agent" ? "escalation" : `while the ${phase} has the conversation`;

/** A side as a sender: those who get the messages for it. */
const senders = (account: ExplainedAccount, side: string): readonly string[] => {
  const names = account.routes
    .flatMap(({ to }) => to)
    .filter((each) => each.side === side && each.unreached === undefined)
    .map(nameOf);
  return names.length > 0 ? [...new Set(names)] : [side];
};

const edgesOf = (account: ExplainedAccount): readonly Edge[] =>
  mainRoutes(account).flatMap((route) =>
    senders(account, route.from).flatMap((from) =>
      route.to
        .filter(({ side }) => route.leadsTo === undefined || side === "agent")
        .map((recipient) => ({
          from,
          to: recipient.unreached === undefined ? nameOf(recipient) : `✗ ${recipient.unreached}`,
          text: edgeText(route),
          isLost: recipient.unreached !== undefined,
        })),
    ),
  );

const mermaidAccount = (account: ExplainedAccount, place: number): readonly string[] => {
  const ids = new Map<string, string>();
  const idOf = (name: string): string => {
    const id = ids.get(name) ?? `a${place}n${ids.size}`;
    ids.set(name, id);
    return id;
  };
  const arrows = edgesOf(account).map(
    ({ from, to, text, isLost }) =>
      `    ${idOf(from)} ${isLost ? "-.->" : "-->"}|${label(text)}| ${idOf(to)}`,
  );
  if (!account.inUse) idOf(`✗ ${account.deadEnds[0] ?? ""}`);
  const nodes = [...ids].map(([name, id]) => `    ${id}[${label(name)}]`);
  return [`  subgraph a${place}[${label(titleOf(account))}]`, ...nodes, ...arrows, "  end"];
};

/** A Mermaid flow chart of who talks to whom, for a page that shows Mermaid, such as GitHub's. */
export const mermaidDiagram = ({ accounts }: Explanation): string =>
  `${["flowchart LR", ...accounts.flatMap(mermaidAccount)].join("\n")}\n`;

interface ExplainOptions extends AccountOptions {
  /** Read the stack's state in place of the live account. */
  readonly state?: boolean;
  /** Read this file in place of the live account. */
  readonly snapshot?: string;
  /** Only accounts with this name, address, or ID. */
  readonly account?: string;
}

const readSource = async (options: ExplainOptions): Promise<AccountSource> => {
  const { snapshot, state, stack, profile } = options;
  if (snapshot !== undefined) return readSourceFile(snapshot, options);
  if (!state) return readLiveSource(profile, options);
  const source = await readStackSource(stack, options);
  return { ...source, objects: source.objects.filter(({ account }) => account === profile) };
};

const chooseAccounts = (all: Explanation, wanted: string | undefined): Explanation => {
  if (wanted === undefined) return all;
  const accounts = all.accounts.filter(({ id, name, address }) =>
    [id, name, address].includes(wanted),
  );
  if (accounts.length > 0) return { ...all, accounts };
  const known = all.accounts
    .map(({ name }) => name)
    .slice(0, 20)
    .join(", ");
  throw new CommandFailure(
    `Cannot explain the account ${wanted}: no account has this name, address, or ID. Accounts: ${known || "none"}.`,
  );
};

/** Kinds that decide nothing about messages. */
const undecisive: readonly string[] = [authentication.kind];

/**
 * Reads the setup and says what happens to each message, and whether something that does not decide
 * about it could not be read.
 *
 * @throws CommandFailure, ConversationError if the setup cannot be read
 */
export const explainSetUp = async (
  options: ExplainOptions,
): Promise<{ readonly explanation: Explanation; readonly isIncomplete: boolean }> => {
  const { title, objects, notes, unread = [] } = await readSource(options);
  // An unread object would be taken for one that does not exist.
  const missing = unread.find(({ kind }) => !undecisive.includes(kind));
  if (missing)
    throw new CommandFailure(
      `Cannot explain ${title}: the command could not read every ${missing.kind}: ${missing.problem.replace(/(?<![.!?])$/, ".")}`,
    );
  const empty = objects.length === 0 ? [`There are no objects in ${title}.`] : [];
  const explained = explain(setUpObjects(objects), title, [...notes, ...empty]);
  const explanation = chooseAccounts(explained, options.account);
  return { explanation, isIncomplete: notes.length > 0 };
};
