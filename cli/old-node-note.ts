import { delimiter } from "node:path";
import { leastNode } from "../provider/kernel/node-version.js";
import { runCommand } from "../provider/pulumi-cli/processes.js";
import { findProgram, isAtLeast } from "../provider/pulumi-cli/pulumi-cli.js";

/** What to do if the programs of a new project would run on a version of Node.js that is too old. */
export const oldNodeNote = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  // A checkout may bring its own Node, which npx and npm put first; the new project has none.
  const folders = (env.PATH ?? "").split(delimiter);
  const own = folders.filter((folder) => !/node_modules[\\/]\.bin$/.test(folder));
  const node = findProgram("node", own.join(delimiter));
  const asked = node && (await runCommand(node, ["--version"], { env }).catch(() => undefined));
  const version = asked ? asked.stdout.trim() : "";
  if (version === "" || isAtLeast(version, leastNode)) return undefined;
  return `The Node.js version on your PATH is ${version}; first install ${leastNode} or later: https://nodejs.org`;
};
