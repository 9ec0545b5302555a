import { objectTable, type ServiceObject } from "./object-table.js";
import type { PulumiProject } from "./pulumi-project.js";
import type { ProjectName, StateFolder } from "./state-folder.js";

/** A quick start under way: where it writes, and what it works with. */
export interface Scene {
  readonly state: StateFolder;
  /** Settings of the service, as environment variables. */
  readonly settings: Readonly<Record<string, string>>;
  /** Aborted when everything is to end. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly title: (text: string) => void;
  pulumi(name: ProjectName): PulumiProject;
  /** Everything that exists in the service. */
  objects(): Promise<readonly ServiceObject[]>;
}

export const showObjects = async ({ print, title, objects }: Scene): Promise<void> => {
  const found = await objects();
  title("What the service holds now");
  const lines = found.length === 0 ? ["nothing"] : objectTable(found);
  for (const line of lines) print(`  ${line}`);
};
