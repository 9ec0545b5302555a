import type { ForecastOperation } from "../../provider/forecast/operations.js";
import type { Documents } from "../../provider/forecast/planned-steps.js";
import { resourcesOf } from "../../provider/pulumi-cli/stack-documents.js";
import { messageOf } from "../command.js";
import { type BlastRadius, blastRadius, type PlannedChanges } from "../stack/blast-radius.js";
import { exportStack, openStack, type StackOptions } from "../stack/open-stack.js";
import { changesOfDestroy, changesOfPreview } from "../stack/planned-changes.js";
import { openAccounts, type StackAccountOptions } from "../stack/stack-accounts.js";
import { profilesIn, readStack } from "../stack/stack-reading.js";

/** What a run deletes, by its documents. */
export const plannedChanges = (
  operation: ForecastOperation,
  { preview, state }: Documents,
): PlannedChanges => {
  if (operation === "destroy") return changesOfDestroy(resourcesOf(state));
  return changesOfPreview(operation === "up" ? (preview?.steps ?? []) : []);
};

/** Who stands in the way of deletions, or why that could not be looked at. */
export type DeletionForecast = { readonly radius: BlastRadius } | { readonly unread: string };

/**
 * Looks at who still uses what a run deletes; the service is asked, by lists, only where it deletes something.
 */
export const deletionForecast = async (
  changes: PlannedChanges,
  options: StackOptions,
  accounts: StackAccountOptions,
): Promise<DeletionForecast | undefined> => {
  if (changes.deletions.length === 0) return undefined;
  try {
    const stack = await openStack(options);
    const document = await exportStack(stack.place, "clear");
    const opened = await openAccounts(stack, profilesIn(document), accounts);
    try {
      const read = await readStack(stack, document, opened);
      const kinds = read.accounts.flatMap(({ reading }) => reading.kinds);
      return { radius: blastRadius(changes, { kinds }, read.states) };
    } finally {
      await opened.close();
    }
  } catch (error) {
    accounts.signal?.throwIfAborted();
    return { unread: messageOf(error) };
  }
};
