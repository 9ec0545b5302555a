import type { Definition } from "../definition/define.js";
import type { JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import type { Collections } from "../service/objects/collections.js";
import type { Settings } from "../service/settings/settings.js";
import { assertDistinctProfiles } from "../service/settings/settings.js";
import type { StackStates as AllStates } from "../stacks/stack-states.js";
import { createDecisions, type Decisions } from "./run/decisions.js";
import { createDeletions, type Deletions } from "./run/deletions.js";
import type { Properties } from "./state/properties.js";

/** The settings of one account of the service, and the way to talk to it. */
export interface AccountSession {
  readonly settings: Settings;
  readonly service: Collections;
}

/** What the states of all stacks that can be seen hold. */
export type ObjectHolders = Pick<AllStates, "holdersOf" | "readersOf" | "resourceOf">;

/** Whether a state holds an object, or a program looks it up. */
export const isHeld = (states: ObjectHolders, kind: string, id: string): boolean =>
  states.holdersOf(kind, id).length + states.readersOf(kind, id).length > 0;

/** What a run tells the user beside failures. */
export type Tell = (text: string, severity: "info" | "warning") => void;

/** What a run is going to do with an object. */
export type ForeseenAction = "create" | "adopt" | "update" | "delete";

/** Of which resource that is foreseen. */
export interface ForeseenResource {
  readonly definition: Definition;
  readonly properties: Pick<Properties, "owner" | "profile">;
}

/** Means that a run may lack; each has a safe reading where it is missing. */
export interface RunEnvironment {
  /** Reads the settings and connects to nothing. @throws ConversationError `SETTINGS_MISSING`, `SETTINGS_INVALID` */
  readonly settings?: (profile?: string) => Settings;
  /**
   * The state of the stack that runs, or of all stacks of its backend, as they were before the run;
   * undefined where they cannot be seen. Asked for rarely: it takes seconds.
   */
  readonly states?: (owner: string, whose: "own" | "all") => Promise<ObjectHolders | undefined>;
  readonly tell?: Tell;
  /** Where `fromEnv` looks. Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The URN of the resource that the running call is about, where it is known. */
  readonly urn?: () => string | undefined;
  /** Runs a call with the URN known of the resource that these values of the engine are of. */
  readonly about?: <T>(values: JsonObject, call: () => Promise<T>) => Promise<T>;
  /** Told what the run is going to do with a resource, as soon as that can be known; a deletion, when it is asked for. */
  readonly foresee?: (resource: ForeseenResource, action: ForeseenAction) => void;
  /** Whether the whole stack is being destroyed, as far as that can be seen. */
  readonly isDestroying?: () => boolean;
}

/**
 * What one run of the engine – one process – has learnt. Arguments never tell a forced replacement
 * from a creation, nor a deletion that ends one from a real deletion; this memory does.
 */
export interface Run<S extends AccountSession = AccountSession> extends RunEnvironment {
  /** Made on first use, so that a run without changes needs neither settings nor a token. */
  readonly session: (profile?: string) => Promise<S>;
  readonly decisions: Decisions;
  readonly deletions: Deletions;
}

/** A fresh memory over a way to make sessions. */
export const createRun = <S extends AccountSession>(
  connect: (profile?: string) => Promise<S>,
  options: RunEnvironment = {},
): Run<S> => {
  const sessions = new Map<string | undefined, Promise<S>>();
  const connected = async (profile?: string): Promise<S> => {
    assertNode();
    assertDistinctProfiles(profile, sessions.keys());
    return connect(profile);
  };
  const session = (profile?: string): Promise<S> => {
    const known = sessions.get(profile);
    if (known) return known;
    const made = connected(profile);
    sessions.set(profile, made);
    // A failure to connect is not remembered: the next call reads the settings again.
    made.catch(() => sessions.delete(profile));
    return made;
  };
  return { ...options, session, decisions: createDecisions(), deletions: createDeletions() };
};
