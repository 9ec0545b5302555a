import type { Definition } from "../definition/define.js";
import type { Naming } from "../definition/fields.js";
import type { JsonObject } from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import { ownerParts, readableName } from "../kernel/owner.js";
import { unknownValue } from "../kernel/stand-ins.js";
import type { Collections } from "../service/collections.js";
import type { Settings } from "../service/setting-table.js";
import { assertDistinctProfiles } from "../service/settings.js";
import {
  createDecisions,
  createDeletions,
  type Decisions,
  type Deletions,
  type ResourceIdentity,
} from "./decisions.js";
import { type Mark, markOf, roomBeside } from "./ownership/mark.js";
import type { StackStates as AllStates, Holding } from "./ownership/stack-states.js";
import type { Properties } from "./properties.js";

/** An account's settings and service client. */
export interface AccountSession {
  readonly settings: Settings;
  readonly service: Collections;
}

/** The resources that manage or look up objects, according to the states. */
export type ObjectHolders = Pick<AllStates, "holdersOf" | "readersOf" | "resourceOf">;

/** Whether a resource in a state manages or looks up an object. */
export const isHeld = (states: ObjectHolders, kind: string, id: string): boolean =>
  states.holdersOf(kind, id).length + states.readersOf(kind, id).length > 0;

/**
 * Whether a resource in a state is this one: owner and door stand for its URN.
 *
 * @param owner the owner of `held` to go by. Default: its present one
 */
export const isThisResource = (
  { run, properties }: Resource,
  held: Holding,
  owner = held.owner,
): boolean =>
  held.own && owner === properties.owner && Boolean(held.isPlugins) === Boolean(run.isPlugins);

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
  return { ...options, session, decisions: createDecisions(), deletions: createDeletions() };
};

/** The context of one kind in one run, shared by all resources of the kind. */
export interface Context {
  readonly definition: Definition;
  readonly naming: Naming;
  readonly run: Run;
}

/** A resource in the program or the state, resolved once per call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field by which people identify objects of the kind; `name` is its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** The name of the field `nameKey` in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is derived from the logical name if a program omits it. */
  readonly isAutomatic: boolean;
  /**
   * How the run identifies the resource; undefined for old state that does not specify an owner.
   */
  readonly identity: ResourceIdentity | undefined;
  /** The mark of the resource's objects, whether or not marks are enabled. */
  readonly ownMark: Mark | undefined;
  /**
   * Number of characters that fit into the description field next to the mark; negative if none.
   */
  readonly room: number;
}

/** Resolves the engine's values to a resource, which all steps of a call use. */
export const resourceIn = (context: Context, properties: Properties): Resource => {
  const owned = ownerIn(context, properties);
  const { key: nameKey, wire: nameOnWire, ...naming } = context.naming;
  const name = properties.fields[nameKey];
  return { ...context, properties, nameKey, name, nameOnWire, ...naming, ...owned };
};

/**
 * The run identifies a resource by its part of its mark, whether or not marks are written. In the
 * first preview of a stack the owner is not known yet; the logical name then distinguishes
 * resources.
 */
const ownerIn = (
  { definition: { kind, fields } }: Context,
  { owner, logicalName }: Properties,
): Pick<Resource, "identity" | "ownMark" | "room"> => {
  if (owner === undefined) return { identity: undefined, ownMark: undefined, room: -1 };
  const isKnown = owner !== unknownValue;
  const place = isKnown ? ownerParts(owner).name : logicalName;
  const { description: field } = fields;
  const ownMark = markOf(kind, owner);
  const room = field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  if (place === undefined) return { identity: undefined, ownMark, room };
  const key = isKnown ? ownMark.resource : `${kind} ${place}`;
  const label = `${kind} ${readableName(place)}`;
  return { identity: { key, place, label, kind }, ownMark, room };
};

/** A resource with its account. */
export interface Declared extends Resource, AccountSession {
  /** The mark of the resource's objects; undefined if marks are disabled. */
  readonly mark: Mark | undefined;
  /**
   * Whether an object created now would carry the mark. A long description may leave no room for
   * it.
   */
  readonly isMarked: boolean;
}

/**
 * Returns the resource together with the account that its settings specify.
 *
 * @param session for that account, if there is one
 */
export const connected = async (
  resource: Resource,
  session?: AccountSession,
): Promise<Declared> => {
  const { definition, ownMark, room, properties, run } = resource;
  const { settings, service } = session ?? (await run.session(properties.profile));
  const { description: field } = definition.fields;
  const { description } = properties.fields;
  const isOn = settings.ownershipMark === "description" && field?.type === "text";
  const mark = isOn ? ownMark : undefined;
  const beside = typeof description === "string" && description ? description.length + 1 : 0;
  return { ...resource, settings, service, mark, isMarked: mark !== undefined && beside <= room };
};
