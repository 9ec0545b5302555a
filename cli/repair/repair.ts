import { ownCommand } from "../../provider/kernel/package.js";
import { messageOf } from "../command.js";
import { withInventory } from "../inventory/inventory.js";
import {
  exportStack,
  type OpenStack,
  openStack,
  type StackOptions,
  whileAlone,
  writeToState,
} from "../inventory/open-stack.js";
import { accountsIn, type StackAccountOptions } from "../inventory/stack-accounts.js";
import { changeOrphan } from "../orphans/orphans.js";
import { logicalName, type StackExport } from "../pulumi/stack-documents.js";
import { wrappedText } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";
import { assertNoRun, fileRemains, lockRemains } from "./remains.js";
import {
  isRepaired,
  planRepair,
  type RepairPlan,
  type RepairResult,
  type RepairStep,
} from "./repair-plan.js";

const reasons = {
  held: "the state contains its object",
  "not-made": "no object exists yet; if one appears, the next up adopts it",
  deletion: "its object may already be deleted",
  again: "the next run repeats the operation",
} as const;

/** What a step does, in a sentence. */
const sentenceOf = (step: RepairStep): string => {
  switch (step.action) {
    case "remove-cut-off-files":
      return `Remove ${step.files.length === 1 ? "a file" : `${step.files.length} files`} that the killed run left empty, so that Pulumi can read the state: ${step.files.join(" ")}`;
    case "restore-state":
      return `Replace the truncated state (${step.file}) with the newest copy that Pulumi keeps (${step.copy}). The next repair finds the objects created in the service since then.`;
    case "cancel":
      return `Remove the lock (pulumi cancel): ${step.by}`;
    case "record":
      return `Write ${step.kind} ${logicalName(step.urn)} into the state: the run created it as "${step.name}" (ID ${step.id}), but it is not in the state.`;
    case "refresh":
      return `Write the current content of ${step.kind} ${logicalName(step.urn)} (ID ${step.id}) into the state, because its update was interrupted.`;
    case "forget":
      return `Remove the pending operation on ${step.kind} ${logicalName(step.urn)}: ${reasons[step.why]}.`;
    case "delete":
      return `Delete the ${step.kind} "${step.name}" (ID ${step.id}), one of two objects created for ${step.label}. The other one stays.`;
  }
};

const signOf = ({ done }: RepairStep): string => (done === undefined ? "-" : done ? "✓" : "✗");

const stepLines = (step: RepairStep): readonly string[] => [
  ...wrappedText(sentenceOf(step), `${signOf(step)} `),
  ...(step.reason === undefined ? [] : wrappedText(`Not done: ${step.reason}`, "  ")),
];

const ending = (result: RepairResult): readonly string[] => {
  const { applied, steps } = result;
  if (steps.length === 0) return [];
  if (!applied) return [`To carry out these steps, run: ${ownCommand("repair --apply")}`];
  if (!isRepaired(result)) return [];
  // What a killed `destroy` had already deleted is no longer in the state: `up` would create it.
  const wasDeleting = steps.some((step) => step.action === "forget" && step.why === "deletion");
  if (!wasDeleting) return ["The stack is repaired. To continue, run: pulumi up"];
  return [
    "The stack is repaired. The killed run was deleting objects. To continue:",
    "  pulumi destroy       deletes everything that is left in the stack",
    "  pulumi up --refresh  also creates deleted objects that the program declares",
  ];
};

/** The results and actions, for people, within 80 columns. */
export const repairReport = (result: RepairResult): string => {
  const { project, stack, steps, notes, left } = result;
  const name = project ? `${project}/${stack}` : stack || "the selected stack";
  const heading =
    steps.length + left.length === 0
      ? `Nothing to repair: no run of ${name} was interrupted.`
      : `A run of ${name} was interrupted:`;
  const sentences = (all: readonly string[]) => all.flatMap((text) => wrappedText(text, "! "));
  return textReport(
    [heading],
    steps.flatMap(stepLines),
    sentences(left),
    sentences(notes),
    ending(result),
  );
};

export interface RepairOptions extends StackOptions, StackAccountOptions {
  /** Perform the steps. Default: only find them. */
  readonly apply?: true;
  /** Go on if the run that holds the lock may not have ended. */
  readonly ignoreLock?: true;
}

/** Writes everything that the state lacks, in one go. @returns why it was not written */
const writePlan = async (
  stack: OpenStack,
  before: StackExport,
  plan: RepairPlan,
  options: RepairOptions,
): Promise<string | undefined> => {
  if (plan.left.length > 0) return "the state was not written because of the problem below";
  try {
    // A run that has begun since would overwrite this state, or this one its state.
    await assertNoRun(stack, options);
    await writeToState(stack.place, before, plan.entries);
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
  before: StackExport,
  stack: OpenStack,
  options: RepairOptions,
): Promise<readonly RepairStep[]> => {
  options.signal?.throwIfAborted();
  const ofState = plan.steps.filter(({ action }) => action !== "delete");
  const reason = ofState.length > 0 ? await writePlan(stack, before, plan, options) : undefined;
  const done = ofState.map((step) => withOutcome(step, reason));
  for (const step of plan.steps) {
    const duplicate = plan.duplicates.find(({ id }) => step.action === "delete" && step.id === id);
    if (!duplicate) continue;
    // Until the state has the object that stays, nothing shows which one that is.
    const why = reason
      ? "the state was not written"
      : await changeOrphan(duplicate, "delete", stack, () => assertNoRun(stack, options));
    done.push(withOutcome(step, why));
  }
  return done;
};

const torn =
  "After these steps, run the command again: only then can it read the state and find further steps.";

/**
 * Finds, and on demand repairs, what a killed run left of a stack: its lock, notes of creations that
 * it began, and duplicate objects. Finds objects by their marks. Lists the
 * service before it reads the states.
 *
 * @throws CommandFailure if a run or another repair is, or may be, working; ConversationError if
 * the service cannot be listed
 */
export const runRepair = async (options: RepairOptions): Promise<RepairResult> => {
  const applied = options.apply === true;
  const files = await fileRemains(options);
  if (files.length > 0 && !applied) {
    const names = { project: "", stack: options.stack ?? "" };
    const nothing = { unread: [], consistent: true, left: [] };
    return { ...names, applied, steps: files, notes: [torn], ...nothing };
  }
  const stack = await openStack(options);
  const repairStack = async (): Promise<RepairResult> => {
    const remains = await lockRemains(stack, options);
    const document = await exportStack(stack.place, "clear");
    const names = accountsIn(document);
    return withInventory(stack, document, names, options, async (inventory) => {
      const plan = await planRepair(inventory);
      const { notes, left } = plan;
      const { unread, consistent } = inventory;
      const rest = applied ? await performPlan(plan, document, stack, options) : plan.steps;
      const steps = [...files, ...remains, ...rest];
      return { ...stack.names, applied, steps, notes, unread, consistent, left };
    });
  };
  return applied ? whileAlone(stack, repairStack) : repairStack();
};
