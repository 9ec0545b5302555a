import {
  definitionOfType,
  openedValues,
  type PreviewStep,
  type StateResource,
} from "../../provider/pulumi-cli/stack-documents.js";
import type { PlannedChanges, PlannedDeletion } from "./blast-radius.js";

const deletionOf = (resource: StateResource | null | undefined): readonly PlannedDeletion[] => {
  if (!resource?.id || resource.external || resource.retainOnDelete) return [];
  const definition = definitionOfType(resource.type);
  return definition ? [{ definition, id: resource.id, urn: resource.urn }] : [];
};

/** What an `up` deletes and changes, from its preview. A forced replacement keeps the object. */
export const changesOfPreview = (steps: readonly PreviewStep[]): PlannedChanges => ({
  deletions: steps.flatMap(({ op, oldState }) => (op === "delete" ? deletionOf(oldState) : [])),
  inputsAfter: new Map(
    steps.flatMap(({ op, urn, newState }) =>
      newState && !op.startsWith("delete") ? [[urn, openedValues(newState.inputs)] as const] : [],
    ),
  ),
});

/** What a `destroy` deletes: all that the state holds. */
export const changesOfDestroy = (held: readonly StateResource[]): PlannedChanges => ({
  deletions: held.flatMap(deletionOf),
  inputsAfter: new Map(),
});
