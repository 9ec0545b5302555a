import type { z } from "zod";
import { resources } from "../../provider/resources/index.js";
import { wrapped } from "../orphans/orphans-report.js";
import type { Printed } from "../printed.js";
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
  const { folder, names, plan, source, possible, notes, files, kept } = result;
  return {
    folder,
    ...names,
    files,
    kept,
    resources: plan.declared.map(shown),
    lookedUp: plan.lookedUp.map(shown),
    skipped: plan.skipped.map(({ object, reason }) => ({
      kind: object.definition.kind,
      id: object.id,
      reason,
    })),
    secrets: source.secrets.map(({ key, resource, path }) => ({ key, ...shown(resource), path })),
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

const skippedLines = ({ plan: { skipped } }: ExportResult): readonly string[] =>
  skipped.flatMap(({ object, reason }) =>
    wrapped(`Left out: ${objectLabel(object)} (id ${object.id}): ${reason}.`, width),
  );

const nextSteps = ({ source, folder }: ExportResult): readonly string[] => {
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
  const { notes, kept, files, folder } = result;
  const lines = [
    ...countTable(result),
    "",
    ...skippedLines(result),
    ...notes.flatMap((note) => wrapped(`Not read: ${note}`, width)),
    ...wrapped(`Wrote ${files.length - kept.length} files to ${folder}.`, width),
    ...kept.flatMap((name) => wrapped(`Left ${name} as it is: it holds what you have set.`, width)),
    ...proofLines(proof),
    ...nextSteps(result),
  ];
  return `${lines.join("\n")}\n`;
};
