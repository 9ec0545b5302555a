import { type AskedStack, messageOf, sameStack, sameStackCommand } from "../command.js";
import { withInventory } from "../inventory/inventory.js";
import {
  addToState,
  assertNoRun,
  type OpenStack,
  openStack,
  type StackOptions,
  whileAlone,
} from "../inventory/open-stack.js";
import { accountsIn, type StackAccountOptions } from "../inventory/stack-accounts.js";
import { changeOrphan, type OrphanChange } from "../orphans/orphans.js";
import { logicalName } from "../pulumi/stack-documents.js";
import { wrapped, wrappedText } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";
import {
  isRepaired,
  planRepair,
  type RepairPlan,
  type RepairResult,
  type RepairStep,
} from "./repair-plan.js";

const sentenceOf = (step: RepairStep): string => {
  switch (step.action) {
    case "record":
      return `Write ${step.kind} ${logicalName(step.urn)} into the state: the run created it as "${step.name}" (ID ${step.id}), but it is not in the state.`;
    case "forget":
      return `Remove the pending creation of ${step.kind} ${logicalName(step.urn)}: no object exists that is not in the state. If one appears, the next up adopts it.`;
    case "delete":
      return `Delete the ${step.kind} "${step.name}" (ID ${step.id}), one of two objects created for ${step.label}. The other one stays.`;
  }
};

const signOf = ({ done }: RepairStep): string => (done === undefined ? "-" : done ? "✓" : "✗");

const stepLines = (step: RepairStep): readonly string[] => [
  ...wrappedText(sentenceOf(step), `${signOf(step)} `),
  ...(step.reason === undefined ? [] : wrappedText(`Not done: ${step.reason}`, "  ")),
];

const ending = (result: RepairResult, asked: AskedStack): readonly string[] => {
  const { applied, steps } = result;
  if (steps.length === 0) return [];
  if (!applied)
    return [`To carry out these steps, run: ${sameStackCommand("repair --apply", asked)}`];
  if (!isRepaired(result)) return [];
  // What a killed `destroy` had already deleted is no longer in the state: `up` would create it.
  return [
    `The stack is repaired. To continue, run: pulumi up --refresh${sameStack(asked)}`,
    `After a killed destroy, run: pulumi destroy${sameStack(asked)}`,
  ];
};

export const repairReport = (result: RepairResult, asked: AskedStack = {}): string => {
  const { project, stack, steps, notes, left } = result;
  const name = `${project}/${stack}`;
  const heading =
    steps.length + left.length === 0
      ? `Nothing to repair: no creation of ${name} was interrupted.`
      : `A run of ${name} was interrupted:`;
  const sentences = (all: readonly string[]) => all.flatMap((text) => wrappedText(text, "! "));
  return textReport(
    [heading],
    steps.flatMap(stepLines),
    sentences(left),
    sentences(notes),
    ending(result, asked).flatMap((text) => wrapped(text, 80)),
  );
};

export interface RepairOptions extends StackOptions, StackAccountOptions, OrphanChange {
  /** Perform the steps. Default: only find them. */
  readonly apply?: true;
}

/** Writes everything that the state lacks, in one go. @returns why it was not written */
const writePlan = async (
  stack: OpenStack,
  plan: RepairPlan,
  { ignoreLock }: RepairOptions,
): Promise<string | undefined> => {
  if (plan.left.length > 0) return "the state was not written because of the problem below";
  try {
    // A run that has begun since would overwrite this state, or this one its state.
    await assertNoRun(stack, ignoreLock);
    await addToState(stack, plan.entries);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

const withOutcome = (step: RepairStep, reason: string | undefined): RepairStep => ({
  ...step,
  done: reason === undefined,
  ...(reason === undefined ? {} : { reason }),
});

/** Carries out the steps: first all that the state needs, then the deletions. */
const performPlan = async (
  plan: RepairPlan,
  stack: OpenStack,
  options: RepairOptions,
): Promise<readonly RepairStep[]> => {
  options.signal?.throwIfAborted();
  const ofState = plan.steps.filter(({ action }) => action !== "delete");
  const reason = ofState.length > 0 ? await writePlan(stack, plan, options) : undefined;
  const done = ofState.map((step) => withOutcome(step, reason));
  for (const step of plan.steps) {
    const duplicate = plan.duplicates.find(({ id }) => step.action === "delete" && step.id === id);
    if (!duplicate) continue;
    // Until the state has the object that stays, nothing shows which one that is.
    const why = reason
      ? "the state was not written"
      : await changeOrphan(duplicate, "delete", stack, options);
    done.push(withOutcome(step, why));
  }
  return done;
};

/**
 * Finds, and on demand repairs, what a killed run left of a stack: notes of creations that it
 * began, and duplicate objects. Finds objects by their marks. Lists the service before it reads the
 * states.
 *
 * @throws CommandFailure if a run or another repair is, or may be, working; ConversationError if
 * the service cannot be listed
 */
export const runRepair = async (options: RepairOptions): Promise<RepairResult> => {
  const applied = options.apply === true;
  const stack = await openStack(options);
  const repairStack = async (): Promise<RepairResult> => {
    await assertNoRun(stack, options.ignoreLock);
    return withInventory(stack, accountsIn(stack.document), options, async (inventory) => {
      const plan = await planRepair(inventory, options);
      const { notes, left } = plan;
      const { names, unread, consistent } = inventory;
      const steps = applied ? await performPlan(plan, stack, options) : plan.steps;
      return { ...names, applied, steps, notes, unread, consistent, left };
    });
  };
  return applied ? whileAlone(stack, repairStack) : repairStack();
};
