import {
  type Endpoint,
  type SetUpAction,
  setUpOperation,
} from "../../../provider/service/http/operations.js";
import { listCalls } from "../../../provider/service/lists.js";
import { collectionKey, type PlannedStep, type StepAction, type Workload } from "./workload.js";

/** Calls that follow each other on one endpoint. */
export interface PlannedCalls {
  readonly endpoint: Endpoint;
  /** Whose buckets these are: each profile stands for a tenant of its own. */
  readonly profile?: string | undefined;
  readonly times: number;
  /** Made once in a run for all steps with the same text, which wait for it together. */
  readonly sharedAs?: string;
  /** So many of the steps need only the first of these calls, and only the others need the rest. */
  readonly servedByFirst?: number;
}

/** Objects on a page of a list (assumed; the service may be set up otherwise). */
export const assumedPageSize = 10;

/** The life cycle of each action, call by call. */
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

/** The calls of a step in their order. An access token is not counted: it has no bucket. */
export const callsOf = (
  step: PlannedStep,
  { counts }: Pick<Workload, "counts">,
  pageSize: number = assumedPageSize,
): readonly PlannedCalls[] => {
  const { definition, profile } = step;
  if (!definition) return [];
  return sequences[step.action].map((action) => {
    const { method, template } = setUpOperation(definition, action);
    const call = { endpoint: { method, template }, profile };
    if (action !== "list") return { ...call, times: 1 };
    // One list serves all; it has a page even where there is nothing.
    const sharedAs = collectionKey(definition, profile);
    const list = { ...call, sharedAs, times: listCalls(counts.get(sharedAs) ?? 0, pageSize) };
    // Who looks for one object is content with the page that shows it.
    return step.action === "find" ? { ...list, servedByFirst: pageSize } : list;
  });
};
