import { messageOf } from "../command.js";
import { type Ended, runCommand } from "../process/run-command.js";

/** Runs one of the commands that make a project whole; why it did not work, or undefined. */
export type ProjectStep = (
  command: string,
  args: readonly string[],
  input?: string,
) => Promise<string | undefined>;

/** npm gives its reason first, and a code before that; where its log is comes last. */
const npmReason = (lines: readonly string[]): string | undefined =>
  lines
    .filter((line) => /^npm (error|ERR!) /.test(line))
    .map((line) => line.replace(/^npm \S+ /, "").trim())
    .find((line) => !/^code |^\d+$/.test(line));

const reasonOf = ({ code, lastLines }: Ended): string | undefined => {
  if (code === 0) return undefined;
  const said = lastLines.map((line) => line.trim()).filter((line) => line !== "");
  return npmReason(said) ?? said.at(-1) ?? "no reason given";
};

const LONGEST_MS = 600_000;

/**
 * Steps in the folder of a project.
 *
 * @param onLine each line that a command says
 */
export const projectSteps =
  (
    folder: string,
    env: NodeJS.ProcessEnv,
    onLine: (line: string) => void = () => {},
  ): ProjectStep =>
  async (command, args, input) => {
    const settings = { cwd: folder, env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" } };
    const limits = {
      ...settings,
      timeoutMs: LONGEST_MS,
      onLine,
      ...(input === undefined ? {} : { input }),
    };
    return runCommand(command, args, limits).then(reasonOf, messageOf);
  };
