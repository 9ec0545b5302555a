import type { Definition } from "../definition/define.js";
import { type ReferenceIn, referencesIn } from "../definition/fields.js";
import { nameOnWire, referencesTo } from "../definition/kinds.js";
import { fieldsFromWire, neutralVendor } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { ownCommand } from "../kernel/package.js";
import { ownerParts } from "../kernel/pulumi.js";
import { resources } from "../resources/index.js";
import type { WireObject } from "../service/lists.js";
import { engineCall } from "./engine-call.js";
import { isHeld, isThisResource, originalMark } from "./ownership.js";
import {
  connected,
  type Declared,
  type KindInRun,
  openSession,
  type Resource,
} from "./resource.js";
import type { AccountSession, Decisions, ObjectHolders, ResourceIdentity } from "./run.js";
import type { Holding, Mark, ResourceMark } from "./stack-states.js";

/** What the engine calls to delete a resource. */
export const onDelete =
  (of: KindInRun) =>
  (id: string, inputs: JsonObject): Promise<void> =>
    engineCall({ of, doing: "deleting", id, inputs }, (resource) =>
      deleteObject(resource, id, inputs),
    );

/**
 * Deletes the object. An object that no longer exists counts as deleted. Keeps an object that the
 * program still needs.
 *
 * @param state the resource in the state
 */
const deleteObject = async (resource: Resource, id: string, state: JsonObject): Promise<void> => {
  const { definition, run, identity, properties } = resource;
  // The connection loads, without a call, while Pulumi shows the state.
  openSession(run, properties.profile).catch(() => undefined);
  const keeper = identity && (await findKeeper(resource, identity, id));
  if (keeper && !(await isMovedAway(resource, keeper, id))) {
    const { skipped, rewritten } = run.decisions;
    skipped.set(keeper, { id, outputs: state });
    const now = rewritten.get(keeper);
    rewritten.delete(keeper);
    return now?.id === id ? now.finish(state) : undefined;
  }
  const declared = await connected(resource);
  try {
    await run.deletions.run(() => declared.service.remove(definition, id), isRefusal);
  } catch (error) {
    if (!isConversationError(error) || !isRefusal(error)) throw error;
    const users = await usersOf(definition, id, declared, resources);
    throw await explainRefusal(declared, users, error);
  }
};

/**
 * Whether an object must be kept. It must be kept if it belongs to a resource that the program
 * declares, regardless of its previous owner, because a replaced `Ownership` gives all resources
 * new keys. It must also be kept if the program declares the resource with this key and no other
 * object belongs to that resource. A forced replacement happens in place; before or after it, the
 * engine deletes the "old" object, which is the same one.
 */
const isKept = ({ declared, holders, objects }: Decisions, key: string, id: string): boolean => {
  const holder = holders.get(id)?.key;
  if (holder !== undefined && declared.has(holder)) return true;
  return declared.has(key) && (objects.get(key)?.id ?? id) === id;
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
  const { decisions } = run;
  // Whatever its owner: a resource of the plugin, or one that was moved from another stack, has
  // another owner in a forced replacement than in the state.
  const keeperAt = (place: string): string | undefined =>
    [...decisions.declared.values()].findLast(
      (each) => each.kind === kind && each.place === place && isKept(decisions, each.key, id),
    )?.key;
  if (isKept(decisions, identity.key, id)) return identity.key;
  const keeper = keeperAt(identity.place);
  if (keeper || !owner) return keeper;
  const hasProgram = decisions.declared.size > 0;
  const ownOf = (states: ObjectHolders | undefined) =>
    states?.holdersOf(kind, id).filter(({ own, isUnsettled }) => own && !isUnsettled) ?? [];
  // An earlier reading may be older than the replacement: with deleteBeforeReplace, deletions begin
  // while the program still runs. A process that serves the whole program knows its replacements,
  // and without a program there are none. Only Node.js, which dynamic resources need, tells.
  const mayReplace = run.isPlugins || !(hasProgram || (await run.runsProgram?.()) === false);
  const isKnown = (states: ObjectHolders) => ownOf(states).some(({ leaving }) => leaving);
  const states = await run.states?.(owner, "own", mayReplace ? isKnown : undefined);
  if (!states && !hasProgram && (await run.hidesReplacements?.())) throw unreadableState();
  const holders = ownOf(states);
  const isThis = (held: Holding) => isThisResource(resource, held, held.writtenOwner ?? held.owner);
  // Renamed in the state since it was written.
  const renamed = holders.find((held) => !held.leaving && isThis(held))?.owner;
  const present = renamed && keeperAt(ownerParts(renamed).name);
  if (present) return present;
  const isReplaced = holders.some((held) => held.leaving && isThis(held));
  // The one that stayed has another owner if another provider made it: what both skip is left over.
  const isElsewhere = holders.some((held) => !held.leaving && (isReplaced || !isThis(held)));
  const skip = `${kind} ${id}`;
  if (!isElsewhere || decisions.left.has(skip)) return undefined;
  decisions.left.add(skip);
  return identity.key;
};

/** Whether the resource that would keep the object is declared with a profile of another account. */
const isMovedAway = async (
  { definition, run, properties }: Resource,
  keeper: string,
  id: string,
): Promise<boolean> => {
  const next = run.decisions.declared.get(keeper);
  if (!next || next.profile === properties.profile) return false;
  const { service } = await openSession(run, next.profile);
  return (await service.read(definition, id)) === undefined;
};

const unreadableState = (): ConversationError =>
  new ConversationError(
    "SETTINGS_INVALID",
    "the provider cannot read the state with the pulumi on the PATH, so it cannot make sure that no other resource now has the object. Nothing was deleted. Put pulumi on the PATH, make sure that pulumi stack ls succeeds in the program's folder (if Pulumi.yaml is not in or above it, set PULUMI_BACKEND_URL), and run the command again.",
  );

/**
 * The specification does not state the status of a refused deletion, so every refusal may be one.
 */
const isRefusal = (error: unknown): boolean => isConversationError(error, "REJECTED", "FORBIDDEN");

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
  /** Undefined on other people's objects and on copies of ours. */
  readonly mark?: Mark;
}

/** The state is more reliable than the mark, which `pulumi state move` does not change. */
const whose = (
  { definition: { kind }, id, mark }: User,
  own: ResourceMark | undefined,
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
export const describeUser = (
  user: User,
  own: ResourceMark | undefined,
  states?: ObjectHolders,
): string =>
  `${user.definition.noun} ${JSON.stringify(user.name)} (ID ${user.id}, ${whose(user, own, states)})`;

/** Returns every reference in an object's JSON from the service. */
export const wireReferences = (definition: Definition, wire: WireObject) =>
  referencesIn(definition.fields, fieldsFromWire(definition.fields, wire, neutralVendor)).flatMap(
    ({ id, ...rest }) =>
      typeof id === "string" || typeof id === "number" ? [{ ...rest, id: String(id) }] : [],
  );

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
      return { definition, id, name, ...(mark ? { mark } : {}) };
    },
  );
};
