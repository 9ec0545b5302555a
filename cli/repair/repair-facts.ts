import {
  type MarkedObject,
  markedObject,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import type { AccountReading } from "../account/read-account.js";
import type { PendingOperation, StackExport, StateResource } from "../stack/stack-export.js";
import { type AccountRead, isOurType, type StackReading } from "../stack/stack-reading.js";

/** All that a repair decides by. */
export interface RepairFacts extends StackReading {
  readonly names: StackNames;
}

/** What a run began on resources of ours and did not report on; of one resource the last. */
export const pendingOperations = ({ deployment }: StackExport): readonly PendingOperation[] => {
  const ours = (deployment.pending_operations ?? []).filter(({ resource }) =>
    isOurType(resource.type),
  );
  return [...new Map(ours.map((each) => [each.resource.urn, each])).values()];
};

/** The resource of a state that stands for an object under a URN, if there is one. */
export const heldResource = (
  { deployment }: StackExport,
  urn: string,
): (StateResource & { readonly id: string }) | undefined => {
  for (const resource of deployment.resources ?? [])
    if (resource.urn === urn && resource.delete !== true && resource.id)
      return { ...resource, id: resource.id };
  return undefined;
};

/** What a run began on resources of other packages and did not report on. */
export const foreignOperations = ({ deployment }: StackExport): readonly PendingOperation[] =>
  (deployment.pending_operations ?? []).filter(({ resource }) => !isOurType(resource.type));

const known = new WeakMap<AccountReading, readonly MarkedObject[]>();

/** What carries a mark in an account. */
export const markedIn = ({ reading }: AccountRead): readonly MarkedObject[] => {
  const marked =
    known.get(reading) ??
    reading.kinds.flatMap(({ definition, objects }) =>
      [...objects].flatMap(([id, wire]) => markedObject(definition, id, wire) ?? []),
    );
  known.set(reading, marked);
  return marked;
};
