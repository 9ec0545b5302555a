import type { Definition } from "../definition/define.js";
import type { JsonObject } from "../kernel/json.js";
import type { Lifecycle } from "../lifecycle/index.js";
import {
  type Endpoint,
  endpointName,
  type SetUpAction,
  setUpOperation,
} from "../service/http/operations.js";

/** What the life cycle does with an object, call by call; a list serves all objects of a kind. */
const sequences = {
  create: ["create"],
  adopt: ["get", "update"],
  update: ["get", "update"],
  delete: ["delete"],
} as const satisfies Readonly<Record<string, readonly SetUpAction[]>>;

/** What a run is going to do with an object. */
export type ForeseenAction = keyof typeof sequences;

/** Keeps what a preview has foreseen for the run that follows it. */
export interface PreviewMemory {
  /** What the preview of this run has foreseen; nothing where there was none. */
  readonly foreseen: Readonly<Record<string, number>>;
  keep(counts: Readonly<Record<string, number>>): void;
}

const profileOf = ({ profile }: JsonObject): string | undefined =>
  typeof profile === "string" ? profile : undefined;

const keyOf = (endpoint: Endpoint, profile: string | undefined): string =>
  `${profile ?? ""} ${endpointName(endpoint)}`;

/**
 * The calls that a run is going to make, as far as they are known: what the engine has checked and
 * compared, what its preview has, and what is said otherwise. A guide for people, never a condition.
 */
export class ForeseenCalls {
  readonly #memory: () => PreviewMemory;
  readonly #times = new Map<string, number>();
  #opened: PreviewMemory | undefined;
  /** Owner of a resource of the run, by which its state is found. */
  owner: string | undefined;

  constructor(memory: () => PreviewMemory) {
    this.#memory = memory;
  }

  /** How often an endpoint is going to be called in the whole run, as far as is known. */
  times(endpoint: Endpoint, profile: string | undefined): number {
    const key = keyOf(endpoint, profile);
    return Math.max(this.#times.get(key) ?? 0, this.#preview().foreseen[key] ?? 0);
  }

  foresee(definition: Definition, profile: string | undefined, action: ForeseenAction): void {
    for (const call of sequences[action]) {
      const key = keyOf(setUpOperation(definition, call), profile);
      this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
    }
    this.#preview().keep(Object.fromEntries(this.#times));
  }

  #preview(): PreviewMemory {
    this.#opened ??= this.#memory();
    return this.#opened;
  }
}

const ownerIn = ({ owner }: JsonObject): string | undefined =>
  typeof owner === "string" ? owner : undefined;

/** The same life cycle, which tells what it is going to be asked for: the engine checks and compares ahead. */
export const foreseeing = (
  definition: Definition,
  steps: Lifecycle,
  planned: ForeseenCalls,
): Lifecycle => ({
  ...steps,
  check: async (olds, news) => {
    const checked = await steps.check(olds, news);
    const isNew = Object.keys(olds).length === 0 && checked.failures.length === 0;
    const action = news.adopt === undefined ? "create" : "adopt";
    if (isNew) planned.foresee(definition, profileOf(news), action);
    return checked;
  },
  diff: async (id, olds, news) => {
    const result = await steps.diff(id, olds, news);
    if (result.changes !== false) planned.foresee(definition, profileOf(news), "update");
    return result;
  },
  delete: (id, properties) => {
    planned.owner ??= ownerIn(properties);
    return steps.delete(id, properties);
  },
});
