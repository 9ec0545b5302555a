import type { JsonObject } from "../kernel/json.js";

/** A resource as this run remembers it. */
export interface Remembered {
  /** The same for one resource of one state, whatever its name at the service: see {@link keyOf}. */
  readonly key: string;
  /** As messages call it, such as `Channel "kiosk"`. */
  readonly label: string;
  readonly kind: string;
}

/** The object that stands for a resource, and the serial of its mark where it has one. */
export interface StandsFor {
  readonly id: string;
  readonly serial?: string | undefined;
}

/** An object whose deletion was left out, with what the state held of its resource, or holds now. */
export interface Spared {
  readonly id: string;
  readonly outputs: JsonObject;
}

/** Which resources the program wants, which object stands for each, and which names they take. */
export interface Decisions {
  /** The program declares this resource. */
  wanted(resource: Remembered): void;
  /** This object stands for the resource. */
  settled(resource: Remembered, object: StandsFor): void;
  /** The state holds this object for a resource that is to go; what is settled stays. */
  leaving(resource: Remembered, object: StandsFor): void;
  /** The resource that an object stands for, where this run knows. */
  holderOf(objectId: string): Remembered | undefined;
  /**
   * Whether an object must not be deleted: it stands for a resource that the program wants, whatever
   * it was owned by before (a replaced `Ownership` gives all resources other keys), or the program
   * wants its resource and no other object stands for it. A forced replacement is done in place, and the engine deletes the "old" object,
   * which is the same, before or after.
   */
  keeps(key: string, objectId: string): boolean;
  /** Whether a program has declared anything to this process. */
  hasProgram(): boolean;
  /** A deletion was left out, as the program still wants the object. */
  spare(key: string, object: Spared): void;
  /** Whether the deletion of an object was left out before; it counts as left out from now on. */
  isSpared(kind: string, objectId: string): boolean;
  /**
   * An object of before was put into shape for a resource, though nobody said what the program declared
   * of it so far: the engine tells that only when it wants the "old" object deleted.
   */
  tookOver(key: string, object: Spared): void;
  /** What was made of an object without knowing what the program declared before; once. */
  takenOver(key: string, objectId: string): JsonObject | undefined;
  /** The object of a resource whose deletion was left out. */
  sparedOf(key: string): Spared | undefined;
  /** The object that stands for a resource, where this run knows. */
  objectOf(key: string): StandsFor | undefined;
  /**
   * A resource takes something that only one may have: a unique name, or an object to adopt.
   *
   * @returns who has taken it before, if another did
   */
  take(what: string, resource: Remembered): Remembered | undefined;
  /** A POST with this serial is about to be sent: only what this run made itself carries it. */
  making(serial: string): void;
  /** Whether this very run sent the POST that made the object with this serial. */
  made(serial: string | undefined): boolean;
}

/** A fresh memory. */
export const createDecisions = (): Decisions => {
  const wanted = new Set<string>();
  const objects = new Map<string, StandsFor>();
  const holders = new Map<string, Remembered>();
  const spared = new Map<string, Spared>();
  const sparedObjects = new Set<string>();
  const taken = new Map<string, Remembered>();
  const rewritten = new Map<string, Spared>();
  const serials = new Set<string>();
  return {
    wanted: ({ key }) => void wanted.add(key),
    settled: (resource, object) => {
      objects.set(resource.key, object);
      holders.set(object.id, resource);
    },
    leaving: ({ key }, object) => {
      if (!objects.has(key)) objects.set(key, object);
    },
    holderOf: (objectId) => holders.get(objectId),
    hasProgram: () => wanted.size > 0,
    spare: (key, object) => void spared.set(key, object),
    isSpared: (kind, objectId) => {
      const object = `${kind} ${objectId}`;
      const isKnown = sparedObjects.has(object);
      sparedObjects.add(object);
      return isKnown;
    },
    sparedOf: (key) => spared.get(key),
    tookOver: (key, object) => void rewritten.set(key, object),
    takenOver: (key, objectId) => {
      const object = rewritten.get(key);
      rewritten.delete(key);
      return object?.id === objectId ? object.outputs : undefined;
    },
    objectOf: (key) => objects.get(key),
    keeps: (key, objectId) => {
      const holder = holders.get(objectId)?.key;
      if (holder !== undefined && wanted.has(holder)) return true;
      return wanted.has(key) && (objects.get(key)?.id ?? objectId) === objectId;
    },
    take: (what, resource) => {
      const first = taken.get(what) ?? resource;
      taken.set(what, first);
      return first.key === resource.key ? undefined : first;
    },
    making: (serial) => void serials.add(serial),
    made: (serial) => serial !== undefined && serials.has(serial),
  };
};
