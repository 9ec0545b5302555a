import type { Definition } from "../../provider/definition/define.js";
import { listCalls, usualPage } from "../../provider/service/lists.js";
import { type SetUpAction, setUpOperation } from "../../provider/service/operations.js";
import type { Endpoint } from "../../provider/service/pace.js";
import {
  accountIn,
  definitionOfType,
  logicalName,
  type Preview,
  type PreviewStep,
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";
import type { ForecastOperation } from "./operations.js";

/** The documents that a forecast is based on. */
export interface Documents {
  /** The preview, which only `up` needs. */
  readonly preview?: Preview;
  readonly state?: StackExport;
  /**
   * Duration, in seconds, of the command that created the preview. Absent if the preview was
   * created earlier.
   */
  readonly previewSeconds?: number;
}

/**
 * What a run does with a resource. `adopt`: adopts an object specified by its ID. `takeOver`:
 * updates an object found in the list. `find`: searches the list for an object. `get`: reads an
 * object by its ID. `none`: makes no calls.
 */
export type StepAction =
  | "create"
  | "adopt"
  | "takeOver"
  | "update"
  | "delete"
  | "find"
  | "get"
  | "none";

/** One step in a run. */
export interface PlannedStep {
  readonly urn: string;
  /** Name for display, such as `Participant orders`. */
  readonly label: string;
  readonly action: StepAction;
  /** Definition of the object's kind. Absent if the step is not for an object in the service. */
  readonly definition?: Definition | undefined;
  readonly profile?: string | undefined;
  /**
   * Phase of the step. Steps in the same phase can run in parallel; each phase starts when the
   * previous one ends.
   */
  readonly phase: number;
  /** URNs of steps in the same phase that must finish before this one starts. */
  readonly after: readonly string[];
}

/** Everything that a run will do. */
export interface Workload {
  readonly operation: ForecastOperation;
  readonly steps: readonly PlannedStep[];
  /** Number of objects that exist before the run, by {@link collectionKey}. */
  readonly counts: ReadonlyMap<string, number>;
  /** Duration of the preview, in seconds. Absent if unknown. */
  readonly previewSeconds?: number | undefined;
}

/** A collection of one tenant. */
const collectionKey = (definition: Definition, profile: string | undefined): string =>
  `${profile ?? ""}/${definition.collection}`;

/** Consecutive calls to one endpoint. */
export interface PlannedCalls {
  readonly endpoint: Endpoint;
  /**
   * The profile or explicit provider that the buckets belong to; each counts as a separate tenant.
   */
  readonly profile?: string | undefined;
  readonly times: number;
  /**
   * Key of calls that are made only once per run; all steps with the same key wait for the same
   * calls.
   */
  readonly sharedAs?: string;
}

/** The lifecycle of each action, call by call. */
const sequences: Readonly<Record<StepAction, readonly SetUpAction[]>> = {
  create: ["list", "create"],
  takeOver: ["list", "update"],
  adopt: ["list", "get", "update"],
  update: ["get", "update"],
  delete: ["delete"],
  find: ["list"],
  get: ["get"],
  none: [],
};

/** Returns a step's calls in order, except token requests, which have no bucket. */
export const callsOf = (
  step: PlannedStep,
  { counts }: Pick<Workload, "counts">,
): readonly PlannedCalls[] => {
  const { definition, profile } = step;
  if (!definition) return [];
  return sequences[step.action].map((action) => {
    const { method, template } = setUpOperation(definition, action);
    const call = { endpoint: { method, template }, profile };
    if (action !== "list") return { ...call, times: 1 };
    // One list serves all; it has a page even if it is empty.
    const sharedAs = collectionKey(definition, profile);
    return { ...call, sharedAs, times: listCalls(counts.get(sharedAs) ?? 0, usualPage) };
  });
};

/** `Participant orders`, from the end of the type and of the URN. */
const labelOf = ({ type, urn }: StateResource): string =>
  `${type.split(/[:/]/).at(-1) ?? type} ${logicalName(urn)}`;

/** Everything that a resource waits for; on deletion, these wait for the resource. */
const dependenciesOf = (resource: StateResource): readonly string[] => {
  const { dependencies, propertyDependencies, parent, deletedWith } = resource;
  const byProperty = Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []);
  const all = [...(dependencies ?? []), ...byProperty, parent, deletedWith];
  return [...new Set(all.filter((urn): urn is string => typeof urn === "string" && urn !== ""))];
};

/**
 * Returns a step for a resource. The step makes no calls if the resource does not belong to any
 * kind.
 */
export const stepFor = (
  resource: StateResource,
  action: StepAction,
  phase = 0,
  after: readonly string[] = [],
): PlannedStep => {
  const definition = definitionOfType(resource.type);
  return {
    urn: resource.urn,
    label: labelOf(resource),
    action: definition ? action : "none",
    phase,
    after,
    definition,
    profile: accountIn(resource),
  };
};

/** Counts the objects among resources by what `keyOf` says of each. */
const counted = (
  all: readonly StateResource[],
  keyOf: (definition: Definition, resource: StateResource) => string,
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const resource of all) {
    const definition = definitionOfType(resource.type);
    if (!definition) continue;
    const key = keyOf(definition, resource);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
};

/**
 * The order in which Pulumi deletes: in levels, each of which ends before the next begins.
 * Resources that depend on nothing else that is deleted belong to the last level, their direct
 * dependents to the one before, and so on; so a resource may wait although nothing that depends on
 * it is left.
 *
 * @returns the number of its level for each URN, from 0
 */
const deletionLevels = (deleted: readonly StateResource[]): ReadonlyMap<string, number> => {
  const byUrn = new Map(deleted.map((resource) => [resource.urn, resource]));
  const depths = new Map<string, number>();
  const depthOf = (urn: string): number => {
    const known = depths.get(urn);
    if (known !== undefined) return known;
    // A state that was edited by hand may contain a cycle.
    depths.set(urn, 0);
    const resource = byUrn.get(urn);
    const below = resource ? dependenciesOf(resource).filter((other) => byUrn.has(other)) : [];
    const depth = below.reduce((most, other) => Math.max(most, depthOf(other) + 1), 0);
    depths.set(urn, depth);
    return depth;
  };
  const deepest = deleted.reduce((most, { urn }) => Math.max(most, depthOf(urn)), 0);
  return new Map(deleted.map(({ urn }) => [urn, deepest - depthOf(urn)]));
};

/** Duration of the command before Pulumi begins to count (measured on two cores). */
const startSeconds = 0.5;

/** The action of the lifecycle in each of Pulumi's steps; all others make no calls. */
const actions: Readonly<Record<string, StepAction>> = {
  create: "create",
  update: "update",
  delete: "delete",
  // A forced replacement is done in place, and the deletion of the "old" object is skipped.
  replace: "takeOver",
  "create-replacement": "takeOver",
  read: "get",
  "read-replacement": "get",
  refresh: "find",
};

const actionOf = ({ op, newState, oldState }: PreviewStep): StepAction => {
  const action = actions[op] ?? "none";
  const adopt = newState?.inputs?.adopt;
  if (action === "create" && adopt === true) return "takeOver";
  if (action === "create" && typeof adopt === "string") return "adopt";
  return action === "delete" ? deletion(oldState) : action;
};

/** Objects that a program only looked up, or leaves in the service, are not deleted. */
const deletion = (resource: StateResource | null | undefined): StepAction =>
  resource?.retainOnDelete || resource?.external ? "none" : "delete";

const deletionSteps = (
  deleted: readonly StateResource[],
  firstPhase: number,
): readonly PlannedStep[] => {
  const levels = deletionLevels(deleted);
  const gone = new Set(deleted.map(({ urn }) => urn));
  return deleted.map((resource) => {
    const action = gone.has(resource.deletedWith ?? "") ? "none" : deletion(resource);
    return stepFor(resource, action, firstPhase + (levels.get(resource.urn) ?? 0));
  });
};

/**
 * The steps of `pulumi up`. A preview omits resources that do not change, but a changed resource
 * may wait for another one through them: those come from the state.
 */
const upSteps = (preview: Preview, before: readonly StateResource[]): readonly PlannedStep[] => {
  const changed = new Set(preview.steps.map(({ urn }) => urn));
  const forward = preview.steps.flatMap((step): PlannedStep[] => {
    const resource = step.newState ?? step.oldState;
    if (!resource || step.op.startsWith("delete")) return [];
    return [stepFor(resource, actionOf(step), 0, dependenciesOf(resource))];
  });
  const unchanged = before
    .filter(({ urn, delete: condemned }) => !changed.has(urn) && !condemned)
    .map((resource) => stepFor(resource, "none", 0, dependenciesOf(resource)));
  const deleted = preview.steps.flatMap(({ op, oldState }) =>
    oldState && op === "delete" ? [oldState] : [],
  );
  return [...forward, ...unchanged, ...deletionSteps(deleted, 1)];
};

const stepsOf = (
  operation: ForecastOperation,
  before: readonly StateResource[],
  preview: Preview | undefined,
): readonly PlannedStep[] => {
  if (operation === "refresh") return before.map((resource) => stepFor(resource, "find"));
  if (operation === "destroy") return deletionSteps(before, 0);
  return preview ? upSteps(preview, before) : [];
};

/** Pulumi counts nanoseconds, without the start of the command. */
const secondsSaid = (preview: Preview | undefined): number | undefined => {
  const duration = preview?.duration;
  return typeof duration === "number" ? duration / 1e9 + startSeconds : undefined;
};

/**
 * Computes everything that a run will do.
 *
 * @param preview for `up`; other operations do not need one
 * @param state if omitted, the stack is assumed to contain what the preview shows
 */
export const workloadOf = (
  operation: ForecastOperation,
  { preview, state, previewSeconds }: Documents,
): Workload => {
  const shown = preview?.steps.flatMap(({ oldState }) => oldState ?? []) ?? [];
  const before = state ? resourcesInState(state) : shown;
  return {
    operation,
    steps: stepsOf(operation, before, preview),
    counts: counted(before, (kind, resource) => collectionKey(kind, accountIn(resource))),
    previewSeconds: previewSeconds ?? secondsSaid(preview),
  };
};
