import type { Command } from "commander";
import { withSelection } from "./selection-options.js";

/** What `import` and the converter are given alike. */
export interface ImportFlags {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly withDependencies?: true;
  readonly skipManaged?: true;
  readonly withSecrets?: true;
  readonly profile?: string;
}

/** Adds the options of `import` and of the converter. */
export const withImport = (command: Command): Command =>
  withSelection(command)
    .option("--skip-managed", "Leave out what a stack has already, instead of refusing.")
    .option("--with-secrets", "Put secrets that the service shows into the state, encrypted.")
    .option("--profile <name>", "Take the objects from the account of this profile.");
