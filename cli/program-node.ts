import { delimiter } from "node:path";
import { leastNode } from "../provider/kernel/node-version.js";
import { runCommand } from "./pulumi/processes.js";
import { findProgram, isAtLeast, versionIn } from "./pulumi/pulumi-cli.js";

/** The Node.js that programs and the provider run on, whatever this command runs on. */
interface ProgramNode {
  /** What was found, in words. */
  readonly found: string;
  /** Its version; absent if it cannot run programs. */
  readonly version?: string;
  /** What to do if programs cannot run on it. */
  readonly advice?: string;
}

/** Finds the Node.js that Pulumi's language host starts: the first on PATH. */
export const programNode = async (env: NodeJS.ProcessEnv): Promise<ProgramNode> => {
  // npx and npm put the Node of a project or a checkout first; a person's own shell does not.
  const folders = (env.PATH ?? "").split(delimiter);
  const own = folders.filter((folder) => !/node_modules[\\/]\.bin$/.test(folder));
  const node = findProgram("node", own.join(delimiter));
  const advice = `Install Node.js ${leastNode} or later: https://nodejs.org`;
  if (node === undefined) return { found: "Node.js is not on your PATH", advice };
  const options = { env, timeoutMs: 20_000 };
  const asked = await runCommand(node, ["--version"], options).catch(() => undefined);
  const version = versionIn(asked?.stdout ?? "")?.join(".");
  if (version === undefined) return { found: `${node} on your PATH does not run`, advice };
  const found = `Node.js ${version} (${node})`;
  if (isAtLeast(version, leastNode)) return { found, version };
  return { found: `${found} on your PATH is older than ${leastNode}`, advice };
};

/** What a new project's reader must know of the Node.js on PATH; undefined if programs run on it. */
export const oldNodeNote = async (env: NodeJS.ProcessEnv): Promise<string | undefined> => {
  const { found, advice } = await programNode(env);
  return advice === undefined ? undefined : `${found}. ${advice}`;
};
