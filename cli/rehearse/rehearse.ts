import { sameJson } from "../../provider/kernel/json.js";
import { CommandFailure, sameStackCommand } from "../command.js";
import { forecast } from "../forecast/forecast.js";
import { exportStack, openStack, type StackOptions } from "../inventory/open-stack.js";
import { pendingOperations } from "../pulumi/stack-states.js";
import { readAccounts } from "./accounts.js";
import { readOriginal } from "./original-stack.js";
import { doneSteps, outcomeOf } from "./outcome.js";
import type { Rehearsal } from "./rehearsal-schema.js";
import { type RehearseOptions, runOnCopy } from "./run-on-copy.js";

/**
 * Reads the account and the stack, and runs Pulumi on a copy of both. The service gets lists only; the
 * stack's state and its files are not written.
 *
 * @throws CommandFailure if the stack cannot be read, or was changed meanwhile; ConversationError if
 * the service cannot be read
 */
export const rehearse = async (options: RehearseOptions & StackOptions): Promise<Rehearsal> => {
  const { operation, say } = options;
  const stack = await openStack(options);
  const original = await readOriginal(stack);
  const { accounts, conditions, notes } = await readAccounts(original, options);
  say(`Rehearsing pulumi ${operation} on a copy …`);
  const run = await runOnCopy({ ...options, original, accounts });
  const now = await exportStack(stack.place, "clear");
  if (!sameJson(now.deployment, original.document.deployment))
    throw new CommandFailure(
      "Another process changed the stack's state during the rehearsal, so the result is out of date. Rehearse again.",
    );
  const steps = doneSteps(run, original);
  const documents = { state: original.document, preview: { steps } };
  const { totalSeconds } = run.starts
    ? forecast(operation, documents, conditions)
    : { totalSeconds: 0 };
  return {
    ...{ operation, ...stack.names, plan: conditions.plan, parallel: conditions.parallel },
    outcome: { ...outcomeOf(run, original, steps), totalSeconds },
    notes: [
      ...(pendingOperations(now).length > 0
        ? [
            `A run is in progress or was interrupted: the state contains pending operations. To see what it left behind and what to do, run: ${sameStackCommand("repair", options)}`,
          ]
        : []),
      ...notes,
      ...run.missing,
    ],
  };
};
