import type { ConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";

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
export interface Decisions {
  /**
   * Records that the program declares this resource.
   *
   * @param name that no other resource may have
   * @returns the other resource that declared the name before, if any
   */
  declare(resource: ResourceIdentity, name?: string): ResourceIdentity | undefined;
  /**
   * Returns the resource that the program declares in this place, whatever its owner: a resource of
   * the plugin, or one that was moved from another stack, has another owner in a forced replacement
   * than in the state.
   */
  declaredAt(kind: string, place: string): ResourceIdentity | undefined;
  /** Records that this object belongs to the resource. */
  assign(resource: ResourceIdentity, object: HeldObject): void;
  /**
   * Records the object that the state contains for a resource being deleted. An earlier assignment
   * takes precedence.
   */
  leave(resource: ResourceIdentity, object: HeldObject): void;
  /** The resource to which each known object belongs, by object ID. */
  readonly holders: ReadonlyMap<string, ResourceIdentity>;
  /** The known object of each resource, by resource key. */
  readonly objects: ReadonlyMap<string, HeldObject>;
  /**
   * Whether an object must be kept. It must be kept if it belongs to a resource that the program
   * declares, regardless of its previous owner, because a replaced `Ownership` gives all resources
   * new keys. It must also be kept if the program declares the resource with this key and no other
   * object belongs to that resource. A forced replacement happens in place; before or after it, the
   * engine deletes the "old" object, which is the same one.
   */
  keeps(key: string, objectId: string): boolean;
  /** Whether a program has declared any resources to this process. */
  hasProgram(): boolean;
  /**
   * Records that a deletion was skipped because the program still declares the object's resource.
   */
  skipDeletion(key: string, object: KeptObject): void;
  /** The objects whose deletion was skipped, by resource key. */
  readonly skipped: ReadonlyMap<string, KeptObject>;
  /**
   * Returns whether the deletion of an object was skipped before, and records the deletion as
   * skipped.
   */
  wasSkipped(kind: string, objectId: string): boolean;
  /**
   * Records that an existing object was updated for a resource although its earlier declaration was
   * unknown. The declaration becomes known only when the engine deletes the "old" object.
   */
  rewrote(key: string, object: KeptObject): void;
  /**
   * Returns, only once, the outputs of an object that was updated while its earlier declaration was
   * unknown; undefined for any other object.
   */
  rewritten(key: string, objectId: string): JsonObject | undefined;
  /**
   * Reserves something that only one resource may have, such as an object to adopt.
   *
   * @returns the other resource that reserved it before, if any
   */
  take(what: string, resource: ResourceIdentity): ResourceIdentity | undefined;
  /** Keys of resources whose declaration differs from the inputs in the state. */
  readonly changed: Set<string>;
  /** Serials that this run sent in POSTs. Only objects that this run created have them. */
  readonly posted: Set<string>;
  /**
   * POSTs with an unknown effect, by resource key. Each stays on record until its effect is known.
   */
  readonly unclear: Map<string, UnclearPost>;
  /** Messages about refused credentials that have already been reported. */
  readonly reportedRefusals: Set<string>;
  /** Whether this run sent the POST that created the object with this serial. */
  made(serial: string | undefined): boolean;
}

/** Creates an empty record of decisions. */
export const createDecisions = (): Decisions => {
  const declared = new Set<string>();
  const places = new Map<string, ResourceIdentity>();
  const objects = new Map<string, HeldObject>();
  const holders = new Map<string, ResourceIdentity>();
  const skipped = new Map<string, KeptObject>();
  const skippedObjects = new Set<string>();
  const taken = new Map<string, ResourceIdentity>();
  const rewritten = new Map<string, KeptObject>();
  const posted = new Set<string>();
  const take: Decisions["take"] = (what, resource) => {
    const first = taken.get(what) ?? resource;
    taken.set(what, first);
    const isSame = first.kind === resource.kind && first.place === resource.place;
    return isSame || first.key === resource.key ? undefined : first;
  };
  return {
    ...{ objects, holders, skipped, posted, take },
    ...{ changed: new Set<string>(), reportedRefusals: new Set<string>() },
    unclear: new Map<string, UnclearPost>(),
    declare: (resource, name) => {
      declared.add(resource.key);
      places.set(`${resource.kind} ${resource.place}`, resource);
      return name === undefined ? undefined : take(name, resource);
    },
    declaredAt: (kind, place) => places.get(`${kind} ${place}`),
    assign: (resource, object) => {
      objects.set(resource.key, object);
      holders.set(object.id, resource);
    },
    leave: ({ key }, object) => {
      if (!objects.has(key)) objects.set(key, object);
    },
    keeps: (key, objectId) => {
      const holder = holders.get(objectId)?.key;
      if (holder !== undefined && declared.has(holder)) return true;
      return declared.has(key) && (objects.get(key)?.id ?? objectId) === objectId;
    },
    hasProgram: () => declared.size > 0,
    skipDeletion: (key, object) => void skipped.set(key, object),
    wasSkipped: (kind, objectId) => {
      const object = `${kind} ${objectId}`;
      const isKnown = skippedObjects.has(object);
      skippedObjects.add(object);
      return isKnown;
    },
    rewrote: (key, object) => void rewritten.set(key, object),
    rewritten: (key, objectId) => {
      const object = rewritten.get(key);
      rewritten.delete(key);
      return object?.id === objectId ? object.outputs : undefined;
    },
    made: (serial) => serial !== undefined && posted.has(serial),
  };
};

/**
 * Deletions in one run that may have to wait for each other. The engine deletes resources in
 * parallel if it knows of no dependency between them. This applies to freshly imported resources,
 * and to a channel and the client applications that, according to the literal wording of the rules,
 * keep it in use. A refusal is therefore final only when no other deletion can still resolve it.
 */
export interface Deletions {
  /**
   * @param attempt deletes one object
   * @param mayPass whether a failure of `attempt` can disappear once other objects are gone
   */
  run(attempt: () => Promise<void>, mayPass: (error: unknown) => boolean): Promise<void>;
}

export const createDeletions = (): Deletions => {
  let working = 0;
  let done = 0;
  let waiting: (() => void)[] = [];

  const wakeAll = (): void => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };

  const tryOnce = async (attempt: () => Promise<void>): Promise<{ error?: unknown }> => {
    working += 1;
    try {
      await attempt();
      done += 1;
      return {};
    } catch (error) {
      return { error };
    } finally {
      working -= 1;
      wakeAll();
    }
  };

  /** Whether another object has been deleted since; false if no running deletion is left. */
  const progressSince = async (before: number): Promise<boolean> => {
    while (done === before && working > 0) await new Promise<void>((wake) => waiting.push(wake));
    return done > before;
  };

  const run: Deletions["run"] = async (attempt, mayPass) => {
    for (;;) {
      const before = done;
      const { error } = await tryOnce(attempt);
      if (error === undefined) return;
      if (!mayPass(error) || !(await progressSince(before))) throw error;
    }
  };
  return { run };
};
