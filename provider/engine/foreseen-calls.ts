import type { Definition } from "../definition/define.js";
import type { ForeseenAction, ForeseenResource } from "../lifecycle/run.js";
import {
  type Endpoint,
  endpointName,
  endpointNames,
  type SetUpAction,
} from "../service/http/operations.js";

/** What the life cycle does with an object, call by call; a list serves all objects of a kind. */
const sequences = {
  create: ["create"],
  adopt: ["get", "update"],
  update: ["get", "update"],
  delete: ["delete"],
} as const satisfies Readonly<Record<ForeseenAction, readonly SetUpAction[]>>;

/** Keeps what a preview has foreseen for the run that follows it. */
export interface PreviewMemory {
  /** What the preview of this run has foreseen; nothing where there was none. */
  readonly foreseen: Readonly<Record<string, number>>;
  keep(counts: Readonly<Record<string, number>>): void;
}

/**
 * The calls that a run is going to make, as far as they are known: what the engine has checked and
 * compared, what its preview has, and what is said otherwise. A guide for people, never a condition.
 */
export class ForeseenCalls {
  readonly #memory: () => PreviewMemory;
  readonly #times = new Map<string, number>();
  #opened: PreviewMemory | undefined;
  #isWhole = false;
  /** Owner of a resource of the run, by which its state is found. */
  owner: string | undefined;

  constructor(memory: () => PreviewMemory) {
    this.#memory = memory;
  }

  /** Whether all calls of the run are foreseen: by its preview, or by the state that it destroys. */
  get isWhole(): boolean {
    return this.#isWhole || Object.keys(this.#previewed.foreseen).length > 0;
  }

  get #previewed(): PreviewMemory {
    this.#opened ??= this.#memory();
    return this.#opened;
  }

  /** How often an endpoint is going to be called in the whole run, as far as is known. */
  times(endpoint: Endpoint, profile: string | undefined): number {
    const key = `${profile ?? ""} ${endpointName(endpoint)}`;
    return Math.max(this.#times.get(key) ?? 0, this.#previewed.foreseen[key] ?? 0);
  }

  /** The run was asked for this. */
  told({ definition, properties: { owner, profile } }: ForeseenResource, action: ForeseenAction) {
    this.owner ??= owner;
    // The engine deletes without checking first: the state says what is going to be taken.
    if (action !== "delete") this.foresee(definition, profile, action);
  }

  foresee(definition: Definition, profile: string | undefined, action: ForeseenAction): void {
    for (const name of endpointNames(definition, sequences[action])) {
      const key = `${profile ?? ""} ${name}`;
      this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
    }
    this.#previewed.keep(Object.fromEntries(this.#times));
  }

  /** No more calls follow than those foreseen so far. */
  complete(): void {
    this.#isWhole = true;
  }
}
