import { randomBytes } from "node:crypto";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import type { StackStates } from "../../provider/stacks/stack-states.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import { CommandFailure } from "../command.js";
import { resourceNames, type SelectionOptions, selected } from "../export/program-plan.js";
import { type ImportEntry, ownershipEntry, ownershipId } from "./import-entries.js";
import { type Candidate, divided, entryOf, type LeftObject, takeOverRefusal } from "./take-over.js";

export interface PlanImportOptions extends SelectionOptions {
  readonly profile?: string;
  /** Leave out what a stack has already, instead of refusing. */
  readonly skipManaged?: boolean;
  /** Put the secrets that the service shows into the state, encrypted. */
  readonly withSecrets?: boolean;
}

/** What is going to be imported. */
export interface ImportPlan {
  readonly taken: readonly Candidate[];
  readonly left: readonly LeftObject[];
  /** The stack's `Ownership`, where its state has none, and an entry for each object. */
  readonly entries: readonly ImportEntry[];
}

/** The stack that objects are imported into. */
export interface ImportTarget {
  readonly names: StackNames;
  readonly states: StackStates;
}

/** The id of the stack's `Ownership`, and its entry where the state has none yet. */
export const importOwnership = ({ names, states }: ImportTarget) => {
  const known = states.own.ownership;
  const ownership = known ?? ownershipId(names, randomBytes(8).toString("hex"));
  return { ownership, first: known === undefined ? [ownershipEntry(ownership, names)] : [] };
};

const advice =
  "Leave them out with --exclude, or all of them with --skip-managed. An object that a stack no longer has is " +
  "freed by: pulumi-conversation orphans --release --id <id>";

/**
 * Decides what is imported, under the names that an export gives.
 *
 * @param objects all of the account
 * @throws CommandFailure where an object may not be taken over, or there is none
 */
export const planImport = (
  objects: readonly ObjectInputs[],
  target: ImportTarget,
  options: PlanImportOptions,
): ImportPlan => {
  const names = resourceNames(objects);
  const candidates = selected(objects, options).map((object) => ({
    object,
    logical: names.get(object)?.logical ?? object.id,
  }));
  const { free, left } = divided(candidates, target.states);
  if (left.length > 0 && !options.skipManaged) throw takeOverRefusal(left, advice);
  if (candidates.length === 0)
    throw new CommandFailure("There is nothing to import: no object of the account is left.");
  const { ownership, first } = importOwnership(target);
  const { profile, withSecrets = false } = options;
  const entryOptions = { ownership, withSecrets, ...(profile ? { profile } : {}) };
  return {
    taken: free,
    left,
    entries: [...first, ...free.map((each) => entryOf(each, entryOptions))],
  };
};
