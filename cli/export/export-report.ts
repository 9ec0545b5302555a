import type { z } from "zod";
import { resources } from "../../provider/resources/index.js";
import type { Printed } from "../printed.js";
import { wrapped } from "../terminal/columns.js";
import { textTable } from "../terminal/text-table.js";
import type { exportSchema } from "./export-schema.js";
import type { PlannedResource } from "./program-plan.js";
import { objectLabel } from "./project-readme.js";
import type { Proof } from "./prove/prove.js";
import type { ExportResult } from "./run-export.js";

const shown = ({ object, logical }: PlannedResource) => ({
  kind: object.definition.kind,
  id: object.id,
  name: logical,
});

/** What `export --json` prints. */
export const exportJson = (
  result: ExportResult,
  proof?: Proof,
): Printed<z.output<typeof exportSchema>> => {
  const { folder, names, plan, source, possible, notes, texts, kept } = result;
  return {
    folder,
    ...names,
    files: [...texts.keys()],
    kept,
    resources: plan.declared.map(shown),
    lookedUp: plan.lookedUp.map(shown),
    managed: plan.declared.flatMap((resource) => {
      const { mark } = resource.object;
      return mark ? [{ ...shown(resource), mark: mark.label }] : [];
    }),
    skipped: plan.skipped.map(({ object, reason }) => ({
      kind: object.definition.kind,
      id: object.id,
      reason,
    })),
    secrets: source.secrets.map(({ key, resource, path }) => ({ key, ...shown(resource), path })),
    undeclared: plan.declared.flatMap((resource) =>
      (resource.object.undeclared ?? []).map((path) => ({ ...shown(resource), path })),
    ),
    possibleSecrets: possible.map(({ resource, path }) => ({ ...shown(resource), path })),
    notes,
    ...(proof ? { proof } : {}),
  };
};

const width = 80;

const countTable = ({ plan }: ExportResult): readonly string[] => {
  const rows = resources.flatMap(({ kind }) => {
    const count = (list: readonly PlannedResource[]) =>
      list.filter(({ object }) => object.definition.kind === kind).length;
    const [declared, lookedUp] = [count(plan.declared), count(plan.lookedUp)];
    return declared + lookedUp === 0 ? [] : [[kind, String(declared), String(lookedUp)]];
  });
  return rows.length === 0
    ? ["The account has no objects to declare."]
    : textTable(["kind", "declared", "looked up"], rows);
};

/** The README names all. */
const mostSkipped = 20;

const skippedLines = ({ plan: { skipped }, folder }: ExportResult): readonly string[] => [
  ...skipped
    .slice(0, mostSkipped)
    .flatMap(({ object, reason }) =>
      wrapped(`Left out: ${objectLabel(object)} (id ${object.id}): ${reason}.`, width),
    ),
  ...(skipped.length > mostSkipped
    ? wrapped(
        `Left out: ${skipped.length - mostSkipped} more objects; ${folder}/README.md names them.`,
        width,
      )
    : []),
  ...(skipped.some(({ object }) => object.mark)
    ? wrapped("What a stack manages has a program already; --managed declares it, too.", width)
    : []),
];

const managedLines = ({ plan: { declared }, folder }: ExportResult): readonly string[] => {
  const count = declared.filter(({ object }) => object.mark).length;
  if (count === 0) return [];
  const objects = count === 1 ? "1 object is" : `${count} objects are`;
  const text = `${objects} managed by a stack and not in import.json: ${folder}/README.md says how to move them.`;
  return wrapped(text, width);
};

const undeclaredLines = ({ plan: { declared }, folder }: ExportResult): readonly string[] => {
  const count = declared.filter(({ object }) => object.undeclared).length;
  if (count === 0) return [];
  const objects = count === 1 ? "1 object has" : `${count} objects have`;
  const text = `${objects} members that the program does not declare; they stay as they are: ${folder}/README.md names them.`;
  return wrapped(text, width);
};

const nextSteps = ({ source, folder, plan }: ExportResult): readonly string[] => {
  if (plan.declared.length === 0) return [];
  const count = source.secrets.length;
  const secrets =
    count === 0 ? "" : `Set ${count === 1 ? "a secret" : `${count} secrets`}, import and preview: `;
  return wrapped(`${secrets}${folder}/README.md says how to go on.`, width);
};

const proofLines = (proof: Proof | undefined): readonly string[] => {
  if (!proof) return [];
  if (proof.ok) return ["Proved on an emulator with the same account: 0 changes."];
  return [
    "Not proved: on an emulator with the same account, the preview says otherwise.",
    ...proof.differences.flatMap((line) => wrapped(`  ${line}`, width)),
  ];
};

/** What an export did, for people, within 80 columns. */
export const exportReport = (result: ExportResult, proof?: Proof): string => {
  const { notes, kept, texts, folder } = result;
  const lines = [
    ...countTable(result),
    "",
    ...skippedLines(result),
    ...managedLines(result),
    ...undeclaredLines(result),
    ...notes.flatMap((note) => wrapped(`Not read: ${note}`, width)),
    ...wrapped(`Wrote ${texts.size - kept.length} files to ${folder}.`, width),
    ...kept.flatMap((name) => wrapped(`Left ${name} as it is: it holds what you have set.`, width)),
    ...proofLines(proof),
    ...nextSteps(result),
  ];
  return `${lines.join("\n")}\n`;
};
