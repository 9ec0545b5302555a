import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { type PulumiPlace, queryPulumi } from "../../provider/stacks/pulumi-queries.js";
import {
  readAllStates,
  readOwnState,
  type StackStates,
} from "../../provider/stacks/stack-states.js";
import { Failure } from "../failure.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";
import { stackAdvice } from "../pulumi-cli/stack-advice.js";

/**
 * Where Pulumi is asked about a stack.
 *
 * @throws Failure where there is no CLI
 */
export const placeOf = (folder: string, env: NodeJS.ProcessEnv, stack?: string): PulumiPlace => {
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined)
    throw new Failure(
      "There is no pulumi on PATH. Install it, or run this where your stacks are run.",
    );
  return { command, folder, env, ...(stack ? { stack } : {}) };
};

/**
 * Reads the states that can be seen.
 *
 * @param scope `own`: of the stack in question only
 * @throws Failure where its own state cannot be read
 */
export const statesFor = async (place: PulumiPlace, scope: "own" | "all"): Promise<StackStates> => {
  let reason = "no reason given";
  const read = scope === "own" ? readOwnState : readAllStates;
  const states = await read(place, (told) => {
    reason = told;
  });
  if (states) return states;
  throw new Failure(
    `The state of the stack could not be read, so nothing was done: ${reason}\n${stackAdvice(reason)}`,
  );
};

const projectFiles = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

const projectIn = (folder: string): string | undefined => {
  for (const name of projectFiles) {
    try {
      const text = readFileSync(join(folder, name), "utf8");
      return /^\s*"?name"?\s*:\s*["']?([\w.-]+)/m.exec(text)?.[1];
    } catch {
      // The next name, then the folder above.
    }
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : projectIn(parent);
};

/**
 * The short names of a stack: those of its state, else those of the project file and the CLI.
 *
 * @throws Failure where neither tells them
 */
export const namesFor = async (place: PulumiPlace, { own }: StackStates): Promise<StackNames> => {
  if (own.project && own.name) return { project: own.project, stack: own.name };
  const answer = await queryPulumi(place, ["stack", "--show-name"]);
  const stack = "text" in answer ? answer.text.trim().split("/").at(-1) : undefined;
  const project = projectIn(place.folder);
  if (stack && project) return { project, stack };
  throw new Failure(
    "The names of project and stack are not known. Run this in the folder of the Pulumi project.",
  );
};
