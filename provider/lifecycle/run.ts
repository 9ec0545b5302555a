import type { Collections } from "../service/collections.js";
import type { Settings } from "../service/settings.js";
import { createDeletions, type Deletions } from "./deletions.js";

/** The settings of one account of the service, and the way to talk to it. */
export interface Session {
  readonly settings: Settings;
  readonly service: Collections;
}

/**
 * What one run of the engine – one process – has learnt. Arguments never tell a forced replacement
 * from a creation, nor a deletion that ends one from a real deletion; this memory does.
 */
export interface Run<S extends Session = Session> {
  /** Made on first use, so that a run without changes needs neither settings nor a token. */
  readonly session: (profile?: string) => Promise<S>;
  readonly decisions: Decisions;
  readonly deletions: Deletions;
}

/** Which resources, by their key, the program still wants, and which object stands for each. */
export interface Decisions {
  /** The program declares this resource. */
  wanted(key: string): void;
  /** This object stands for the resource. */
  settled(key: string, objectId: string): void;
  /** The state holds this object for a resource that is to go; what is settled stays. */
  leaving(key: string, objectId: string): void;
  /** The resource that an object stands for, where this run knows. */
  holderOf(objectId: string): string | undefined;
  /**
   * Whether an object must not be deleted: the program wants its resource and no other object
   * stands for it. A forced replacement is done in place, and the engine deletes the "old" object,
   * which is the same, before or after.
   */
  keeps(key: string, objectId: string): boolean;
  /** A deletion was left out, as the program still wants the object. */
  spare(key: string, objectId: string): void;
  /** The object of a resource whose deletion was left out. */
  sparedOf(key: string): string | undefined;
  /** The object that stands for a resource, where this run knows. */
  objectOf(key: string): string | undefined;
}

const createDecisions = (): Decisions => {
  const wanted = new Set<string>();
  const objects = new Map<string, string>();
  const holders = new Map<string, string>();
  const spared = new Map<string, string>();
  return {
    wanted: (key) => void wanted.add(key),
    settled: (key, objectId) => {
      objects.set(key, objectId);
      holders.set(objectId, key);
    },
    leaving: (key, objectId) => {
      if (!objects.has(key)) objects.set(key, objectId);
    },
    holderOf: (objectId) => holders.get(objectId),
    spare: (key, objectId) => void spared.set(key, objectId),
    sparedOf: (key) => spared.get(key),
    objectOf: (key) => objects.get(key),
    keeps: (key, objectId) => wanted.has(key) && (objects.get(key) ?? objectId) === objectId,
  };
};

/** A fresh memory over a way to make sessions. */
export const createRun = <S extends Session>(connect: (profile?: string) => Promise<S>): Run<S> => {
  const sessions = new Map<string | undefined, Promise<S>>();
  const session = (profile?: string): Promise<S> => {
    const known = sessions.get(profile);
    if (known) return known;
    const made = connect(profile);
    sessions.set(profile, made);
    // A failure to connect is not remembered: the next call reads the settings again.
    made.catch(() => sessions.delete(profile));
    return made;
  };
  return { session, decisions: createDecisions(), deletions: createDeletions() };
};
