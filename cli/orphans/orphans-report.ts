import type { z } from "zod";
import { asText } from "../../provider/kernel/json.js";
import type { Orphan, StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import type { Printed } from "../printed.js";
import { textTable, wrapped } from "../terminal/columns.js";
import type { foundOrphanSchema } from "./orphans-schema.js";

export { wrapped };

/** A marked object that is in no state of its stack, as the command prints it. */
export type FoundOrphan = Printed<z.output<typeof foundOrphanSchema>>;

/** An orphan without what only the tool itself needs. */
export const shownOrphan = (orphan: Orphan): FoundOrphan => {
  const { definition, name, id, mark, standing, pending, heldBy } = orphan;
  return {
    kind: definition.kind,
    name: asText(name),
    id,
    label: mark.label,
    standing,
    ...(pending ? { pending } : {}),
    ...(heldBy.length > 0 ? { heldBy: heldBy.map(({ stack, urn }) => ({ stack, urn })) } : {}),
  };
};

/** What the command found and did. */
export interface OrphansResult {
  readonly names: StackNames;
  readonly found: readonly FoundOrphan[];
  /** Sentences about what could not be seen. */
  readonly notes: readonly string[];
}

const width = 80;
const leastColumn = 20;

const sections = [
  {
    standing: "left-over",
    heading: "Left over: this stack made it, and no state holds it.",
    advice:
      "pulumi up takes over what the program still declares. To delete all of them: pulumi-conversation orphans --delete",
  },
  {
    standing: "held",
    heading: "Held elsewhere: another stack has it, or a program looks it up.",
    advice: "These are never touched.",
  },
  {
    standing: "copy",
    heading: "Copies: somebody made them from one of ours, description included.",
    advice:
      "These are never deleted. To take our mark off one: pulumi-conversation orphans --release --id <id>",
  },
  {
    standing: "former",
    heading: "Of a former state of this name, or of somebody else's.",
    advice:
      "If they are yours, take the mark off (pulumi-conversation orphans --release --id <id>) and adopt them in a program, or delete them (--delete --id <id>).",
  },
];

const lastCell = (orphan: FoundOrphan, columns: number): string => {
  const { name, label, pending, heldBy = [], deleted, released } = orphan;
  const holders = heldBy.map(({ stack, urn }) => `in ${stack}: ${urn.split("::").at(-1) ?? urn}`);
  const done = deleted ? ["deleted"] : released ? ["released"] : [];
  const lines = [
    name,
    label,
    ...(pending ? ["(its creation is pending)"] : []),
    ...holders,
    ...done,
  ];
  return lines.flatMap((line) => wrapped(line, columns)).join("\n");
};

const tableOf = (found: readonly FoundOrphan[]): readonly string[] => {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length));
  const taken =
    widest(["kind", ...found.map(({ kind }) => kind)]) + widest(found.map(({ id }) => id)) + 4;
  const columns = Math.max(leastColumn, width - taken);
  return textTable(
    ["kind", "id", "name, made by"],
    found.map((orphan) => [orphan.kind, orphan.id, lastCell(orphan, columns)]),
    { whole: ["kind", "id"] },
  );
};

const sectionLines = (
  { standing, heading, advice }: (typeof sections)[number],
  found: readonly FoundOrphan[],
): readonly string[] => {
  const these = found.filter((orphan) => orphan.standing === standing);
  if (these.length === 0) return [];
  const isDone = ({ deleted, released }: FoundOrphan) => deleted === true || released === true;
  const advised = these.every(isDone) ? [] : wrapped(advice, width);
  return [heading, "", ...tableOf(these), "", ...advised, ...(advised.length > 0 ? [""] : [])];
};

const kept = ({ kind, id, reason }: FoundOrphan): readonly string[] =>
  reason === undefined ? [] : wrapped(`Kept: ${kind} ${id}: ${reason}`, width);

/** What was found and done, for people, within 80 columns. */
export const orphansReport = ({ found, names: { project, stack } }: OrphansResult): string => {
  const name = `${project}/${stack}`;
  const lines =
    found.length === 0
      ? [`Nothing at the service is left over from ${name}.`]
      : sections.flatMap((section) => sectionLines(section, found));
  return `${[...lines, ...found.flatMap(kept)].join("\n").trimEnd()}\n`;
};
