import type { Definition } from "../../../provider/definition/define.js";

/** The runs of Pulumi that can be forecast. */
export const forecastOperations = ["up", "refresh", "destroy"] as const;

export type ForecastOperation = (typeof forecastOperations)[number];

/**
 * What a run does with a resource. `adopt`: takes over an object that is named by its id. `find`:
 * looks at it through the list. `get`: looks it up by its id. `none`: no calls.
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

/** One step of a run. */
export interface PlannedStep {
  readonly urn: string;
  /** For people, such as `Participant orders`. */
  readonly label: string;
  readonly action: StepAction;
  /** Left out: not an object of the service. */
  readonly definition?: Definition | undefined;
  readonly profile?: string | undefined;
  /** Steps of one phase may run together; a phase begins when the one before has ended. */
  readonly phase: number;
  /** URNs of steps of the same phase that come before. */
  readonly after: readonly string[];
}

/** Everything that a run is going to do. */
export interface Workload {
  readonly operation: ForecastOperation;
  readonly steps: readonly PlannedStep[];
  /** Objects that are there before the run, by {@link collectionKey}. */
  readonly counts: ReadonlyMap<string, number>;
  /** How long Pulumi took for the preview, in seconds. Left out: there was none. */
  readonly previewSeconds?: number | undefined;
}

/** A collection of one tenant. */
export const collectionKey = (definition: Definition, profile: string | undefined): string =>
  `${profile ?? ""}/${definition.collection}`;
