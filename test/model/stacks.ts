import type { Name, Refresh, StateEdit, Up } from "./scenario.js";
import type { HeldEntry } from "./verdict.js";

/** The old names of resources by the new one. */
export type Aliases = Readonly<Partial<Record<Name, readonly Name[]>>>;

/** A run with all that a person says besides the program. */
export interface EngineUp extends Omit<Up, "adopt"> {
  readonly adopts?: ReadonlyMap<Name, true | string>;
  /** Registered before others of their kind. */
  readonly first?: readonly Name[];
  /** Resources that were called otherwise before: the old names by the new one. */
  readonly aliases?: Aliases;
  /** Objects that programs name by their id. */
  readonly ids?: ReadonlyMap<Name, string>;
}

export type EngineStep = EngineUp | Refresh;

/** How a step of the engine went. */
export interface Took {
  /** The error that ended it; empty where there was none. */
  readonly error: string;
  /** The calls that it made, ids left out. */
  readonly calls: readonly string[];
  /** Ids of objects of which the service said clearly that it made them. */
  readonly made?: readonly string[];
  /** Its preview failed. */
  readonly isRefused?: boolean;
}

export interface RunEnding {
  readonly wrong: readonly string[];
  /** Each step of the engine, in order. */
  readonly took: readonly Took[];
}

/** Both stacks of a scenario, and the engine that runs them. */
export interface Stacks {
  run(step: EngineStep): Promise<Took>;
  /** What the states hold now. */
  held(): readonly HeldEntry[];
  /** Changes a state as a person does; tells whether it could be done. */
  edit?(step: StateEdit): boolean | Promise<boolean>;
}
