import { listCalls, usualPage } from "../../provider/service/lists.js";
import { type SetUpAction, setUpOperation } from "../../provider/service/operations.js";
import type { Endpoint } from "../../provider/service/transport.js";
import {
  accountIn,
  definitionOfType,
  type PreviewStep,
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";
import type { Forecast } from "./forecast-schema.js";

/** Consecutive calls to one endpoint. */
interface PlannedCalls {
  readonly endpoint: Endpoint;
  readonly times: number;
  /** Whether all steps of a run share these calls: the first one makes them, the others wait. */
  readonly isShared: boolean;
}

export interface PlannedStep {
  readonly urn: string;
  /** The profile or explicit provider; each counts as a tenant with buckets of its own. */
  readonly account: string | undefined;
  readonly calls: readonly PlannedCalls[];
  /** URNs of steps that must finish before this one starts, if they are in the same phase. */
  readonly after: readonly string[];
}

/** Steps that can run in parallel. A phase starts when the one before has ended. */
export type Phase = readonly PlannedStep[];

/**
 * What the lifecycle does in each of Pulumi's steps, call by call, except token requests, which have
 * no bucket. All other steps make no calls.
 */
export const sequences = {
  create: ["list", "create"],
  /** An object with a known ID. */
  adopt: ["list", "get", "update"],
  update: ["get", "update"],
  // A forced replacement is done in place. Instead of the deletion, members are removed that the
  // program no longer declares.
  replace: ["list", "get", "update", "get", "update"],
  delete: ["delete"],
  read: ["get"],
  refresh: ["list"],
} as const satisfies Readonly<Record<string, readonly SetUpAction[]>>;

type Sequence = readonly SetUpAction[];

const findSequence = ({ op, newState }: PreviewStep): Sequence => {
  const adopt = op === "create" ? newState?.inputs?.adopt : undefined;
  // The check reads the object, too.
  if (adopt) return ["get", ...sequences.adopt];
  return Object.entries(sequences).find(([name]) => name === op)?.[1] ?? [];
};

/** Everything that a resource waits for; on deletion, these wait for the resource. */
const findDependencies = (resource: StateResource): readonly string[] => {
  const { dependencies, propertyDependencies, parent, deletedWith } = resource;
  const byProperty = Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []);
  const all = [...(dependencies ?? []), ...byProperty, parent, deletedWith];
  return all.filter((urn) => urn !== undefined);
};

/** The account and kind of a resource: objects with the same one are in the same list. */
const collectionOf = (resource: StateResource): string =>
  `${accountIn(resource) ?? ""}/${resource.type}`;

type PlanStep = (resource: StateResource, sequence: Sequence) => PlannedStep;

/** @param before what exists before the run */
const stepPlanner = (before: readonly StateResource[]): PlanStep => {
  const counts = Map.groupBy(before, collectionOf);
  return (resource, sequence) => {
    const definition = definitionOfType(resource.type);
    const count = counts.get(collectionOf(resource))?.length ?? 0;
    const calls = sequence.flatMap((action) => {
      if (!definition) return [];
      const isShared = action === "list";
      const times = isShared ? listCalls(count, usualPage) : 1;
      return [{ endpoint: setUpOperation(definition, action), times, isShared }];
    });
    const { urn } = resource;
    return { urn, account: accountIn(resource), calls, after: findDependencies(resource) };
  };
};

/**
 * Plans deletions in levels, as Pulumi does. Resources that depend on nothing else that is deleted
 * are in the last one, their direct dependents in the one before, and so on; so a resource may wait
 * although nothing that depends on it is left.
 *
 * @param deleted in order of creation, as in a state
 */
const planDeletions = (deleted: readonly StateResource[], planStep: PlanStep): readonly Phase[] => {
  const levels: PlannedStep[][] = [];
  const urns = new Set(deleted.map(({ urn }) => urn));
  const depths = new Map<string, number>();
  for (const resource of deleted) {
    const { urn, retainOnDelete, external, deletedWith = "" } = resource;
    const below = findDependencies(resource).map((each) => depths.get(each) ?? -1);
    const depth = Math.max(-1, ...below) + 1;
    depths.set(urn, depth);
    // Objects that a program only looked up, or leaves in the service, are not deleted.
    const stays = retainOnDelete || external || urns.has(deletedWith);
    levels[depth] ??= [];
    levels[depth].push(planStep(resource, stays ? [] : sequences.delete));
  }
  return levels.reverse();
};

/** The state before a run, and its steps in their order, as a preview shows them. */
export interface RunDocuments {
  readonly state?: StackExport | undefined;
  readonly preview?: { readonly steps: readonly PreviewStep[] } | undefined;
}

/** Plans all steps of a run. Without a preview, a refresh or destroy is about the whole state. */
export const planRun = (
  operation: Forecast["operation"],
  { state, preview }: RunDocuments,
): readonly Phase[] => {
  const before = resourcesInState(state);
  const planStep = stepPlanner(before);
  if (!preview && operation === "destroy") return planDeletions(before, planStep);
  if (!preview) return [before.map((resource) => planStep(resource, sequences.refresh))];
  const changes = preview.steps.flatMap((step) => {
    const resource = step.op.startsWith("delete") ? undefined : (step.newState ?? step.oldState);
    return resource ? [planStep(resource, findSequence(step))] : [];
  });
  const deletions = preview.steps.filter(({ op }) => op === "delete");
  const deleted = deletions.flatMap(({ oldState }) => oldState ?? []).reverse();
  return [changes, ...planDeletions(deleted, planStep)];
};
