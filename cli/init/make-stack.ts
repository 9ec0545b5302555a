import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { cachedPulumi } from "../pulumi-cli/ensure-pulumi.js";
import { environmentWith, findProgram } from "../pulumi-cli/pulumi-cli.js";
import type { Progress } from "../terminal/progress.js";
import type { InitAnswers } from "./init-answers.js";
import { type ProjectStep, projectSteps } from "./project-step.js";

/** How far the stack of a new project came. */
export interface StackStanding {
  /** Whether Pulumi has it. */
  readonly made: boolean;
  /** Whether its configuration is complete as well. */
  readonly configured: boolean;
  /** What Pulumi said where something failed; undefined also where there is no Pulumi. */
  readonly refusal?: string;
  /** Folder of a Pulumi that is on no PATH; what comes next needs it there. */
  readonly bin?: string;
}

/** Secrets go through standard input: a command line can be read by every process of the machine. */
const configure = async (
  step: ProjectStep,
  pulumi: string,
  answers: InitAnswers,
): Promise<string | undefined> => {
  const { name, stack, settings, clientSecret } = answers;
  const plain = Object.entries(settings).map(([key, value]) => [`conversation:${key}`, value]);
  const secrets = [
    ...(clientSecret ? [["conversation:clientSecret", clientSecret]] : []),
    [`${name}:callbackSecret`, randomBytes(24).toString("base64url")],
  ];
  const set = (key = "", value = "", ...more: readonly string[]) =>
    step(pulumi, ["config", "set", key, "--stack", stack, ...more, "--non-interactive"], value);
  for (const [key, value] of plain) {
    // Else Pulumi refuses what looks to it like a secret, such as an address of tokens.
    const reason = await set(key, value, "--plaintext");
    if (reason) return reason;
  }
  for (const [key, value] of secrets) {
    const reason = await set(key, value, "--secret");
    if (reason) return reason;
  }
  return undefined;
};

/** What a person has to do first, where Pulumi refused a stack for want of it: usual on a new machine. */
export const missingFirst = (refusal = ""): "login" | "passphrase" | undefined => {
  if (/PULUMI_ACCESS_TOKEN|log ?in/i.test(refusal)) return "login";
  return /passphrase must be set/.test(refusal) ? "passphrase" : undefined;
};

const laterFor = {
  login: "nobody is logged in to Pulumi yet",
  passphrase: "it needs a passphrase",
} as const;

const noPulumi =
  "There is no pulumi on PATH: install it (https://www.pulumi.com/docs/install/), then make the stack.";

/** Makes the first stack of a project, with its configuration; what does not work is told. */
export const makeStack = async (
  answers: InitAnswers,
  project: {
    readonly folder: string;
    readonly env: NodeJS.ProcessEnv;
    readonly progress: Progress;
  },
): Promise<StackStanding> => {
  const { folder, env, progress } = project;
  const onPath = findProgram("pulumi", env.PATH);
  const pulumi = onPath ?? cachedPulumi(env);
  if (pulumi === undefined) {
    progress.note(noPulumi);
    return { made: false, configured: false };
  }
  const bin = dirname(pulumi);
  const step = projectSteps(folder, environmentWith(bin, env));
  const doing = progress.step(`Making stack ${answers.stack}`);
  const init = await step(pulumi, ["stack", "init", answers.stack, "--non-interactive"]);
  const refusal = init ?? (await configure(step, pulumi, answers));
  const missing = missingFirst(refusal);
  if (missing) {
    doing.end();
    progress.note(`Stack ${answers.stack} comes later: ${laterFor[missing]}. See the next steps.`);
  } else if (refusal) doing.failed(`Stack ${answers.stack} was not made whole: ${refusal}`);
  else doing.done(`Stack ${answers.stack}, with its secrets encrypted`);
  return {
    made: init === undefined,
    configured: refusal === undefined,
    ...(refusal === undefined ? {} : { refusal }),
    ...(onPath === undefined ? { bin } : {}),
  };
};
