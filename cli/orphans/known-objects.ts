import { z } from "zod";
import { typeToken } from "../../provider/pointer.js";
import { Failure } from "../failure.js";
import { runCommand } from "../process/run-command.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";

const state = z.object({
  deployment: z.object({
    resources: z.array(z.object({ type: z.string(), id: z.string().optional() })).nullish(),
  }),
});

/** What a stack's state knows of the service. */
export interface KnownObjects {
  /** Id of the stack's `Ownership`; undefined where the stack has made nothing yet. */
  readonly ownership?: string;
  readonly ids: ReadonlySet<string>;
}

const longestMs = 60_000;

/** What the text of `pulumi stack export` tells. */
export const knownObjectsIn = (text: string): KnownObjects => {
  let parsed: ReturnType<typeof state.safeParse>;
  try {
    parsed = state.safeParse(JSON.parse(text));
  } catch {
    throw new Failure("pulumi stack export printed no JSON.");
  }
  if (!parsed.success) throw new Failure("pulumi stack export printed no state of a stack.");
  const resources = parsed.data.deployment.resources ?? [];
  const ownership = resources.find(({ type }) => type === typeToken("Ownership"))?.id;
  return {
    ids: new Set(resources.flatMap(({ id }) => id ?? [])),
    ...(ownership ? { ownership } : {}),
  };
};

/**
 * Reads the state of a stack through the Pulumi CLI.
 *
 * @throws Failure where there is no CLI, no project or no stack
 */
export const readKnownObjects = async (
  folder: string,
  env: NodeJS.ProcessEnv,
  stack?: string,
): Promise<KnownObjects> => {
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined)
    throw new Failure(
      "There is no pulumi on PATH. Install it, or run this where your stacks are run.",
    );
  const args = ["stack", "export", "--non-interactive", ...(stack ? ["--stack", stack] : [])];
  const ended = await runCommand(command, args, {
    cwd: folder,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeoutMs: longestMs,
  });
  if (ended.code === 0) return knownObjectsIn(ended.stdout);
  const reason = ended.timedOut
    ? `no answer within ${longestMs / 1000} s`
    : (ended.lastLines.at(-1) ?? "no reason given");
  throw new Failure(`The state of the stack could not be read: ${reason}`);
};
