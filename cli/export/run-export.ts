import { resolve } from "node:path";
import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { defaultScopes } from "../../provider/service/operations.js";
import type { Settings } from "../../provider/service/settings.js";
import { importFileText, newOwnershipId } from "../import/import-entries.js";
import { type AccountOptions, readAccountInputs } from "../inventory/open-account.js";
import type { AccountReading } from "../inventory/read-account.js";
import { assertRoom, projectNameFor, writeNewFiles } from "../new-folder.js";
import { withCount, wrapped } from "../terminal/columns.js";
import type { CommandWork } from "../terminal/progress.js";
import { notReadLines, textReport } from "../terminal/report.js";
import {
  omittedSentences,
  type ProgramSource,
  type ProjectNames,
  programSource,
  projectFiles,
  projectReadme,
} from "./program-files.js";
import {
  type ProgramPlan,
  planProgram,
  printedResource,
  type SelectionOptions,
} from "./program-plan.js";
import type { Proof } from "./prove.js";

const advice = "Specify a new folder with --out.";

const resource = {
  kind: z.string(),
  id: z.string(),
  name: z.string().describe("Logical name in the program"),
};

/** Shape of the result of an export on an emulator that holds the same account. */
const proofSchema = z.strictObject({
  ok: z.boolean().describe("True if the import succeeds and nothing changes afterward"),
  differences: z
    .array(z.string())
    .describe("What would change: the operation, the resource, and its members"),
});

/** Shape of what `export --json` prints. */
export const exportSchema = z.strictObject({
  folder: z.string(),
  project: z.string(),
  stack: z.string(),
  files: z.array(z.string()),
  resources: z.array(z.strictObject(resource)).describe("Objects that the program declares"),
  lookedUp: z.array(z.strictObject(resource)).describe("Objects that the program only looks up"),
  skipped: z.array(z.strictObject({ kind: z.string(), id: z.string(), reason: z.string() })),
  secrets: z
    .array(
      z.strictObject({
        key: z.string().describe("Key in the stack's configuration"),
        ...resource,
        path: z.string(),
      }),
    )
    .describe("Secrets that the stack's configuration must contain"),
  undeclared: z
    .array(z.strictObject({ ...resource, path: z.string() }))
    .describe(
      "Members that no program declares, because the package does not define them; no run sends them",
    ),
  notes: z.array(z.string()).describe("What the export could not read"),
  proof: z.exactOptional(proofSchema).describe("With --prove"),
});

export interface ExportOptions extends AccountOptions, SelectionOptions {
  /** Folder to write; new or empty. Its name becomes that of the project. */
  readonly out: string;
}

export interface ExportResult {
  readonly folder: string;
  readonly settings: Settings;
  readonly reading: AccountReading;
  readonly names: ProjectNames;
  readonly plan: ProgramPlan;
  readonly source: ProgramSource;
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
  /** Text of each file of the export. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Reads an account and writes it as a Pulumi project. Makes list calls only, and writes only the
 * files of the folder.
 *
 * @throws CommandFailure if the folder may not be written, or a filter matches nothing;
 *   ConversationError if the account cannot be read
 */
export const runExport = async (options: ExportOptions): Promise<ExportResult> => {
  const folder = resolve(options.folder ?? process.cwd(), options.out);
  assertRoom(folder, advice);
  const { settings, reading, objects, notes } = await readAccountInputs(options);
  const names = { project: projectNameFor(folder), stack: "prod" };
  const plan = planProgram(objects, options);
  const { profile } = options;
  const source = programSource(plan, profile);
  const ownership = newOwnershipId(names);
  const files = new Map([
    ...projectFiles(names, settings, profile),
    ["index.ts", source.text],
    ["import.json", importFileText(plan.declared, { ownership, profile }, names)],
    ["README.md", projectReadme(names, plan, source.secrets)],
  ]);
  writeNewFiles(
    folder,
    [...files].map(([path, text]) => ({ path, text })),
    advice,
  );
  return { folder, settings, reading, names, plan, source, notes, texts: files };
};

export const exportJson = (
  result: ExportResult,
  proof?: Proof,
): Printed<z.output<typeof exportSchema>> => {
  const { folder, names, plan, source, notes, texts } = result;
  return {
    folder,
    ...names,
    files: [...texts.keys()],
    resources: plan.declared.map(printedResource),
    lookedUp: plan.lookedUp.map(printedResource),
    skipped: plan.skipped.map(({ object, reason }) => ({
      kind: object.definition.kind,
      id: object.id,
      reason,
    })),
    secrets: source.secrets.map(({ key, resource, path }) => ({
      key,
      ...printedResource(resource),
      path,
    })),
    undeclared: plan.declared.flatMap((resource) =>
      (resource.object.undeclared ?? []).map((path) => ({ ...printedResource(resource), path })),
    ),
    notes,
    ...(proof ? { proof } : {}),
  };
};

const proofLines = (proof: Proof | undefined): readonly string[] => {
  if (!proof) return [];
  if (proof.ok) return ["Proved on an emulator with the same account: 0 changes."];
  return [
    "Not proved: on an emulator with the same account, a run would change something.",
    ...proof.differences.map((line) => `- ${line}`),
  ];
};

export const exportReport = (result: ExportResult, proof?: Proof): string => {
  const { notes, texts, folder, plan, source } = result;
  const { declared, lookedUp } = plan;
  const odd = declared.filter(({ object }) => object.undeclared).length;
  const members = `With members that the program does not declare: ${withCount(odd, "object")}; --json lists them.`;
  const secrets = source.secrets.length;
  const setting = secrets > 0 ? `set ${withCount(secrets, "secret")}, ` : "";
  const sentences = [
    `Declared: ${withCount(declared.length, "object")}. Looked up: ${lookedUp.length}.`,
    ...omittedSentences(plan.skipped),
    ...(odd > 0 ? [members] : []),
    ...notReadLines(notes),
    `Wrote ${withCount(texts.size, "file")} to ${folder}.`,
    ...proofLines(proof),
    ...(declared.length > 0
      ? [`Next, ${setting}import, and preview: see ${folder}/README.md.`]
      : []),
  ];
  return textReport(sentences.flatMap((sentence) => wrapped(sentence, 80)));
};

/** Writes an export and, on request, proves on an emulator that importing it changes nothing. */
export const exportAndProve = async ({
  prove: isProved,
  ...options
}: ExportOptions & CommandWork & { readonly prove?: true }): Promise<{
  readonly result: ExportResult;
  readonly proof: Proof | undefined;
}> => {
  const result = await runExport(options);
  if (!isProved) return { result, proof: undefined };
  const { prove } = await import("./prove.js");
  const { texts, names, settings, source, reading, plan } = result;
  const { progress, signal, profile } = options;
  const proof = await prove({
    ...{ files: texts, stack: names.stack, isEmpty: plan.declared.length === 0 },
    secrets: source.secrets.map(({ key }) => key),
    account: { names: [profile], settings, reading, scopes: defaultScopes },
    ...{ progress, signal },
  });
  return { result, proof };
};
