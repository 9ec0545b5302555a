import { join } from "node:path";
import {
  jsonDigest,
  type ProgramSearchOptions,
  readProgram,
} from "../../cli/rehearse/recorded-program.js";

/** How a run with `--record record.json` finds the project of stack `prod` in a folder. */
export const optionsIn = (folder: string): ProgramSearchOptions => ({
  stack: "prod",
  toolFolders: [],
  recordFile: join(folder, "record.json"),
  written: [],
  outputs: [],
});

/** All that a record says of a program, as one text. */
export const programDigest = (folder: string, from = folder): string =>
  jsonDigest(readProgram(from, optionsIn(folder)));
