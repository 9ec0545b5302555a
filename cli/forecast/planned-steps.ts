import type { Definition } from "../../provider/definition/define.js";
import { listCalls, usualPage } from "../../provider/service/lists.js";
import { type SetUpAction, setUpOperation } from "../../provider/service/operations.js";
import type { Endpoint } from "../../provider/service/transport.js";
import {
  accountIn,
  definitionOfType,
  type Preview,
  type PreviewStep,
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";
import type { ForecastOperation } from "./operations.js";

/** Consecutive calls to one endpoint. */
interface PlannedCalls {
  readonly endpoint: Endpoint;
  /**
   * The profile or explicit provider that the buckets belong to; each counts as a separate tenant.
   */
  readonly profile?: string | undefined;
  readonly times: number;
  /** Whether all steps of a run share these calls: the first one makes them, the others wait. */
  readonly isShared: boolean;
}

/** One step in a run. */
export interface PlannedStep {
  readonly urn: string;
  readonly calls: readonly PlannedCalls[];
  /** Steps in the same phase can run in parallel; each phase starts when the previous one ends. */
  readonly phase: number;
  /** URNs of steps that must finish before this one starts, if they are in the same phase. */
  readonly after: readonly string[];
}

/**
 * What the lifecycle does in each of Pulumi's steps, call by call, except token requests, which have
 * no bucket. All other steps make no calls.
 */
export const sequences = {
  create: ["list", "create"],
  /** An object with a known ID. */
  adopt: ["list", "get", "update"],
  update: ["get", "update"],
  // A forced replacement is done in place, and the deletion of the "old" object is skipped.
  replace: ["list", "update"],
  "create-replacement": ["list", "update"],
  delete: ["delete"],
  read: ["get"],
  "read-replacement": ["get"],
  refresh: ["list"],
} as const satisfies Readonly<Record<string, readonly SetUpAction[]>>;

type Sequence = readonly SetUpAction[];

/** @param count objects of the kind that exist before the run */
export const callsOf = (
  definition: Definition,
  sequence: Sequence,
  profile?: string,
  count = 0,
): readonly PlannedCalls[] =>
  sequence.map((action) => {
    const { method, template } = setUpOperation(definition, action);
    const isShared = action === "list";
    // A list has a page even if it is empty.
    const times = isShared ? listCalls(count, usualPage) : 1;
    return { endpoint: { method, template }, profile, times, isShared };
  });

/** Everything that a resource waits for; on deletion, these wait for the resource. */
const dependenciesOf = (resource: StateResource): readonly string[] => {
  const { dependencies, propertyDependencies, parent, deletedWith } = resource;
  const byProperty = Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []);
  return [...(dependencies ?? []), ...byProperty, parent, deletedWith].filter(
    (urn) => urn !== undefined,
  );
};

/** The account and kind of a resource: objects with the same one are in the same list. */
const collectionOf = (resource: StateResource): string =>
  `${accountIn(resource) ?? ""}/${resource.type}`;

type StepMaker = (resource: StateResource, sequence: Sequence, phase?: number) => PlannedStep;

/** @param before what exists before the run */
const stepMaker = (before: readonly StateResource[]): StepMaker => {
  const counts = Map.groupBy(before, collectionOf);
  return (resource, sequence, phase = 0) => {
    const definition = definitionOfType(resource.type);
    const count = counts.get(collectionOf(resource))?.length;
    const calls = definition ? callsOf(definition, sequence, accountIn(resource), count) : [];
    return { urn: resource.urn, calls, phase, after: dependenciesOf(resource) };
  };
};

/**
 * The phases in which Pulumi deletes. Resources that depend on nothing else that is deleted belong
 * to the last one, their direct dependents to the one before, and so on; so a resource may wait
 * although nothing that depends on it is left.
 */
const deletionSteps = (
  deleted: readonly StateResource[],
  makeStep: StepMaker,
  firstPhase = 0,
): readonly PlannedStep[] => {
  const byUrn = new Map(deleted.map((resource) => [resource.urn, resource]));
  const depths = new Map<string, number>();
  const depthOf = (urn: string): number => {
    const resource = byUrn.get(urn);
    if (!resource) return -1;
    const known = depths.get(urn);
    if (known !== undefined) return known;
    // A state that was edited by hand may contain a cycle.
    depths.set(urn, 0);
    const depth = dependenciesOf(resource).reduce((most, on) => Math.max(most, depthOf(on) + 1), 0);
    depths.set(urn, depth);
    return depth;
  };
  const deepest = deleted.reduce((most, { urn }) => Math.max(most, depthOf(urn)), 0);
  return deleted.map((resource) => {
    const { retainOnDelete, external, deletedWith = "" } = resource;
    // Objects that a program only looked up, or leaves in the service, are not deleted.
    const stays = retainOnDelete || external || byUrn.has(deletedWith);
    const phase = firstPhase + deepest - depthOf(resource.urn);
    return { ...makeStep(resource, stays ? [] : sequences.delete, phase), after: [] };
  });
};

const sequenceOf = ({ op, newState }: PreviewStep): Sequence => {
  const adopt = op === "create" ? newState?.inputs?.adopt : undefined;
  if (adopt === true) return sequences.replace;
  if (typeof adopt === "string") return sequences.adopt;
  return Object.entries(sequences).find(([name]) => name === op)?.[1] ?? [];
};

/**
 * Computes everything that a run will do.
 *
 * @param documents the preview, which only `up` needs, and the state; without it, the stack contains
 * what the preview shows
 */
export const stepsOf = (
  operation: ForecastOperation,
  documents: { readonly preview?: Preview | undefined; readonly state?: StackExport | undefined },
): readonly PlannedStep[] => {
  const steps = documents.preview?.steps ?? [];
  const shown = steps.flatMap(({ oldState }) => oldState ?? []);
  const before = documents.state ? resourcesInState(documents.state) : shown;
  const makeStep = stepMaker(before);
  if (operation === "refresh")
    return before.map((resource) => makeStep(resource, sequences.refresh));
  if (operation === "destroy") return deletionSteps(before, makeStep);
  const changed = steps.flatMap((step) => {
    const resource = step.newState ?? step.oldState;
    return resource && !step.op.startsWith("delete") ? [makeStep(resource, sequenceOf(step))] : [];
  });
  const deleted = steps.flatMap(({ op, oldState }) =>
    oldState && op === "delete" ? [oldState] : [],
  );
  return [...changed, ...deletionSteps(deleted, makeStep, 1)];
};
