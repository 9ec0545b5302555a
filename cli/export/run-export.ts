import { basename, resolve } from "node:path";
import type { Settings } from "../../provider/service/setting-table.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import { type AccountOptions, readAccountInputs } from "../account/open-account.js";
import { importFileText, ownershipId, personalPart } from "../import/import-entries.js";
import { formerExport, writeExport } from "./export-folder.js";
import { type ProgramSource, programSource, type Split } from "./program-files.js";
import {
  type PlannedResource,
  type PlanProgramOptions,
  type ProgramPlan,
  planProgram,
} from "./program-plan.js";
import { type PossibleSecret, possibleSecrets } from "./program-secrets.js";
import { type ProjectNames, projectFiles } from "./project-files.js";
import { projectReadme } from "./project-readme.js";

export interface ExportOptions extends AccountOptions, PlanProgramOptions {
  /** Folder to write; new, empty, or of a former export. */
  readonly out: string;
  readonly split: Split;
  /** Default: the name of the folder. */
  readonly project?: string;
  /** The stack that the configuration is written for. */
  readonly toStack: string;
}

/** What an export found and wrote. */
export interface ExportResult {
  readonly folder: string;
  readonly settings: Settings;
  /** All of the account. */
  readonly objects: readonly ObjectInputs[];
  readonly names: ProjectNames;
  readonly plan: ProgramPlan;
  readonly source: ProgramSource;
  readonly possible: readonly PossibleSecret[];
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
  /** The import file of everything that the program declares, also of what stays another stack's for now. */
  readonly wholeImport: string;
  /** Text of each file of the export, as it was generated. */
  readonly texts: ReadonlyMap<string, string>;
  /** Names of those that were there already and stay as they are. */
  readonly kept: readonly string[];
}

/** A name that Pulumi takes for a project. */
const projectName = (text: string): string =>
  text
    .replaceAll(/[^\w.-]+/g, "-")
    .replaceAll(/^[-.]+|(?<![-.])[-.]+$/g, "")
    .slice(0, 100) || "conversation-account";

/**
 * Reads an account and writes it as a project of Pulumi. Makes list calls only, and writes nothing but
 * the files of the folder.
 *
 * @throws CommandFailure where the folder may not be written, or a filter means nothing;
 *   ConversationError where the account cannot be read
 */
export const runExport = async (options: ExportOptions): Promise<ExportResult> => {
  const folder = resolve(options.folder ?? process.cwd(), options.out);
  const former = formerExport(folder);
  const { settings, reading, objects, notes } = await readAccountInputs(options);
  const names = {
    project: options.project ?? projectName(basename(folder)),
    stack: options.toStack,
  };
  const plan = planProgram(objects, options);
  const { profile, split } = options;
  const source = programSource(plan, { split, ...(profile ? { profile } : {}) });
  const possible = possibleSecrets(plan.declared);
  const part = former?.ownership ?? personalPart(settings.baseUrl, names);
  const ownership = ownershipId(names, part);
  const importText = (resources: readonly PlannedResource[]): string =>
    importFileText(resources, { ownership, ...(profile ? { profile } : {}) }, names);
  const files = new Map([
    ...projectFiles(names, settings, profile),
    ...source.files,
    ["import.json", importText(plan.declared.filter(({ object }) => !object.mark))],
    [
      "README.md",
      projectReadme({
        ...{ names, plan, possible, notes },
        baseUrl: reading.baseUrl,
        secrets: source.secrets,
      }),
    ],
  ]);
  const kept = writeExport(folder, files, part, former);
  return {
    ...{ folder, settings, objects, names, plan, source, possible, notes, kept },
    wholeImport: importText(plan.declared),
    texts: files,
  };
};
