import type { Documents } from "./documents.js";
import { type Preview, type PulumiResource, resourcesOf } from "./pulumi-documents.js";
import { deletionLevels } from "./simulation/deletion-levels.js";
import type { Operation } from "./simulation/operations.js";
import {
  type Action,
  countObjects,
  dependenciesOf,
  type Step,
  stepFor,
  type Workload,
} from "./simulation/workload.js";

/** What the command takes before Pulumi begins to count (measured on two cores). */
const startSeconds = 0.5;

type PreviewStep = Preview["steps"][number];

/** What the life cycle does in each of Pulumi's steps; all others make no calls. */
const actions: Readonly<Record<string, Action>> = {
  create: "create",
  update: "update",
  delete: "delete",
  // A forced replacement is done in place, and the deletion of the "old" object not at all.
  replace: "takeOver",
  "create-replacement": "takeOver",
  read: "get",
  "read-replacement": "get",
  refresh: "find",
};

const actionOf = ({ op, newState, oldState }: PreviewStep): Action => {
  const action = actions[op] ?? "none";
  const adopt = newState?.inputs?.adopt;
  if (action === "create" && adopt === true) return "takeOver";
  if (action === "create" && typeof adopt === "string") return "adopt";
  return action === "delete" ? deletion(oldState) : action;
};

/** What a program only looked up, or leaves at the service, is not deleted. */
const deletion = (resource: PulumiResource | null | undefined): Action =>
  resource?.retainOnDelete || resource?.external ? "none" : "delete";

const isDeletion = ({ op }: PreviewStep): boolean => op.startsWith("delete");

const deletionSteps = (deleted: readonly PulumiResource[], firstPhase: number): readonly Step[] => {
  const levels = deletionLevels(deleted);
  const phaseOf = (urn: string): number => firstPhase + (levels.get(urn) ?? 0);
  const gone = new Set(deleted.map(({ urn }) => urn));
  return deleted.map((resource) => {
    const { deletedWith } = resource;
    const alone = !deletedWith || !gone.has(deletedWith);
    const action = alone ? deletion(resource) : "none";
    return stepFor(resource, action, { phase: phaseOf(resource.urn), after: [] });
  });
};

/**
 * The steps of `pulumi up`. A preview leaves out what does not change, but a changed resource may
 * wait for another one through it: those come from the state.
 */
const upSteps = (preview: Preview, before: readonly PulumiResource[]): readonly Step[] => {
  const changed = new Set(preview.steps.map(({ urn }) => urn));
  const forward = preview.steps.flatMap((step): Step[] => {
    const resource = step.newState ?? step.oldState;
    if (!resource || isDeletion(step)) return [];
    return [stepFor(resource, actionOf(step), { phase: 0, after: dependenciesOf(resource) })];
  });
  const unchanged = before
    .filter(({ urn, delete: condemned }) => !changed.has(urn) && !condemned)
    .map((resource) => stepFor(resource, "none", here(resource)));
  const deleted = preview.steps.filter(isDeletion).flatMap(({ op, oldState }) => {
    return oldState && op === "delete" ? [oldState] : [];
  });
  return [...forward, ...unchanged, ...deletionSteps(deleted, 1)];
};

const here = (resource: PulumiResource) => ({ phase: 0, after: dependenciesOf(resource) });

const refreshSteps = (before: readonly PulumiResource[]): readonly Step[] =>
  before.map((resource) => stepFor(resource, "find", { phase: 0, after: [] }));

const stepsOf = (
  operation: Operation,
  before: readonly PulumiResource[],
  preview: Preview | undefined,
): readonly Step[] => {
  if (operation === "refresh") return refreshSteps(before);
  if (operation === "destroy") return deletionSteps(before, 0);
  return preview ? upSteps(preview, before) : [];
};

/** Pulumi counts nanoseconds, and not the start of the command. */
const secondsSaid = (preview: Preview | undefined): number | undefined => {
  const duration = preview?.duration;
  return typeof duration === "number" ? duration / 1e9 + startSeconds : undefined;
};

/**
 * What a run is going to do.
 *
 * @param preview of `up`; the other operations need none
 * @param state left out: the stack holds what the preview shows of it
 */
export const workloadOf = (
  operation: Operation,
  { preview, state, previewSeconds }: Documents,
): Workload => {
  const shown = preview?.steps.flatMap(({ oldState }) => oldState ?? []) ?? [];
  const before = state ? resourcesOf(state) : shown;
  const seconds = previewSeconds ?? secondsSaid(preview);
  return {
    operation,
    steps: stepsOf(operation, before, preview),
    counts: countObjects(before),
    ...(seconds === undefined ? {} : { previewSeconds: seconds }),
  };
};
