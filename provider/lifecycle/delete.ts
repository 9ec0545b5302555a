import { isDeepStrictEqual } from "node:util";
import type { Definition } from "../definition/define.js";
import { type ReferenceIn, referencesIn } from "../definition/fields.js";
import { namingOf, referencesTo } from "../definition/kinds.js";
import { fieldsFromWire, neutralVendor } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { ownerParts } from "../kernel/owner.js";
import { ownCommand } from "../kernel/package.js";
import { resources } from "../resources/index.js";
import type { WireObject } from "../service/lists.js";
import { type Mark, nameOnWire } from "./ownership/mark.js";
import type { Holding } from "./ownership/stack-states.js";
import { isHeld, isThisResource } from "./ownership.js";
import { desiredBody, desiredObject, planPut, putInPlace } from "./put.js";
import {
  connected,
  type Declared,
  declaredBefore,
  propertiesIn,
  type Resource,
  resourceIn,
} from "./resource.js";
import type { AccountSession, ObjectHolders, ResourceIdentity } from "./run.js";
import { originalMark, readWholeObject } from "./seen.js";

/**
 * Deletes the object. An object that no longer exists counts as deleted. Keeps an object that the
 * program still needs (see {@link Decisions.keeps}).
 *
 * @param state the resource in the state
 */
export const deleteObject = async (
  resource: Resource,
  id: string,
  state: JsonObject,
): Promise<void> => {
  const { definition, run, identity, properties } = resource;
  if (identity) {
    const keeper = await findKeeper(resource, identity, id);
    if (keeper) {
      run.decisions.skipped.set(keeper, { id, outputs: state });
      const now = run.decisions.rewritten(keeper, id);
      if (!now) return;
      const rewritten = resourceIn(resource, propertiesIn(now));
      return removeUndeclared(await connected(rewritten), id, state);
    }
    run.decisions.leave(identity, { id, serial: properties.record.serial });
  }
  const declared = await connected(resource);
  const attempt = () => declared.service.remove(definition, id);
  try {
    await run.deletions.run(attempt, isRefusal);
  } catch (error) {
    if (!isConversationError(error) || !isRefusal(error)) throw error;
    await retryWithoutLeftovers(declared, id, error, attempt);
  }
};

/**
 * The key of the resource that keeps the object: of the one that the program declares in the same
 * place, or of this one if another resource in the stack's state has the object, or the one that has
 * replaced this one. This process may not know those: a provider that is itself replaced
 * (`--replace '**'`), or that a resource has left for another one, deletes in a process of its own.
 * If two such resources are deleted, the second deletion removes the object.
 */
const findKeeper = async (
  resource: Resource,
  identity: ResourceIdentity,
  id: string,
): Promise<string | undefined> => {
  const { run, definition, properties } = resource;
  const { kind } = definition;
  const { owner } = properties;
  const keeperAt = (place: string): string | undefined => {
    const key = run.decisions.declaredAt(kind, place)?.key;
    return key !== undefined && run.decisions.keeps(key, id) ? key : undefined;
  };
  if (run.decisions.keeps(identity.key, id)) return identity.key;
  const keeper = keeperAt(identity.place);
  if (keeper || !owner) return keeper;
  const ownOf = (states: ObjectHolders | undefined) =>
    states?.holdersOf(kind, id).filter(({ own, isUnsettled }) => own && !isUnsettled) ?? [];
  // An earlier reading may be older than the replacement: with deleteBeforeReplace, deletions begin
  // while the program still runs. A process that serves the whole program knows its replacements.
  const isAlone = run.decisions.hasProgram() && !run.isPlugins;
  const isKnown = (states: ObjectHolders) => ownOf(states).some(({ leaving }) => leaving);
  const states = await run.states?.(owner, "own", isAlone ? undefined : isKnown);
  if (!states && !run.decisions.hasProgram() && (await run.hidesReplacements?.()))
    throw unreadableState();
  const holders = ownOf(states);
  const isThis = (held: Holding) => isThisResource(resource, held, held.writtenOwner ?? held.owner);
  // Renamed in the state since it was written.
  const renamed = holders.find((held) => !held.leaving && isThis(held))?.owner;
  const present = renamed && keeperAt(ownerParts(renamed).name);
  if (present) return present;
  const isReplaced = holders.some((held) => held.leaving && isThis(held));
  // The one that stayed has another owner if another provider made it: what both skip is left over.
  const isElsewhere = holders.some((held) => !held.leaving && (isReplaced || !isThis(held)));
  return isElsewhere && !run.decisions.wasSkipped(kind, id) ? identity.key : undefined;
};

const unreadableState = (): ConversationError =>
  new ConversationError(
    "SETTINGS_INVALID",
    "the provider cannot read the state with the pulumi on the PATH, so it cannot make sure that no other resource now has the object. Nothing was deleted. Put pulumi on the PATH, make sure that pulumi stack ls succeeds in the project's folder, and run the command again.",
  );

/**
 * Removes members that the program declared before a forced replacement updated the object: during
 * the replacement nothing distinguished them from members that are not the program's.
 *
 * @param declared the resource that the object was updated to
 * @param state the resource as the state had it
 */
const removeUndeclared = async (
  declared: Declared,
  id: string,
  state: JsonObject,
): Promise<void> => {
  const before = await declaredBefore(declared, state);
  if (!declaresLess(before, declared)) return;
  const live = await readWholeObject(declared, id);
  if (live) await putInPlace(declared, planPut(declared, live, before));
};

const wantedBody = (declared: Declared): JsonObject =>
  desiredBody(declared, desiredObject(declared, { serial: "" }));

const declaresLess = (before: Declared, now: Declared): boolean =>
  (before.properties.fields.description !== undefined &&
    now.properties.fields.description === undefined) ||
  isLeftOut(wantedBody(before), wantedBody(now));

/** Whether part of a value is missing from another one. */
const isLeftOut = (before: unknown, now: unknown): boolean => {
  if (before === undefined || before === null) return false;
  if (now === undefined || now === null) return true;
  if (isObject(before) && isObject(now))
    return Object.entries(before).some(([name, value]) => isLeftOut(value, now[name]));
  return Array.isArray(before) && before.some(isObject) && !isDeepStrictEqual(before, now);
};

/**
 * The specification does not state the status of a refused deletion, so every refusal may be one.
 */
const isRefusal = (error: unknown): boolean => isConversationError(error, "REJECTED", "FORBIDDEN");

/**
 * Tries again after removing leftovers of ours that use the object; otherwise explains who else
 * uses it.
 */
const retryWithoutLeftovers = async (
  declared: Declared,
  id: string,
  refusal: ConversationError,
  attempt: () => Promise<void>,
): Promise<void> => {
  const users = await usersOf(declared.definition, id, declared, resources);
  const gone = await removeUsers(declared, await findSureLeftovers(declared, users));
  const left = users.filter((user) => !gone.includes(user));
  if (gone.length === 0) throw await explainRefusal(declared, left, refusal);
  try {
    await attempt();
  } catch (error) {
    if (!isConversationError(error) || !isRefusal(error)) throw error;
    throw await explainRefusal(declared, left, error);
  }
};

/**
 * Users that are certainly leftovers of ours: originals, not copies, of a resource for which this
 * run knows another object, and not held by any state. If names need not be unique, a copy of an
 * object that is gone looks the same, so only objects that this run created count.
 */
const findSureLeftovers = async (
  { run, properties }: Declared,
  users: readonly User[],
): Promise<readonly User[]> => {
  const { decisions } = run;
  const beside = users.filter(({ mark, id, isNamedUniquely }) => {
    const known = mark && decisions.objects.get(mark.resource);
    const isOther = known !== undefined && known.id !== id && known.serial !== mark?.serial;
    return (
      isOther && mark?.serial !== undefined && (isNamedUniquely || decisions.hasPosted(mark.serial))
    );
  });
  if (beside.length === 0 || !properties.owner) return [];
  const states = await run.states?.(properties.owner, "all");
  return beside.filter(
    ({ definition, id, mark }) =>
      decisions.hasPosted(mark?.serial) ||
      (states !== undefined && !isHeld(states, definition.kind, id)),
  );
};

const removeUsers = async (
  { service }: Declared,
  users: readonly User[],
): Promise<readonly User[]> => {
  const gone: User[] = [];
  for (const user of users) {
    try {
      await service.remove(user.definition, user.id);
      gone.push(user);
    } catch (error) {
      if (!isConversationError(error)) throw error;
    }
  }
  return gone;
};

const explainRefusal = async (
  { definition, mark, properties: { owner }, run }: Declared,
  users: readonly User[],
  refusal: ConversationError,
): Promise<ConversationError> => {
  const held = definition.heldByAny;
  if (users.length === 0 && (!held || refusal.code === "FORBIDDEN")) return refusal;
  const marked = users.filter((user) => user.mark !== undefined);
  const states = owner && marked.length > 0 ? await run.states?.(owner, "all") : undefined;
  const isLeftover = marked.some(
    (user) => !states || !isHeld(states, user.definition.kind, user.id),
  );
  const removal = `If the state of its stack does not contain that object, ${ownCommand("orphans")} there removes it.`;
  const named =
    users.length > 0
      ? `, because it is in use by ${users.map((user) => describeUser(user, mark, states)).join("; ")}. ` +
        `Remove the reference, or the object that contains it, then try again.${isLeftover ? ` ${removal}` : ""}`
      : `. No visible object refers to it. ${held?.doc} First, delete every ${held?.kinds.map(({ noun }) => noun).join(" and ")} that might use it, then try again.`;
  return new ConversationError(
    "IN_USE",
    `the service refuses the deletion (${refusal.details.status ?? "no status"})${named}`,
    refusal.details,
    "none",
    { cause: refusal },
  );
};

/** An object that refers to another one. */
interface User {
  readonly definition: Definition;
  readonly id: string;
  readonly name: unknown;
  /** Whether no two objects of its kind can have the same name. */
  readonly isNamedUniquely: boolean;
  /** Undefined on other people's objects and on copies of ours. */
  readonly mark?: Mark;
}

/** The state is more reliable than the mark, which `pulumi state move` does not change. */
const whose = (
  { definition: { kind }, id, mark }: User,
  own: Mark | undefined,
  states?: ObjectHolders,
): string => {
  if (!mark) return "not managed by Pulumi";
  const [elsewhere] = states?.holdersOf(kind, id).filter((each) => !each.own) ?? [];
  if (elsewhere) return `in the state of the stack ${elsewhere.stack}: ${mark.label}`;
  return mark.stack === own?.stack
    ? `in this stack: ${mark.label}`
    : `in another stack: ${mark.label}`;
};

/**
 * Describes an object that uses another one, for messages, such as `account "kiosk" (ID …, in this
 * stack: shop/prod kiosk)`.
 */
export const describeUser = (user: User, own: Mark | undefined, states?: ObjectHolders): string =>
  `${user.definition.noun} ${JSON.stringify(user.name)} (ID ${user.id}, ${whose(user, own, states)})`;

/** Returns every reference in an object's JSON from the service. */
export const wireReferences = (definition: Definition, wire: WireObject) =>
  referencesIn(definition.fields, fieldsFromWire(definition.fields, wire, neutralVendor)).flatMap(
    ({ id, ...rest }) =>
      typeof id === "string" || typeof id === "number" ? [{ ...rest, id: String(id) }] : [],
  );

/** Objects of one kind, by ID. */
interface KindObjects<W extends WireObject> {
  readonly definition: Definition;
  readonly objects: Iterable<readonly [id: string, wire: W]>;
}

/**
 * Determines which objects use each object.
 *
 * @param referencesOf the references of an object. Default: those in its JSON
 * @returns a function that returns the users of an object, once for every reference to it
 */
export const usersAmong = <W extends WireObject>(
  kinds: readonly KindObjects<W>[],
  referencesOf: (
    definition: Definition,
    wire: W,
    id: string,
  ) => readonly ReferenceIn[] = wireReferences,
) => {
  const uses = kinds.flatMap(({ definition, objects }) =>
    [...objects].flatMap(([id, wire]) =>
      referencesOf(definition, wire, id).map(({ to, id: used, path }) => ({
        used: `${to.kind} ${used}`,
        ...{ definition, id, wire, path },
      })),
    ),
  );
  const byUsed = Map.groupBy(uses, ({ used }) => used);
  return ({ kind }: Definition, id: string) => byUsed.get(`${kind} ${id}`) ?? [];
};

const listReadable = async (definition: Definition, { service }: AccountSession) => {
  try {
    const { objects } = await service.list(definition, { fresh: true });
    return { definition, objects };
  } catch (error) {
    // The lists serve only to explain a refusal, so a list that cannot be read is skipped.
    if (isConversationError(error)) return { definition, objects: [] };
    throw error;
  }
};

/** Returns the objects that refer to an object, among the objects in all readable lists. */
export const usersOf = async (
  target: Definition,
  targetId: string,
  session: AccountSession,
  resources: readonly Definition[],
): Promise<readonly User[]> => {
  const kinds = [...new Set(referencesTo(target, resources).map(({ from }) => from))];
  const candidates = await Promise.all(kinds.map((kind) => listReadable(kind, session)));
  const users = usersAmong(candidates)(target, targetId);
  return [...new Map(users.map((each) => [each.wire, each])).values()].map(
    ({ definition, id, wire }) => {
      const mark = originalMark(definition, wire);
      const name = nameOnWire(definition, wire);
      const isNamedUniquely = namingOf(definition).isUnique;
      return { definition, id, name, isNamedUniquely, ...(mark ? { mark } : {}) };
    },
  );
};
