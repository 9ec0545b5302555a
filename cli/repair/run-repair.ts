import type { Orphan } from "../../provider/lifecycle/ownership/orphans.js";
import { CommandFailure, messageOf } from "../command.js";
import { changeOrphan } from "../orphans/orphan-changes.js";
import { type OpenStack, openStack, type StackOptions } from "../stack/open-stack.js";
import { openAccounts, type StackAccountOptions } from "../stack/stack-accounts.js";
import { exportStack, type StackExport } from "../stack/stack-export.js";
import { profilesIn, readStack } from "../stack/stack-reading.js";
import { whileAlone } from "../stack/while-alone.js";
import { writeToState } from "../stack/write-state.js";
import { type Duplicate, type RepairPlan, repairPlan } from "./repair-plan.js";
import type { RepairResult, RepairStep } from "./repair-steps.js";
import { assertNoRun, fileRemains, lockRemains } from "./run-remains.js";

export interface RepairOptions extends StackOptions, StackAccountOptions {
  /** Perform the steps. Default: only find them. */
  readonly apply?: true;
  /** Go on where it cannot be seen whether the run that holds the lock still lives. */
  readonly ignoreLock?: true;
}

/** Writes all that the state lacks, at once. @returns why it was not written */
const written = async (
  stack: OpenStack,
  before: StackExport,
  plan: RepairPlan,
  options: RepairOptions,
): Promise<string | undefined> => {
  if (plan.left.length > 0) return "see below: the state is written once that is settled";
  try {
    // A run that has begun since would write its own state over this one, or this one over that.
    await assertNoRun(stack, options);
    await writeToState(stack.place, before, plan.entries);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** Looks once more, right before an object is deleted. */
const assertStillSurplus = async (
  { definition, id }: Orphan,
  stack: OpenStack,
  options: RepairOptions,
): Promise<void> => {
  await assertNoRun(stack, options);
  const holder = (await stack.readStates("own")).holdersOf(definition.kind, id)[0];
  if (holder) throw new CommandFailure(`a run has taken it over since: ${holder.urn}`);
};

const deleted = async (
  { orphan, account }: Duplicate,
  stack: OpenStack,
  options: RepairOptions,
): Promise<string | undefined> => {
  const purpose = { done: "deleted", option: "--delete" } as const;
  const still = () => assertStillSurplus(orphan, stack, options);
  return (await changeOrphan(orphan, purpose, account.access, still)).reason;
};

const outcome = (step: RepairStep, reason: string | undefined): RepairStep => ({
  ...step,
  done: reason === undefined,
  ...(reason === undefined ? {} : { reason }),
});

const performed = async (
  plan: RepairPlan,
  before: StackExport,
  stack: OpenStack,
  options: RepairOptions,
): Promise<readonly RepairStep[]> => {
  options.signal?.throwIfAborted();
  const ofState = plan.steps.filter(({ action }) => action !== "delete");
  const reason = ofState.length > 0 ? await written(stack, before, plan, options) : undefined;
  const done = ofState.map((step) => outcome(step, reason));
  for (const step of plan.steps) {
    const duplicate = plan.duplicates.find(
      ({ orphan }) => step.action === "delete" && step.id === orphan.id,
    );
    if (!duplicate) continue;
    // Until the state has the object that stays, nothing tells which of them that is.
    const why = reason ? "the state was not written" : await deleted(duplicate, stack, options);
    done.push(outcome(step, why));
  }
  return done;
};

const ofStateAndService = async (
  stack: OpenStack,
  options: RepairOptions,
): Promise<Pick<RepairResult, "steps" | "notes" | "left">> => {
  const document = await exportStack(stack.place, "clear");
  const opened = await openAccounts(stack, profilesIn(document), options);
  try {
    const plan = await repairPlan({
      ...(await readStack(stack, document, opened)),
      names: stack.names,
    });
    const { notes, left, steps } = plan;
    if (!options.apply) return { steps, notes, left };
    return { steps: await performed(plan, document, stack, options), notes, left };
  } finally {
    await opened.close();
  }
};

const torn = "The state cannot be read before that is done; what else there is to do shows then.";

/**
 * Finds, and on demand does, what brings a stack in order after a run that was killed: its lock, its
 * processes, the notes of creations that it began, and objects that are there twice. Objects are found
 * by their marks. The service is listed before the states are read.
 *
 * @throws CommandFailure where a run, or another repair, is at work, or may be; ConversationError where the service cannot be listed
 */
export const runRepair = async (options: RepairOptions): Promise<RepairResult> => {
  const applied = options.apply === true;
  const files = await fileRemains(options);
  const isTorn = files.length > 0 && !applied;
  const stack = await openStack(options).catch((error: unknown) => {
    if (isTorn) return undefined;
    throw error;
  });
  if (!stack) {
    const names = { project: "", stack: options.stack ?? "" };
    return { ...names, applied, steps: files, notes: [torn], left: [] };
  }
  const inOrder = async (): Promise<RepairResult> => {
    const remains = await lockRemains(stack, options);
    const rest = await ofStateAndService(stack, options);
    return { ...stack.names, applied, ...rest, steps: [...files, ...remains, ...rest.steps] };
  };
  return applied ? whileAlone(stack, inOrder) : inOrder();
};
