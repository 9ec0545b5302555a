import type { Definition } from "../definition/define.js";
import type { ConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import type { Collections } from "../service/collections.js";
import { assertDistinctProfiles, type Settings } from "../service/settings.js";
import type { StackStates as AllStates } from "./ownership/stack-states.js";

/** An account's settings and service client. */
export interface AccountSession {
  readonly settings: Settings;
  readonly service: Collections;
}

/** The resources that manage or look up objects, according to the states. */
export type ObjectHolders = Pick<AllStates, "holdersOf" | "readersOf" | "resourceOf">;

/** Shows a message that does not report a failure. */
export type Notify = (text: string, severity: "info" | "warning") => void;

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
   * Whether the engine runs a program that may be replacing what this process deletes, and no state
   * can be read that would show it.
   */
  readonly hidesReplacements?: () => Promise<boolean>;
  /** Whether this process serves resources of the plugin, and not dynamic ones. */
  readonly isPlugins?: boolean;
  readonly notify?: Notify;
  /** Where `fromEnv` looks up variables. Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Runs a call with access to the URN of the resource that these engine values describe. */
  readonly about?: <T>(
    definition: Pick<Definition, "kind">,
    values: JsonObject,
    call: () => Promise<T>,
  ) => Promise<T>;
  /**
   * Runs an engine call, or a part of one that merits its own line, as a step in the engine's
   * trace.
   */
  readonly step?: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

/**
 * What one engine run (one process) has learned. A call's arguments never distinguish a forced
 * replacement from a creation, or the deletion that completes the replacement from a real deletion.
 * This record makes both distinctions.
 */
export interface Run extends RunEnvironment {
  /**
   * Returns a profile's session, which is created on first use so that a run without changes needs
   * neither settings nor a token.
   */
  readonly session: (profile?: string) => Promise<AccountSession>;
  readonly decisions: Decisions;
  readonly deletions: Deletions;
}

/** Creates the record of a new run, which uses `connect` to create sessions. */
export const createRun = (
  connect: (profile?: string) => Promise<AccountSession>,
  options: RunEnvironment = {},
): Run => {
  const sessions = new Map<string | undefined, Promise<AccountSession>>();
  const connected = async (profile?: string): Promise<AccountSession> => {
    assertNode();
    assertDistinctProfiles(profile, sessions.keys());
    return connect(profile);
  };
  const session = (profile?: string): Promise<AccountSession> => {
    const known = sessions.get(profile);
    if (known) return known;
    const made = connected(profile);
    sessions.set(profile, made);
    // A failure to connect is not cached: the next call reads the settings again.
    made.catch(() => sessions.delete(profile));
    return made;
  };
  return { ...options, session, decisions: new Decisions(), deletions: new Deletions() };
};

/** How this run identifies a resource. */
export interface ResourceIdentity {
  /**
   * Key that identifies a resource within one state, regardless of the resource's name in the
   * service.
   */
  readonly key: string;
  /**
   * Key that identifies a resource within a program, even if a different provider gives the
   * resource a different `key`.
   */
  readonly place: string;
  /** The resource's name for messages, such as `Channel "kiosk"`. */
  readonly label: string;
  readonly kind: string;
}

/** A resource's object and the serial in the object's mark, if any. */
export interface HeldObject {
  readonly id: string;
  readonly serial?: string | undefined;
}

/**
 * An object whose deletion was skipped, with the earlier or present outputs of its resource in the
 * state.
 */
interface KeptObject {
  readonly id: string;
  readonly outputs: JsonObject;
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
  readonly #declared = new Set<string>();
  readonly #places = new Map<string, ResourceIdentity>();
  readonly #taken = new Map<string, ResourceIdentity>();
  readonly #skippedObjects = new Set<string>();
  readonly #rewritten = new Map<string, KeptObject>();
  /** The resource to which each known object belongs, by object ID. */
  readonly holders = new Map<string, ResourceIdentity>();
  /** The known object of each resource, by resource key. */
  readonly objects = new Map<string, HeldObject>();
  /** The objects whose deletion was skipped, by resource key. */
  readonly skipped = new Map<string, KeptObject>();
  /** Keys of resources whose declaration differs from the inputs in the state. */
  readonly changed = new Set<string>();
  /** Serials that this run sent in POSTs. Only objects that this run created have them. */
  readonly posted = new Set<string>();
  /**
   * POSTs with an unknown effect, by resource key. Each stays on record until its effect is known.
   */
  readonly unclear = new Map<string, UnclearPost>();
  /** Messages about refused credentials that have already been reported. */
  readonly reportedRefusals = new Set<string>();

  /**
   * Records that the program declares this resource.
   *
   * @param name that no other resource may have
   * @returns the other resource that declared the name before, if any
   */
  declare(resource: ResourceIdentity, name?: string): ResourceIdentity | undefined {
    this.#declared.add(resource.key);
    this.#places.set(`${resource.kind} ${resource.place}`, resource);
    return name === undefined ? undefined : this.take(name, resource);
  }

  /** Whether a program has declared any resources to this process. */
  hasProgram(): boolean {
    return this.#declared.size > 0;
  }

  /**
   * Returns the resource that the program declares in this place, whatever its owner: a resource of
   * the plugin, or one that was moved from another stack, has another owner in a forced replacement
   * than in the state.
   */
  declaredAt(kind: string, place: string): ResourceIdentity | undefined {
    return this.#places.get(`${kind} ${place}`);
  }

  /**
   * Reserves something that only one resource may have, such as an object to adopt.
   *
   * @returns the other resource that reserved it before, if any
   */
  take(what: string, resource: ResourceIdentity): ResourceIdentity | undefined {
    const first = this.#taken.get(what) ?? resource;
    this.#taken.set(what, first);
    const isSame = first.kind === resource.kind && first.place === resource.place;
    return isSame || first.key === resource.key ? undefined : first;
  }

  /** Records that this object belongs to the resource. */
  assign(resource: ResourceIdentity, object: HeldObject): void {
    this.objects.set(resource.key, object);
    this.holders.set(object.id, resource);
  }

  /**
   * Records the object that the state contains for a resource being deleted. An earlier assignment
   * takes precedence.
   */
  leave({ key }: ResourceIdentity, object: HeldObject): void {
    if (!this.objects.has(key)) this.objects.set(key, object);
  }

  /**
   * Whether an object must be kept. It must be kept if it belongs to a resource that the program
   * declares, regardless of its previous owner, because a replaced `Ownership` gives all resources
   * new keys. It must also be kept if the program declares the resource with this key and no other
   * object belongs to that resource. A forced replacement happens in place; before or after it, the
   * engine deletes the "old" object, which is the same one.
   */
  keeps(key: string, objectId: string): boolean {
    const holder = this.holders.get(objectId)?.key;
    if (holder !== undefined && this.#declared.has(holder)) return true;
    return this.#declared.has(key) && (this.objects.get(key)?.id ?? objectId) === objectId;
  }

  /**
   * Returns whether the deletion of an object was skipped before, and records the deletion as
   * skipped.
   */
  wasSkipped(kind: string, objectId: string): boolean {
    const object = `${kind} ${objectId}`;
    const isKnown = this.#skippedObjects.has(object);
    this.#skippedObjects.add(object);
    return isKnown;
  }

  /**
   * Records that an existing object was updated for a resource although its earlier declaration was
   * unknown. The declaration becomes known only when the engine deletes the "old" object.
   */
  rewrote(key: string, object: KeptObject): void {
    this.#rewritten.set(key, object);
  }

  /**
   * Returns, only once, the outputs of an object that was updated while its earlier declaration was
   * unknown; undefined for any other object.
   */
  rewritten(key: string, objectId: string): JsonObject | undefined {
    const object = this.#rewritten.get(key);
    this.#rewritten.delete(key);
    return object?.id === objectId ? object.outputs : undefined;
  }

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
  #working = 0;
  #done = 0;
  #waiting: (() => void)[] = [];

  /**
   * @param attempt deletes one object
   * @param mayPass whether a failure of `attempt` can disappear once other objects are gone
   */
  async run(attempt: () => Promise<void>, mayPass: (error: unknown) => boolean): Promise<void> {
    for (;;) {
      const before = this.#done;
      const failure = await this.#tryOnce(attempt);
      if (!failure) return;
      if (!mayPass(failure.error)) throw failure.error;
      while (this.#done === before && this.#working > 0)
        await new Promise<void>((wake) => this.#waiting.push(wake));
      if (this.#done === before) throw failure.error;
    }
  }

  async #tryOnce(attempt: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
    this.#working += 1;
    try {
      await attempt();
      this.#done += 1;
      return undefined;
    } catch (error) {
      return { error };
    } finally {
      this.#working -= 1;
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }
}
