import { readFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { printedJson } from "../../provider/stacks/pulumi-queries.js";
import { CommandFailure, messageOf } from "../command.js";
import { runCommand } from "../process/run-command.js";
import { findProgram, pulumiStops } from "../pulumi-cli/pulumi-cli.js";
import { stackAdvice } from "../pulumi-cli/stack-config.js";
import type { ForecastOperation } from "./simulation/workload.js";

const names = z.array(z.string()).nullish();

const resource = z.object({
  urn: z.string(),
  type: z.string(),
  id: z.string().nullish(),
  custom: z.boolean().nullish(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  parent: z.string().nullish(),
  dependencies: names,
  propertyDependencies: z.record(z.string(), names).nullish(),
  deletedWith: z.string().nullish(),
  retainOnDelete: z.boolean().nullish(),
  external: z.boolean().nullish(),
  delete: z.boolean().nullish(),
});

const previewSchema = z.object({
  steps: z
    .array(
      z.object({
        op: z.string(),
        urn: z.string(),
        oldState: resource.nullish(),
        newState: resource.nullish(),
      }),
    )
    .default([]),
  /** Nanoseconds. */
  duration: z.number().nullish(),
  changeSummary: z.record(z.string(), z.number()),
});

const stateSchema = z.object({
  version: z.number(),
  deployment: z.object({ resources: z.array(resource).nullish() }),
});

const errorSchema = z.object({
  diagnostics: z.array(z.object({ message: z.string(), severity: z.string() })),
});

/** A resource as Pulumi writes it in a preview or in the state of a stack. */
export type PulumiResource = z.infer<typeof resource>;

/** What `pulumi preview --json` prints. */
export type Preview = z.infer<typeof previewSchema>;

/** What a forecast is made from. */
export interface Documents {
  /** Of `up`; the other operations need none. */
  readonly preview?: Preview;
  /** What `pulumi stack export` prints. */
  readonly state?: z.infer<typeof stateSchema>;
  /** How long the command took that made the preview. Left out: it was made before. */
  readonly previewSeconds?: number;
}

/** One of Pulumi's two documents, told apart by what is in it; undefined for anything else. */
export const readDocument = (text: string): Documents | undefined => {
  const json = printedJson(text);
  const preview = previewSchema.safeParse(json).data;
  if (preview) return { preview };
  const state = stateSchema.safeParse(json).data;
  return state && { state };
};

/** The resources of a state, in the order in which they were made; none where there is no state. */
export const resourcesOf = (state: Documents["state"]): readonly PulumiResource[] =>
  state?.deployment.resources ?? [];

const projectIsMissing = /no Pulumi\.yaml/;

/** What a preview that failed says was wrong, without colours; empty where it says nothing. */
const errorsIn = (text: string): readonly string[] =>
  (errorSchema.safeParse(printedJson(text)).data?.diagnostics ?? [])
    .filter(({ severity }) => severity === "error")
    .map(({ message }) => stripVTControlCharacters(message).trim());

const adviceFor = (said: string): string =>
  projectIsMissing.test(said)
    ? `${stackAdvice(said)} forecast also takes saved documents, with --from.`
    : stackAdvice(said);

/** What Pulumi said of its failure, and what may help. */
const failed = (shown: string, stdout: string, lastLines: readonly string[]): CommandFailure => {
  const errors = errorsIn(stdout);
  const lines = errors.length > 0 ? errors : lastLines.filter((line) => line.trim() !== "");
  const said = lines.join("\n");
  // What a preview reports comes from the program; all else is about project, stack or backend.
  const advice = errors.length > 0 ? "Correct that first, and try again." : adviceFor(said);
  return new CommandFailure(`${shown} failed. Pulumi says:\n${said}\n${advice}`);
};

/** Where Pulumi is run; without a stack on the selected one. */
export interface RunPlace {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stack?: string;
}

const printed = async (
  what: readonly string[],
  { folder, env, stack }: RunPlace,
  signal: AbortSignal | undefined,
) => {
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined)
    throw new CommandFailure(
      "There is no pulumi on PATH. Install it; forecast also takes saved documents, with --from.",
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
  const document = readDocument(ended.stdout);
  if (document) return document;
  throw new CommandFailure(
    `What ${shown} printed cannot be read. Use a Pulumi of version 3.254 or newer.`,
  );
};

/**
 * Has Pulumi make a preview of the project in a folder, and export the state of its stack.
 *
 * @param signal ends Pulumi, which leaves no lock
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
    throw new CommandFailure(`${file} cannot be read: ${messageOf(error)}`, 2);
  });
  const document = readDocument(text);
  if (document) return document;
  throw new CommandFailure(
    `${file} is neither what \`pulumi preview --json\` prints nor what \`pulumi stack export\` prints.`,
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
    `pulumi ${operation} is forecast from what \`${how}\` prints, and no file of --from holds that. Save it with: ${how} > file.json`,
    2,
  );
};
