import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { CommandFailure } from "../command.js";
import { runCommand } from "../pulumi/processes.js";
import { stackAdvice } from "../pulumi/project-files.js";
import { pulumiStops } from "../pulumi/pulumi-cli.js";
import { type PulumiPlace, printedJson } from "../pulumi/pulumi-queries.js";
import { type Preview, previewIn } from "../pulumi/stack-documents.js";

const errorSchema = z.object({
  diagnostics: z.array(z.object({ message: z.string(), severity: z.string() })),
});

/** The errors of the program that a failed preview reports, without colors. */
const errorsIn = (text: string): readonly string[] =>
  (errorSchema.safeParse(printedJson(text)).data?.diagnostics ?? [])
    .filter(({ severity }) => severity === "error")
    .map(({ message }) => stripVTControlCharacters(message).trim());

/**
 * Lets Pulumi preview the program of a stack.
 *
 * @param signal ends Pulumi without leaving a lock
 * @throws CommandFailure with what Pulumi reports, if the preview fails
 */
export const previewStack = async (
  { command, folder, env, stack }: PulumiPlace,
  signal?: AbortSignal,
): Promise<Preview> => {
  const args = ["preview", "--json", ...(stack === undefined ? [] : ["--stack", stack])];
  const ended = await runCommand(command, [...args, "--non-interactive"], {
    cwd: folder,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    signal,
    stops: pulumiStops,
  });
  signal?.throwIfAborted();
  const shown = `pulumi ${args.join(" ")}`;
  if (ended.code !== 0) {
    const errors = errorsIn(ended.stdout);
    const said = (errors.length > 0 ? errors : ended.lastLines).join("\n").trim();
    const advice = errors.length > 0 ? "Fix the program and try again." : stackAdvice(said);
    throw new CommandFailure(`${shown} failed. Pulumi reports:\n${said}\n${advice}`);
  }
  const preview = previewIn(ended.stdout);
  if (preview) return preview;
  throw new CommandFailure(`Cannot read the output of ${shown}. Use Pulumi 3.254 or later.`);
};
