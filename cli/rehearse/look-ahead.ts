import { existsSync, readFileSync } from "node:fs";
import { typeToken } from "../../provider/pointer.js";
import type { StackState } from "../../provider/stacks/stack-states.js";
import { CommandFailure } from "../command.js";
import { readDocument } from "../forecast/documents.js";
import type { Ended } from "../process/run-command.js";
import { definitionOfType } from "../stack/stack-export.js";
import type { CopiedStack } from "./copy/copied-stack.js";
import type { OriginalStack } from "./copy/original-stack.js";
import {
  type ReferencedStack,
  readReferenced,
  stackReferencesIn,
  unknownStackIn,
} from "./copy/referenced-stacks.js";
import { type EngineRun, engineRunIn } from "./outcome/engine-events.js";
import {
  asksToRefresh,
  excluding,
  forPreview,
  forSecondLook,
  isPart,
  namesTargets,
  runsProgram,
} from "./run-options.js";

/** What is known of a run before it: the same for every run on a copy of the same. */
export interface LookAhead {
  /** URNs of what is not run, as it reaches beyond the account. */
  readonly leftOut: readonly string[];
  /** URNs of what is to be deleted. */
  readonly deletions: readonly string[];
  /** Stacks to which the program refers. */
  readonly referenced: readonly ReferencedStack[];
  /** What could not be copied, each a sentence. */
  readonly missing: readonly string[];
}

/** What is looked at, and which resources of other packages count as ours. */
export interface LookAheadOptions {
  readonly operation: "up" | "destroy";
  readonly original: OriginalStack;
  /** Options of the run as the person gives them. */
  readonly args: readonly string[];
  /** Types of other packages that are run, too. */
  readonly also: readonly string[];
  /** Whether the program is answered that this is no dry run, as in a real update. */
  readonly runsEffects: boolean;
}

/** Steps that change something. */
const changing = /create|update|delete|replace|import/;

const ownTypes = new Set([typeToken("Ownership"), "pulumi:pulumi:Stack"]);

const isRun = (type: string, custom: boolean, also: readonly string[]): boolean =>
  !custom ||
  ownTypes.has(type) ||
  /^pulumi:(providers:|pulumi:StackReference$)/.test(type) ||
  definitionOfType(type) !== undefined ||
  also.includes(type);

/** Resources of the state that reach beyond the account. */
const foreignIn = ({ original, also }: LookAheadOptions): readonly string[] =>
  (original.document.deployment.resources ?? []).flatMap(({ type, urn, custom }) =>
    isRun(type, custom === true, also) ? [] : [urn],
  );

/** What the engine says of its last run on a copy. */
export const eventsOf = ({ eventFile }: CopiedStack): EngineRun =>
  engineRunIn(existsSync(eventFile) ? readFileSync(eventFile, "utf8") : "");

/** @throws CommandFailure where the program would not see a dry run: it would do for real what it guards with that */
const assertDryRun = (copy: CopiedStack, { runsEffects }: LookAheadOptions): void => {
  if (runsEffects || copy.hasSeenDryRun()) return;
  throw new CommandFailure(
    "Nothing was rehearsed: the program would not see a dry run, and do for real whatever it guards with pulumi.runtime.isDryRun(). " +
      "Only programs that run on Node.js with @pulumi/pulumi 3.216 or newer see one. With --run-effects it is rehearsed as it is.",
  );
};

/** A preview on the copy, with the outputs of the stacks that the program turns out to refer to. */
const previewWith = async (
  copy: CopiedStack,
  { original, args }: LookAheadOptions,
  leaving: readonly string[],
) => {
  const referenced: ReferencedStack[] = [];
  const missing: string[] = [];
  const asked = new Set<string>();
  const add = async (name: string): Promise<boolean> => {
    if (asked.has(name)) return false;
    asked.add(name);
    const read = await readReferenced(original.stack, name);
    if (!read) return false;
    if ("problem" in read) missing.push(read.problem);
    else {
      referenced.push(read);
      copy.addStack(read);
    }
    return !("problem" in read);
  };
  for (const name of stackReferencesIn(original.document)) await add(name);
  for (;;) {
    const words = ["preview", "--json", "--event-log", copy.eventFile];
    const ended = await copy.pulumi([...words, ...leaving, ...forPreview(args)]);
    const unknown = unknownStackIn(eventsOf(copy).errors.map(({ message }) => message));
    // New in the program, so that no state tells of it.
    if (ended.code !== 0 && unknown !== undefined && (await add(unknown))) continue;
    return { ended, referenced, missing };
  }
};

/**
 * What a preview tells: why it was refused, or which steps are of packages that are not run. Without it
 * nothing is run, whatever options a person gives: it is what keeps a run from reaching beyond the account.
 */
const lookAtPreview = async (copy: CopiedStack, options: LookAheadOptions) => {
  const { args, also } = options;
  // A refresh asks the services of the others for what they have.
  const unread = asksToRefresh(args) ? foreignIn(options) : [];
  const { ended, ...found } = await previewWith(copy, options, excluding(unread, args));
  const preview = ended.code === 0 ? readDocument(ended.stdout)?.preview : undefined;
  if (!preview) return { ended, leftOut: unread, deletions: [], ...found };
  assertDryRun(copy, options);
  const foreign = preview.steps.flatMap(({ op, urn, newState, oldState }) => {
    const resource = newState ?? oldState;
    const isForeign = resource && !isRun(resource.type, resource.custom === true, also);
    return isForeign && changing.test(op) ? [urn] : [];
  });
  if (foreign[0] !== undefined && namesTargets(args))
    throw new CommandFailure(
      `The run would change ${foreign[0]}, which is no object of the account, and Pulumi leaves nothing out beside --target. Rehearse without that target, or allow its type with --also.`,
      2,
    );
  const deletions = preview.steps.filter(({ op }) => op === "delete").map(({ urn }) => urn);
  return { leftOut: [...new Set([...unread, ...foreign])], deletions, ...found };
};

/**
 * Looks what a run on a copy is going to do.
 *
 * @returns `ended` where the preview was refused, so that there is nothing to run
 */
export const lookAhead = async (
  copy: CopiedStack,
  { holdings }: StackState,
  options: LookAheadOptions,
): Promise<LookAhead & { readonly ended?: Ended }> => {
  const { operation, args, original } = options;
  if (operation === "up") return lookAtPreview(copy, options);
  const deletions = isPart(args) ? [] : holdings.map(({ urn }) => urn);
  const ahead = { leftOut: foreignIn(options), deletions, referenced: [], missing: [] };
  if (!runsProgram(args, original.stack.env)) return ahead;
  const leaving = excluding(ahead.leftOut, args);
  const words = ["destroy", "--preview-only", "--event-log", copy.eventFile];
  const ended = await copy.pulumi([...words, ...leaving, ...forPreview(args)]);
  if (ended.code !== 0) return { ...ahead, ended };
  assertDryRun(copy, options);
  return ahead;
};

/** Whether nothing is left to be done by a second run, and nothing has changed outside. */
export const comesToRest = async (
  copy: CopiedStack,
  options: LookAheadOptions,
  { leftOut }: LookAhead,
): Promise<boolean> => {
  const args = ["--refresh", ...forSecondLook(options.args)];
  const leaving = excluding([...new Set([...foreignIn(options), ...leftOut])], args);
  const ended = await copy.pulumi(["preview", "--json", ...leaving, ...args]);
  const preview = ended.code === 0 ? readDocument(ended.stdout)?.preview : undefined;
  return (
    preview?.steps.every(({ op, urn }) => !changing.test(op) || leftOut.includes(urn)) ?? false
  );
};
