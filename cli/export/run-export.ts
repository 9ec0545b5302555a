import { basename, resolve } from "node:path";
import type { Settings } from "../../provider/service/settings/settings.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import { type AccountOptions, readAccountInputs } from "../account/open-account.js";
import { importFileText, ownershipId, personalPart } from "../import/import-entries.js";
import type { SelectionOptions } from "./account-selection.js";
import { formerExport, writeExport } from "./export-folder.js";
import { type ProgramSource, programSource, type Split } from "./program-files.js";
import { type ProgramPlan, planProgram } from "./program-plan.js";
import { type PossibleSecret, possibleSecrets } from "./program-secrets.js";
import { type ProjectNames, projectFiles } from "./project-files.js";
import { projectReadme } from "./project-readme.js";

export interface ExportOptions extends AccountOptions, SelectionOptions {
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
  /** Names of all files that belong to the export. */
  readonly files: readonly string[];
  /** Those that were there already and stay as they are. */
  readonly kept: readonly string[];
}

/** A name that Pulumi takes for a project. */
const projectName = (text: string): string =>
  text
    .replaceAll(/[^\w.-]+/g, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
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
  const files = new Map([
    ...projectFiles(names, settings, profile),
    ...source.files,
    [
      "import.json",
      importFileText(plan.declared, { ownership, ...(profile ? { profile } : {}) }, names),
    ],
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
    files: [...files.keys()],
  };
};
