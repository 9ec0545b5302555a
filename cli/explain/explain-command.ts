import { readFileSync } from "node:fs";
import type { Definition } from "../../provider/definition/define.js";
import { bodyOf } from "../../provider/definition/wire.js";
import { propertiesIn } from "../../provider/lifecycle/properties.js";
import { resources } from "../../provider/resources/index.js";
import { messageTypes } from "../../provider/resources/message-types.js";
import { settingNames } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import { accountInFile } from "../inventory/object-inputs.js";
import { type AccountOptions, readAccountInputs } from "../inventory/open-account.js";
import { pulumiPlace, stackAdvice } from "../pulumi/project-files.js";
import { queryPulumi } from "../pulumi/pulumi-queries.js";
import { definitionOfType, openedValues, stackExportIn } from "../pulumi/stack-documents.js";
import { shortened, textTable, wrapped } from "../terminal/columns.js";
import {
  type ExplainedAccount,
  type ExplainedRecipient,
  type Explanation,
  explain,
  type MessageRoute,
  type ObjectsOf,
  type SetUpObjects,
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

const plainEdge = ({ from, to, text }: Edge): string =>
  `  ${shortened(from, 24).padEnd(24)} ──▶ ${shortened(to, 48)}\n${" ".repeat(31)}${text}`;

const plainAccount = (account: ExplainedAccount): readonly string[] => [
  shortened(titleOf(account), 80),
  ...(account.inUse
    ? edgesOf(account).map(plainEdge)
    : [`  ✗ ${shortened(account.deadEnds[0] ?? "", 76)}`]),
  "",
];

/** The same as plain text, within 80 columns. */
export const plainDiagram = ({ accounts }: Explanation): string =>
  `${accounts.flatMap(plainAccount).join("\n").trimEnd()}\n`;

interface ExplainOptions extends AccountOptions {
  /** Read the stack's state in place of the live account. */
  readonly state?: boolean;
  /** Read this file in place of the live account. */
  readonly snapshot?: string;
  /** Only accounts with this name, address, or ID. */
  readonly account?: string;
}

/** Where the objects come from, and which are missing. */
interface Source {
  readonly name: string;
  readonly objectsOf: ObjectsOf;
  readonly platformName: string;
  readonly notes: readonly string[];
  /** Why a kind could not be read whole, by its name. */
  readonly problems: ReadonlyMap<string, string>;
}

const problemsIn = (
  kinds: readonly { readonly definition: Definition; readonly problem?: string | undefined }[],
): Source["problems"] =>
  new Map(
    kinds.flatMap(({ definition: { kind }, problem }) =>
      problem === undefined ? [] : [[kind, problem]],
    ),
  );

const platformNameIn = (env: NodeJS.ProcessEnv, profile: string | undefined): string =>
  env[settingNames("platformName", profile).environment] || "platform";

const fromAccount = async (options: ExplainOptions): Promise<Source> => {
  const { settings, reading, notes } = await readAccountInputs(options);
  const lists = new Map(reading.kinds.map(({ definition, objects }) => [definition.kind, objects]));
  return {
    name: `the account at ${settings.baseUrl}`,
    platformName: settings.platformName,
    objectsOf: ({ kind }) => [...(lists.get(kind)?.values() ?? [])],
    notes,
    problems: problemsIn(reading.kinds),
  };
};

/** A saved reading of an account, or the snapshot of an emulator. */
const fromFile = (file: string, { env = process.env, profile }: ExplainOptions): Source => {
  const kinds = accountInFile(textOf(file))?.kinds;
  if (!kinds)
    throw new CommandFailure(
      `Cannot explain ${file}: it contains neither a saved account nor an emulator snapshot. ` +
        "To get a snapshot, call GET /snapshot at the emulator's control URL.",
    );
  return {
    name: file,
    platformName: platformNameIn(env, profile),
    objectsOf: (wanted) => kinds.find(({ definition }) => definition === wanted)?.objects ?? [],
    notes: kinds.flatMap(({ definition: { kind }, problem }) =>
      problem ? [`${kind}: ${problem}`] : [],
    ),
    problems: problemsIn(kinds),
  };
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CommandFailure(`Cannot read ${file}. Check the path.`);
  }
};

const fromState = async (options: ExplainOptions): Promise<Source> => {
  const { folder = process.cwd(), env = process.env, stack, profile } = options;
  const place = pulumiPlace(folder, env, stack);
  if (!place)
    throw new CommandFailure(
      "Cannot read the state: pulumi is not on PATH. Install it, or use --snapshot to read a file.",
    );
  const answer = await queryPulumi(place, ["stack", "export", "--show-secrets"]);
  if ("reason" in answer)
    throw new CommandFailure(
      `Cannot read the stack's state: ${answer.reason}\n${stackAdvice(answer.reason)}`,
    );
  const held = stackExportIn(answer.text)?.deployment.resources ?? [];
  const platformName = platformNameIn(env, profile);
  return {
    name: "the stack's state",
    platformName,
    notes: [],
    problems: new Map(),
    objectsOf: (definition) =>
      held
        .filter(({ type, delete: leaving }) => definitionOfType(type) === definition && !leaving)
        .flatMap(({ id, outputs }) => {
          const { fields, record, profile: own } = propertiesIn(openedValues(outputs));
          if (own !== profile) return [];
          return [{ ...bodyOf(definition, fields, { platformName }), ...record, id }];
        }),
  };
};

const sourceOf = (options: ExplainOptions): Promise<Source> | Source => {
  if (options.snapshot !== undefined) return fromFile(options.snapshot, options);
  return options.state ? fromState(options) : fromAccount(options);
};

const chosen = (all: Explanation, wanted: string | undefined): Explanation => {
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

/** The objects that decide; an unread one would be taken for one that does not exist. */
const decisive = ({ name, objectsOf, platformName, problems }: Source): SetUpObjects =>
  setUpObjects((definition) => {
    const problem = problems.get(definition.kind)?.replace(/(?<![.!?])$/, ".");
    if (problem === undefined) return objectsOf(definition);
    throw new CommandFailure(
      `Cannot explain ${name}: the command could not read all of its ${definition.noun}s: ${problem}`,
    );
  }, platformName);

/**
 * Reads the setup and says what happens to each message, and whether something that does not decide
 * about it could not be read.
 *
 * @throws CommandFailure, ConversationError if the setup cannot be read
 */
export const explainSetUp = async (
  options: ExplainOptions,
): Promise<{ readonly explanation: Explanation; readonly isIncomplete: boolean }> => {
  const source = await sourceOf(options);
  const { name, objectsOf, notes } = source;
  const known = resources.map((definition) => objectsOf(definition).length);
  const empty = known.every((count) => count === 0) ? [`There are no objects in ${name}.`] : [];
  const objects = decisive(source);
  const explanation = chosen(explain(objects, name, [...notes, ...empty]), options.account);
  return { explanation, isIncomplete: notes.length > 0 };
};
