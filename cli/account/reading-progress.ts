import type { Definition } from "../../provider/definition/define.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { conversationRate } from "../../provider/pacing/plan-rates.js";
import type { ListProgress } from "../../provider/service/collections.js";
import { setUpOperation } from "../../provider/service/http/operations.js";
import type { Settings } from "../../provider/service/setting-table.js";

/** How far the reading of an account has come. */
export interface ReadingProgress {
  /** Objects of all kinds that came so far. */
  readonly objects: number;
  /** Calls that are still to be made, as far as the service has told. */
  readonly callsLeft: number;
  /** Kinds whose lists are done, and of how many. */
  readonly kindsDone: number;
  readonly kinds: number;
  /** Time that the rest takes, in milliseconds, as far as it can be told: 0 at the end. */
  readonly remainingMs: number;
}

interface ListState extends ListProgress {
  readonly done: boolean;
  readonly pages: number;
  /** When its last page came, and how long that page took. */
  readonly at: number;
  readonly pageMs: number;
}

/** Milliseconds between two calls of a list at the rate of the plan; 0 where the plan is not known. */
const intervalOf = ({ plan, share }: Settings, definition: Definition): number =>
  plan ? 1000 / (conversationRate(setUpOperation(definition, "list"), plan) * share) : 0;

/** Follows the lists of several kinds, which are read beside each other. */
export const readingProgress = (
  settings: Settings,
  kinds: readonly Definition[],
  clock: Clock,
  tell: (progress: ReadingProgress) => void,
) => {
  const began = clock.now();
  const states = new Map<string, ListState>();
  const remainingOf = ({ kind }: Definition, interval: number): number => {
    const state = states.get(kind);
    // A list that has not answered takes a call at least.
    if (!state) return interval;
    if (state.done) return 0;
    const { callsLeft, pageMs, pages } = state;
    // The first calls of a full bucket go at once.
    const waiting = Math.max(0, callsLeft - Math.max(0, (settings.burst ?? 0) - pages));
    return Math.max(callsLeft * pageMs, waiting * interval);
  };
  const report = (): void => {
    const all = [...states.values()];
    tell({
      objects: all.reduce((sum, { objects }) => sum + objects, 0),
      callsLeft: all.reduce((sum, { callsLeft }) => sum + callsLeft, kinds.length - all.length),
      kindsDone: all.filter(({ done }) => done).length,
      kinds: kinds.length,
      remainingMs: Math.max(
        0,
        ...kinds.map((each) => remainingOf(each, intervalOf(settings, each))),
      ),
    });
  };
  return {
    page: ({ kind }: Definition, progress: ListProgress): void => {
      const at = clock.now();
      const pageMs = at - (states.get(kind)?.at ?? began);
      const pages = (states.get(kind)?.pages ?? 0) + 1;
      states.set(kind, { ...progress, done: false, pages, at, pageMs });
      report();
    },
    done: ({ kind }: Definition, objects: number): void => {
      const last = { callsLeft: 0, done: true, pages: 0, at: clock.now(), pageMs: 0 };
      states.set(kind, { ...last, objects });
      report();
    },
  };
};
