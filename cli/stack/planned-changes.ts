import type { JsonObject } from "../../provider/kernel/json.js";
import { definitionOfType, openedValues } from "../../provider/pulumi-cli/stack-documents.js";
import type { PlannedChanges, PlannedDeletion } from "./blast-radius.js";

/** A resource in one of Pulumi's documents, as far as it matters here. */
export interface DocumentedResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string | null | undefined;
  readonly inputs?: JsonObject | null | undefined;
  readonly external?: boolean | null | undefined;
  readonly retainOnDelete?: boolean | null | undefined;
}

/** A step of a preview. */
export interface DocumentedStep {
  readonly op: string;
  readonly urn: string;
  readonly oldState?: DocumentedResource | null | undefined;
  readonly newState?: DocumentedResource | null | undefined;
}

const deletionOf = (
  resource: DocumentedResource | null | undefined,
): readonly PlannedDeletion[] => {
  if (!resource?.id || resource.external || resource.retainOnDelete) return [];
  const definition = definitionOfType(resource.type);
  return definition ? [{ definition, id: resource.id, urn: resource.urn }] : [];
};

/** What an `up` deletes and changes, from its preview. A forced replacement keeps the object. */
export const changesOfPreview = (steps: readonly DocumentedStep[]): PlannedChanges => ({
  deletions: steps.flatMap(({ op, oldState }) => (op === "delete" ? deletionOf(oldState) : [])),
  inputsAfter: new Map(
    steps.flatMap(({ op, urn, newState }) =>
      newState && !op.startsWith("delete")
        ? [[urn, openedValues(newState.inputs ?? undefined)] as const]
        : [],
    ),
  ),
});

/** What a `destroy` deletes: all that the state holds. */
export const changesOfDestroy = (held: readonly DocumentedResource[]): PlannedChanges => ({
  deletions: held.flatMap(deletionOf),
  inputsAfter: new Map(),
});
