import type { z } from "zod";
import { objectLabel } from "../export/program-files.js";
import type { Printed } from "../printed.js";
import { textTable, wrapped } from "../terminal/columns.js";
import type { importSchema } from "./import-schema.js";
import type { ImportResult } from "./run-import.js";
import type { Candidate } from "./take-over.js";

const shown = ({ object, logical }: Candidate) => ({
  kind: object.definition.kind,
  id: object.id,
  name: logical,
});

/** What `import --json` prints. */
export const importJson = ({
  names,
  applied,
  taken,
  left,
  notes,
}: ImportResult): Printed<z.output<typeof importSchema>> => ({
  ...names,
  applied,
  objects: taken.map(shown),
  left: left.map((each) => ({ ...shown(each), reason: each.reason })),
  notes,
});

const width = 80;

const nameColumns = (taken: readonly Candidate[]): number => {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length));
  const kinds = widest(["kind", ...taken.map(({ object }) => object.definition.kind)]);
  return Math.max(16, width - 4 - kinds - widest(taken.map(({ object }) => object.id)));
};

/** What is to be done next. */
const nextStep = ({ names: { project, stack }, applied, taken }: ImportResult): string => {
  if (taken.length === 0)
    return `There is nothing left to import into ${project}/${stack}. Nothing was changed.`;
  const counted = taken.length === 1 ? "this object" : `these ${taken.length} objects`;
  return applied
    ? `Imported into ${project}/${stack}. The program must declare them under these names; then ` +
        "pulumi preview shows what differs, and the first pulumi up writes the dependencies into the state."
    : `Nothing was imported. To import ${counted} into ${project}/${stack}, add --apply.`;
};

/** What was, or would be, imported, for people, within 80 columns. */
export const importReport = (result: ImportResult): string => {
  const { taken, left, notes } = result;
  const columns = nameColumns(taken);
  const rows = taken.map(({ object, logical }) => [
    object.definition.kind,
    object.id,
    wrapped(logical, columns).join("\n"),
  ]);
  const lines = [
    ...(rows.length > 0 ? [...textTable(["kind", "id", "resource"], rows), ""] : []),
    ...left.flatMap(({ object, reason }) =>
      wrapped(`Left out: ${objectLabel(object)} (id ${object.id}): ${reason}.`, width),
    ),
    ...notes.flatMap((note) => wrapped(`Not read: ${note}`, width)),
    ...wrapped(nextStep(result), width),
  ];
  return `${lines.join("\n")}\n`;
};
