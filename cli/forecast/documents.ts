import { readFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { CommandFailure, messageOf } from "../command.js";
import { runCommand } from "../pulumi/processes.js";
import { stackAdvice } from "../pulumi/project-files.js";
import { findProgram, pulumiStops } from "../pulumi/pulumi-cli.js";
import { printedJson } from "../pulumi/pulumi-queries.js";
import { previewIn, stackExportIn } from "../pulumi/stack-documents.js";
import type { ForecastOperation } from "./operations.js";
import type { Documents } from "./planned-steps.js";

const errorSchema = z.object({
  diagnostics: z.array(z.object({ message: z.string(), severity: z.string() })),
});

/** One of Pulumi's two documents, recognized by its content; undefined for anything else. */
const documentIn = (text: string): Documents | undefined => {
  const preview = previewIn(text);
  if (preview) return { preview };
  const state = stackExportIn(text);
  return state && { state };
};

const projectIsMissing = /no Pulumi\.yaml/;

/** The errors that a failed preview reports, without colors; empty if it reports none. */
const errorsIn = (text: string): readonly string[] =>
  (errorSchema.safeParse(printedJson(text)).data?.diagnostics ?? [])
    .filter(({ severity }) => severity === "error")
    .map(({ message }) => stripVTControlCharacters(message).trim());

const adviceFor = (said: string): string =>
  projectIsMissing.test(said)
    ? `${stackAdvice(said)} To read saved output instead, use --from.`
    : stackAdvice(said);

/** What Pulumi said about its failure, and what may help. */
const failed = (shown: string, stdout: string, lastLines: readonly string[]): CommandFailure => {
  const errors = errorsIn(stdout);
  const lines = errors.length > 0 ? errors : lastLines.filter((line) => line.trim() !== "");
  const said = lines.join("\n");
  // Errors that a preview reports come from the program; all others are about project, stack or
  // backend.
  const advice = errors.length > 0 ? "Fix the program and try again." : adviceFor(said);
  return new CommandFailure(`${shown} failed. Pulumi reports:\n${said}\n${advice}`);
};

/** Where Pulumi runs; without a stack, on the selected one. */
interface RunPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stack?: string | undefined;
}

const printed = async (
  what: readonly string[],
  { folder, env, stack }: RunPlace,
  signal: AbortSignal | undefined,
) => {
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined)
    throw new CommandFailure(
      "pulumi is not on PATH. Install it, or use --from to read saved output.",
    );
  const args = [...what, ...(stack === undefined ? [] : ["--stack", stack])];
  const shown = `pulumi ${args.join(" ")}`;
  const ended = await runCommand(command, [...args, "--non-interactive"], {
    cwd: folder,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    ...{ signal, stops: pulumiStops },
  });
  signal?.throwIfAborted();
  if (ended.code !== 0) throw failed(shown, ended.stdout, ended.lastLines);
  const document = documentIn(ended.stdout);
  if (document) return document;
  throw new CommandFailure(`Cannot read the output of ${shown}. Use Pulumi 3.254 or later.`);
};

/**
 * Lets Pulumi preview the project in a folder and export the state of its stack.
 *
 * @param signal ends Pulumi without leaving a lock
 */
export const currentDocuments = async (
  operation: ForecastOperation,
  place: RunPlace,
  signal?: AbortSignal,
): Promise<Documents> => {
  const state = await printed(["stack", "export"], place, signal);
  if (operation !== "up") return state;
  const start = performance.now();
  const preview = await printed(["preview", "--json"], place, signal);
  return { ...state, ...preview, previewSeconds: (performance.now() - start) / 1000 };
};

const readSaved = async (file: string): Promise<Documents> => {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CommandFailure(`Cannot read ${file}: ${messageOf(error)}`, 2);
  });
  const document = documentIn(text);
  if (document) return document;
  throw new CommandFailure(
    `${file} is not the output of \`pulumi preview --json\` or \`pulumi stack export\`.`,
    2,
  );
};

/** Reads documents that were saved before, in any order. */
export const savedDocuments = async (
  operation: ForecastOperation,
  files: readonly string[],
): Promise<Documents> => {
  const documents: Documents = Object.assign({}, ...(await Promise.all(files.map(readSaved))));
  const [needed, how] =
    operation === "up"
      ? [documents.preview, "pulumi preview --json"]
      : [documents.state, "pulumi stack export"];
  if (needed) return documents;
  throw new CommandFailure(
    `The forecast of pulumi ${operation} needs the output of \`${how}\`, which no --from file contains. To save it, run: ${how} > file.json`,
    2,
  );
};
