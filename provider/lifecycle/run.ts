import type { AsyncLocalStorage } from "node:async_hooks";
import type { ConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import type { Collections } from "../service/collections.js";
import type { Settings } from "../service/settings.js";
import type { StackStates as AllStates } from "./stack-states.js";

export interface AccountSession {
  readonly settings: Settings;
  readonly service: Collections;
}

/** The resources that manage or look up objects, according to the states. */
export type ObjectHolders = Pick<AllStates, "holdersOf" | "readersOf" | "resourceOf">;

/** Shows a message that does not report a failure. */
export type Notify = (text: string, severity: "info" | "warning") => void;

/** The resource that an engine call is about; no owner is known in a stack's first preview. */
export interface CalledResource {
  readonly kind: string;
  readonly owner?: string | undefined;
}

/** What a run's environment provides. Every member is optional; callers must handle its absence. */
export interface RunEnvironment {
  /**
   * Reads the settings without connecting, and rejects Node.js versions that are too old.
   *
   * @throws ConversationError `SETTINGS_MISSING`, `SETTINGS_INVALID`
   */
  readonly settings?: (profile?: string) => Settings;
  /**
   * Returns the state of the run's stack, or of all stacks in the backend, as it was before the
   * run; undefined if it cannot be read. Called rarely, because it takes seconds.
   *
   * @param suffices if given, the current state is needed: a state read since the run's first
   * deletion is reused as long as this function accepts it
   */
  readonly states?: (
    owner: string,
    whose: "own" | "all",
    suffices?: (known: ObjectHolders) => boolean,
  ) => Promise<ObjectHolders | undefined>;
  /**
   * Whether the engine runs a program, as far as the program's language tells the engine. Without
   * one, as in `destroy`, nothing is replaced.
   */
  readonly runsProgram?: () => Promise<boolean>;
  /**
   * Whether the engine runs a program that may be replacing what this process deletes, and no state
   * can be read that would show it.
   */
  readonly hidesReplacements?: () => Promise<boolean>;
  /** Whether this process serves resources of the plugin, and not dynamic ones. */
  readonly isPlugins?: boolean;
  readonly notify?: Notify;
  /** Where `fromEnv` looks up variables. Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Receives the resource that each call is about. */
  readonly called?: AsyncLocalStorage<CalledResource>;
}

/**
 * What one engine run (one process) has learned. A call's arguments never distinguish a forced
 * replacement from a creation, or the deletion that completes the replacement from a real deletion.
 * This record makes both distinctions.
 */
export interface Run extends RunEnvironment {
  /** Opens the session of a profile; see `openSession`, which does so once for each. */
  readonly connect: (profile?: string) => Promise<AccountSession>;
  readonly sessions: Map<string | undefined, Promise<AccountSession>>;
  readonly decisions: Decisions;
  readonly deletions: Deletions;
}

/** Creates the record of a new run, which uses `connect` to create sessions. */
export const createRun = (connect: Run["connect"], options: RunEnvironment = {}): Run => ({
  ...options,
  connect,
  sessions: new Map(),
  decisions: new Decisions(),
  deletions: new Deletions(),
});

/** How this run identifies a resource. */
export interface ResourceIdentity {
  readonly kind: string;
  /**
   * Key that identifies a resource within one state, regardless of the resource's name in the
   * service.
   */
  readonly key: string;
  /**
   * The logical name, after the types of the parents: identifies a resource within a program, even
   * if a different provider gives the resource a different `key`.
   */
  readonly place: string;
  /** The profile of its account. */
  readonly profile?: string | undefined;
}

/** A resource's object and the serial in the object's mark, if any. */
export interface HeldObject {
  readonly id: string;
  readonly serial?: string | undefined;
}

/** A POST that may have created a resource's object although the response was lost. */
export interface UnclearPost {
  readonly failure: ConversationError;
  /** Whether the POST's body contained the mark that identifies the object. */
  readonly isMarked: boolean;
  /** IDs of the kind's objects before the POST. Absent if the list could not be read completely. */
  readonly before?: ReadonlySet<string>;
}

/** The resources that the program declares, their objects, and the names that they use. */
export class Decisions {
  /** Resources that the program declares, by resource key. */
  readonly declared = new Map<string, ResourceIdentity>();
  /** The profiles of resources that the program declares. */
  readonly profiles = new Set<string | undefined>();
  /** The resource that first claimed a name, or an object to adopt, by what it claimed. */
  readonly claims = new Map<string, ResourceIdentity>();
  /** The resource to which each known object belongs, by object ID. */
  readonly holders = new Map<string, ResourceIdentity>();
  /** The known object of each resource, by resource key. */
  readonly objects = new Map<string, HeldObject>();
  /** The outputs of each resource whose object's deletion was skipped, by resource key. */
  readonly skipped = new Map<string, { readonly id: string; readonly outputs: JsonObject }>();
  /**
   * Objects that were updated for a resource although its earlier declaration was unknown, by
   * resource key. `finish` is called with it once, when the engine deletes the "old" object.
   */
  readonly rewritten = new Map<
    string,
    { readonly id: string; readonly finish: (state: JsonObject) => Promise<void> }
  >();
  /** Objects of which one of two resources in the state was skipped in this run. */
  readonly left = new Set<string>();
  /** Keys of resources whose declaration differs from the inputs in the state. */
  readonly changed = new Set<string>();
  /** Serials that this run sent in POSTs. Only objects that this run created have them. */
  readonly posted = new Set<string>();
  /**
   * POSTs with an unknown effect, by resource key. Each stays on record until its effect is known.
   */
  readonly unclear = new Map<string, UnclearPost>();

  /** Whether this run sent the POST that created the object with this serial. */
  hasPosted(serial: string | undefined): boolean {
    return serial !== undefined && this.posted.has(serial);
  }
}

/**
 * Deletions in one run that may have to wait for each other. The engine deletes resources in
 * parallel if it knows of no dependency between them. This applies to freshly imported resources,
 * and to a channel and the client applications that, according to the literal wording of the rules,
 * keep it in use. A refusal is therefore final only when no other deletion can still resolve it.
 */
export class Deletions {
  readonly #running = new Set<Promise<void>>();
  #done = 0;

  /**
   * @param attempt deletes one object
   * @param mayPass whether a failure of `attempt` can disappear once other objects are gone
   */
  async run(attempt: () => Promise<void>, mayPass: (error: unknown) => boolean): Promise<void> {
    for (;;) {
      const before = this.#done;
      const own = attempt();
      this.#running.add(own);
      try {
        await own;
        this.#done += 1;
        return;
      } catch (error) {
        this.#running.delete(own);
        if (!mayPass(error)) throw error;
        while (this.#done === before && this.#running.size > 0)
          await Promise.race([...this.#running].map((other) => other.catch(() => undefined)));
        if (this.#done === before) throw error;
      } finally {
        this.#running.delete(own);
      }
    }
  }
}
