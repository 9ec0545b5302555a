import { shortened } from "../terminal/columns.js";
import type { ExplainedAccount, Explanation, MessageRoute } from "./explanation.js";
import type { ExplainedRecipient } from "./recipients.js";

/** The few routes that show the way of a conversation. */
const mainRoutes = ({ routes, inUse }: ExplainedAccount): readonly MessageRoute[] =>
  inUse
    ? routes.filter(
        ({ phase, from, leadsTo }) =>
          leadsTo !== "ended" &&
          (from === "customer" || from === phase) &&
          !(leadsTo && from === "customer"),
      )
    : [];

const nameOf = ({ side, application, participant }: ExplainedRecipient): string =>
  `${side} ${participant ?? application ?? ""}`.trim();

/** Names come from the account: nothing in them may be read as Mermaid or HTML. */
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
  leadsTo === "agent" ? "escalation" : `while the ${phase} has it`;

/** A side as a sender: whoever gets the messages for it. */
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
  const edges = edgesOf(account);
  const ids = new Map<string, string>();
  const idOf = (name: string): string => {
    const id = ids.get(name) ?? `a${place}n${ids.size}`;
    ids.set(name, id);
    return id;
  };
  const arrows = edges.map(
    ({ from, to, text, isLost }) =>
      `    ${idOf(from)} ${isLost ? "-.->" : "-->"}|${label(text)}| ${idOf(to)}`,
  );
  const ends = account.inUse ? [] : [`    ${idOf(`✗ ${account.deadEnds[0] ?? ""}`)}`];
  const nodes = [...ids].map(([name, id]) => `    ${id}[${label(name)}]`);
  return [
    `  subgraph a${place}[${label(titleOf(account))}]`,
    ...nodes,
    ...arrows,
    ...(ends.length && nodes.length === 0 ? ends : []),
    "  end",
  ];
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
