import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import type { CliProject, CliResult } from "./cli-project.js";
import { shellScript } from "./temporary-folder.js";
import { toolLine } from "./tool-process.js";

/** Runs a line of a page in a project as its reader would: by a shell, with what npm would find. */
export type PageShell = (
  text: string,
  environment?: Readonly<Record<string, string>>,
) => Promise<CliResult>;

/** Puts `npx` and `pulumi-conversation` into a project; what a command asks for is answered with a line. */
export const pageShell = ({ folder, environment: common }: CliProject): PageShell => {
  const bin = join(folder, "node_modules", ".bin");
  shellScript(join(bin, "pulumi-conversation"), `exec ${toolLine} "$@"`);
  shellScript(join(bin, "npx"), `exec "$@"`);
  const path = [bin, process.env.PULUMI_CONVERSATION_TEST_PULUMI, common.PATH].join(delimiter);
  return (text, environment = {}) =>
    new Promise((resolve) => {
      const settings = { cwd: folder, env: { ...common, ...environment, PATH: path } };
      const child = execFile("sh", ["-c", text], settings, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
      );
      child.stdin?.end("typed-by-hand\n");
    });
};
