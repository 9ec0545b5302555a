import { readFile } from "node:fs/promises";
import { Failure, messageOf } from "../failure.js";
import { runCommand } from "../process/run-command.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";
import { errorsIn, type Preview, readDocument, type State } from "./pulumi-documents.js";
import type { Operation } from "./simulation/operations.js";

/** What a forecast is made from. */
export interface Documents {
  /** Of `up`; the other operations need none. */
  readonly preview?: Preview;
  readonly state?: State;
  /** How long the command took that made the preview. Left out: it was made before. */
  readonly previewSeconds?: number;
}

/** Where Pulumi is run. */
export interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Default: the selected stack. */
  readonly stack?: string;
  /** Longest run of each command. Default: none. */
  readonly timeoutMs?: number;
}

const commands = {
  preview: ["preview", "--json"],
  state: ["stack", "export"],
} as const;

const quiet = { PULUMI_SKIP_UPDATE_CHECK: "true" };

/** What Pulumi said of its failure, and what may help. */
const failed = (shown: string, stdout: string, lastLines: readonly string[]): Failure => {
  const errors = errorsIn(stdout);
  const lines = errors.length > 0 ? errors : lastLines.filter((line) => line.trim() !== "");
  const said = lines.join("\n");
  const advice = /no Pulumi\.yaml/.test(said)
    ? "Run it in the folder of a Pulumi project, or give saved documents with --from."
    : /no stack/.test(said)
      ? "Select a stack (pulumi stack select), or name one with --stack."
      : "Correct that first: a forecast needs a preview that works.";
  return new Failure(`Forecasting: ${shown} failed. Pulumi says:\n${said}\n${advice}`);
};

const asked = async (what: keyof typeof commands, { folder, env, stack, timeoutMs }: Place) => {
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined)
    throw new Failure(
      "Forecasting: there is no pulumi on PATH. Install it, or give saved documents with --from.",
    );
  const args = [...commands[what], ...(stack === undefined ? [] : ["--stack", stack])];
  const shown = `pulumi ${args.join(" ")}`;
  const ended = await runCommand(command, [...args, "--non-interactive"], {
    cwd: folder,
    env: { ...env, ...quiet },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  if (ended.code !== 0) throw failed(shown, ended.stdout, ended.lastLines);
  const document = readDocument(ended.stdout);
  if (document) return document;
  throw new Failure(
    `Forecasting: what ${shown} printed cannot be read. Use a Pulumi of version 3.254 or newer.`,
  );
};

/** Has Pulumi make a preview of the project in a folder, and export the state of its stack. */
export const askPulumi = async (operation: Operation, place: Place): Promise<Documents> => {
  const state = await asked("state", place);
  if (operation !== "up") return state;
  const start = performance.now();
  const preview = await asked("preview", place);
  return { ...state, ...preview, previewSeconds: (performance.now() - start) / 1000 };
};

const readSaved = async (file: string) => {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Failure(`Forecasting: ${file} cannot be read: ${messageOf(error)}`, 2);
  });
  const document = readDocument(text);
  if (document) return document;
  throw new Failure(
    `Forecasting: ${file} is neither what \`pulumi preview --json\` prints nor what \`pulumi stack export\` prints.`,
    2,
  );
};

/** Reads documents that were saved before, in any order. */
export const savedDocuments = async (
  operation: Operation,
  files: readonly string[],
): Promise<Documents> => {
  const parts: Documents[] = await Promise.all(files.map(readSaved));
  const documents: Documents = Object.assign({}, ...parts);
  const [needed, how] =
    operation === "up"
      ? [documents.preview, "pulumi preview --json"]
      : [documents.state, "pulumi stack export"];
  if (needed) return documents;
  throw new Failure(
    `Forecasting: pulumi ${operation} is forecast from what \`${how}\` prints, and no file of --from holds that. Save it with: ${how} > file.json`,
    2,
  );
};
