import type { Definition } from "../../provider/definition/define.js";
import { namingOf, naturalKey } from "../../provider/definition/fields.js";
import { asText, isObject, type JsonObject, sameJson } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { usersAmong } from "../../provider/lifecycle/delete.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { isSameResource, markOf, objectTime } from "../../provider/lifecycle/ownership/mark.js";
import {
  kindOfMarked,
  type MarkedObject,
  markedAmong,
  type Orphan,
  orphansAmong,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import { propertiesIn } from "../../provider/lifecycle/properties.js";
import { connected, type Declared, isHeld, resourceIn } from "../../provider/lifecycle/run.js";
import { describe, seenObjects } from "../../provider/lifecycle/seen.js";
import { messageOf } from "../command.js";
import { readingNotes } from "../inventory/open-account.js";
import { unreadAmong } from "../inventory/read-account.js";
import {
  type AccountRead,
  isOurType,
  kindIn,
  type StackReading,
} from "../inventory/stack-reading.js";
import {
  accountIn,
  definitionOfType,
  logicalName,
  openedValues,
  type PendingOperation,
  type StackExport,
  type StateResource,
  stateValue,
} from "../pulumi/stack-documents.js";
import { withCount } from "../terminal/columns.js";
import type { RepairResult, RepairStep } from "./schemas.js";

/** All facts that a repair decides by. */
interface RepairFacts extends StackReading {
  readonly names: StackNames;
}

/**
 * Operations that a run began on our resources without reporting the result; for each resource, the
 * last.
 */
const pendingOperations = ({ deployment }: StackExport): readonly PendingOperation[] => {
  const ours = (deployment.pending_operations ?? []).filter(({ resource }) =>
    isOurType(resource.type),
  );
  return [...new Map(ours.map((each) => [each.resource.urn, each])).values()];
};

/** The resource of a state that represents an object under a URN, if there is one. */
const heldResource = (
  { deployment }: StackExport,
  urn: string,
): (StateResource & { readonly id: string }) | undefined => {
  for (const resource of deployment.resources ?? [])
    if (resource.urn === urn && resource.delete !== true && resource.id)
      return { ...resource, id: resource.id };
  return undefined;
};

/** Operations that a run began on resources from other packages without reporting the result. */
const foreignOperations = ({ deployment }: StackExport): readonly PendingOperation[] =>
  (deployment.pending_operations ?? []).filter(({ resource }) => !isOurType(resource.type));

/**
 * The outcome of a creation that a run began without reporting the result, and that no state has.
 */
type CreationOutcome =
  /** Nothing in the service was made. */
  | { readonly outcome: "not-made" }
  /** It made this object; `surplus`: those that other attempts made. */
  | {
      readonly outcome: "made";
      readonly object: MarkedObject;
      readonly surplus: readonly MarkedObject[];
    }
  /** Unknown; `why` is a sentence that includes what to do. */
  | { readonly outcome: "unclear"; readonly why: string };

const unclear = (why: string): CreationOutcome => ({ outcome: "unclear", why });

/** The object that others already refer to, else the one that was made first. */
const firstOf = (account: AccountRead, objects: readonly MarkedObject[]) => {
  const createdOf = ({ definition, id }: MarkedObject): number =>
    objectTime(kindIn(account, definition).objects.get(id)?.created);
  const usersOf = usersAmong(objects.length > 1 ? account.reading.kinds : []);
  const isUsed = ({ definition, id }: MarkedObject) => Number(usersOf(definition, id).length > 0);
  const [object, ...surplus] = objects.toSorted(
    (a, b) => isUsed(b) - isUsed(a) || createdOf(a) - createdOf(b) || a.id.localeCompare(b.id),
  );
  return { object, surplus };
};

/** Leftovers with the mark of a resource. */
const madeFor = (
  { definition, ownMark }: Declared,
  account: AccountRead,
  { states }: RepairFacts,
): readonly MarkedObject[] =>
  markedAmong([kindIn(account, definition)]).filter(
    (object) =>
      ownMark !== undefined &&
      isSameResource(object.mark, ownMark) &&
      !isHeld(states, definition.kind, object.id) &&
      kindOfMarked(object, states) === "leftover",
  );

/** If an object could not carry a mark, only its name identifies it, which is not enough. */
const unmarkedOutcome = (
  declared: Declared,
  account: AccountRead,
  { states }: RepairFacts,
  urn: string,
): CreationOutcome => {
  const { definition } = declared;
  const named = seenObjects(declared, kindIn(account, definition).objects).find(
    ({ id, isNamed, mark }) => isNamed && !mark && !isHeld(states, definition.kind, id),
  );
  if (declared.isMarked || !named) return { outcome: "not-made" };
  const shown = describe(definition, { ...named.wire, id: named.id });
  return unclear(
    `${definition.kind} ${logicalName(urn)}: its object could not carry a mark. The ${shown} has the same name and may be its object. ` +
      `If it is, set adopt: "${named.id}" in the program, run pulumi up, and repair again. If not, give the resource another name.`,
  );
};

const outcomeAmong = (
  found: readonly MarkedObject[],
  account: AccountRead,
  urn: string,
): CreationOutcome => {
  const serials = found.map(({ mark }) => mark.serial);
  const areApart = serials.every(
    (serial, place) => serial !== undefined && serials.indexOf(serial) === place,
  );
  const { object, surplus } = firstOf(account, found);
  if (object && (surplus.length === 0 || areApart)) return { outcome: "made", object, surplus };
  const ids = found.map(({ id }) => id).join(", ");
  return unclear(
    `${logicalName(urn)}: one of these objects is a copy of the other, but the marks do not show which: ${ids}. ` +
      `Remove the mark from the copy (${ownCommand("orphans --release --id <id>")}), and then repair again.`,
  );
};

/** Finds the outcome of a creation, by the mark of its resource in the service. */
const creationOutcome = async (
  { resource }: PendingOperation,
  facts: RepairFacts,
): Promise<CreationOutcome> => {
  const { urn, type, inputs } = resource;
  const definition = definitionOfType(type);
  if (!definition) return { outcome: "not-made" };
  const name = accountIn(resource);
  const context = { definition, naming: namingOf(definition), run: facts.runIn(name) };
  const declared = await connected(resourceIn(context, propertiesIn(openedValues(inputs))));
  const account = facts.accountOf(name);
  const { problem } = kindIn(account, definition);
  if (problem !== undefined)
    return unclear(
      `${definition.kind} ${logicalName(urn)}: the command could not read the objects of its kind: ${problem}`,
    );
  const found = madeFor(declared, account, facts);
  if (found.length > 0) return outcomeAmong(found, account, urn);
  return unmarkedOutcome(declared, account, facts, urn);
};

/** The names of an object in steps. */
const namedInStep = ({ definition: { kind }, name, id }: MarkedObject) => ({
  ...{ kind, name: asText(name), id },
});

/** A resource for the state; empty if its object is gone; or why it cannot be read. */
type Entry = { readonly entry?: JsonObject } | { readonly why: string };

const readEntry = async (
  resource: StateResource,
  definition: Definition,
  id: string,
  known: JsonObject,
  { runIn }: RepairFacts,
): Promise<Entry> => {
  const { __provider } = known;
  const run = runIn(accountIn(resource));
  const { id: there, props, inputs = {} } = await lifecycle(definition, run).read(id, known);
  if (there === "") return {};
  const pointer = __provider === undefined ? {} : { __provider };
  const valuesOf = (values: JsonObject) => Object.assign({}, stateValue(values), pointer);
  const values = { inputs: valuesOf(inputs), outputs: valuesOf(props) };
  return { entry: { ...resource, custom: true, id, ...values } };
};

/**
 * A resource as the state would have it if the run had not been cut off: with the object's current
 * values.
 */
const stateEntry: typeof readEntry = (resource, definition, id, known, facts) =>
  readEntry(resource, definition, id, known, facts).catch((error: unknown) => ({
    why: `${definition.kind} ${logicalName(resource.urn)}: the command could not read its object (ID ${id}): ${messageOf(error)}`,
  }));

/** The results gathered while the operations are examined one by one. */
interface PendingSteps {
  readonly steps: RepairStep[];
  readonly entries: JsonObject[];
  readonly left: string[];
  readonly kept: Set<string>;
  readonly surplus: Set<string>;
}

const kindNamed = (type: string): string => type.split(/[:/]/).at(-1) ?? type;

const gatherCreation = async (
  operation: PendingOperation,
  facts: RepairFacts,
  { steps, entries, left, kept, surplus }: PendingSteps,
): Promise<void> => {
  const found = await creationOutcome(operation, facts);
  const { resource } = operation;
  const { urn, type, inputs } = resource;
  const forget = { action: "forget", kind: kindNamed(type), urn, why: "not-made" } as const;
  if (found.outcome === "unclear") left.push(found.why);
  if (found.outcome === "not-made") steps.push(forget);
  if (found.outcome !== "made") return;
  const { object } = found;
  const { definition, id, mark } = object;
  const known = { ...openedValues(inputs), ...(mark.serial ? { serial: mark.serial } : {}) };
  const read = await stateEntry(resource, definition, id, known, facts);
  if ("why" in read) left.push(read.why);
  // It disappeared after it was listed.
  else if (!read.entry) steps.push(forget);
  else {
    entries.push(read.entry);
    kept.add(id);
    for (const each of found.surplus) surplus.add(each.id);
    steps.push({ action: "record", urn, ...namedInStep(object) });
  }
};

const isAsHeld = (entry: JsonObject, { outputs }: StateResource): boolean =>
  isObject(entry.outputs) && sameJson(openedValues(entry.outputs), openedValues(outputs));

/** Why the operation on a resource in the state is removed, unless the next run repeats it. */
const whyForgotten: Readonly<Record<string, "held" | "deletion">> = {
  creating: "held",
  deleting: "deletion",
};

/**
 * An update or a replacement may have reached the service: the next run compares with the object's
 * current values.
 */
const gatherHeld = async (
  { type, resource: { urn, type: token } }: PendingOperation,
  facts: RepairFacts,
  { steps, entries, left }: PendingSteps,
): Promise<void> => {
  const definition = definitionOfType(token);
  const held = heldResource(facts.document, urn);
  const isWritten = ["creating", "updating"].includes(type) && definition && held;
  const outputs = openedValues(held?.outputs);
  const read: Entry = isWritten ? await stateEntry(held, definition, held.id, outputs, facts) : {};
  if ("why" in read) {
    left.push(read.why);
    return;
  }
  if (!isWritten || !read.entry || isAsHeld(read.entry, held)) {
    const why = whyForgotten[type] ?? "again";
    steps.push({ action: "forget", kind: kindNamed(token), urn, why });
    return;
  }
  entries.push(read.entry);
  const name = asText(outputs[naturalKey(definition)]);
  steps.push({ action: "refresh", urn, kind: definition.kind, name, id: held.id });
};

/** Decides on every operation that a run began without reporting the result. */
const pendingSteps = async (facts: RepairFacts): Promise<PendingSteps> => {
  const all: PendingSteps = {
    ...{ steps: [], entries: [], left: [], kept: new Set<string>(), surplus: new Set<string>() },
  };
  for (const operation of pendingOperations(facts.document)) {
    const isInState = heldResource(facts.document, operation.resource.urn) !== undefined;
    const isCreation = operation.type === "creating" && !isInState;
    await (isCreation ? gatherCreation : gatherHeld)(operation, facts, all);
  }
  return all;
};

/** A leftover beside the object that represents its resource. */
export interface Duplicate {
  readonly orphan: Orphan;
  readonly account: AccountRead;
}

/** The steps that put the state and the service in order. */
export interface RepairPlan {
  readonly steps: readonly RepairStep[];
  /** Resources for the state. */
  readonly entries: readonly JsonObject[];
  readonly duplicates: readonly Duplicate[];
  readonly notes: readonly string[];
  readonly unread: RepairResult["unread"];
  readonly consistent: boolean;
  /** What only a person can settle, in sentences. */
  readonly left: readonly string[];
}

const isDuplicate = (
  { definition: { kind }, mark, id }: Orphan,
  account: AccountRead,
  { states }: RepairFacts,
): boolean =>
  states.holdings.some(
    (holding) =>
      holding.own &&
      holding.kind === kind &&
      holding.id !== id &&
      [holding.owner, holding.writtenOwner].some(
        (owner) => owner !== undefined && isSameResource(markOf(kind, owner), mark),
      ) &&
      account.reading.kinds.some(
        ({ definition, objects }) => definition.kind === kind && objects.has(holding.id),
      ),
  );

const leftoversIn = ({ reading }: AccountRead, { names, states }: RepairFacts) =>
  orphansAmong(markedAmong(reading.kinds), names, states).filter(
    ({ standing }) => standing === "leftover",
  );

const noteOn = ({ definition: { kind }, name, id }: MarkedObject): string =>
  `A run that left no pending operation created ${kind} "${asText(name)}" (ID ${id}). ` +
  `If the program still declares it, the next pulumi up adopts it. If not, run: ${ownCommand("orphans --delete")}`;

/** How many operations of other packages are named; a run may have left hundreds. */
const namedForeign = 3;

/** What is pending for other packages, in one sentence: a state that is imported loses all of it. */
const foreignNotes = (operations: readonly PendingOperation[]): readonly string[] => {
  if (operations.length === 0) return [];
  const named = operations
    .slice(0, namedForeign)
    .map(({ type, resource: { urn } }) => `${type} ${urn}`);
  const more = operations.length - named.length;
  return [
    `Resources from other packages also have ${withCount(operations.length, "pending operation")}: ${named.join(", ")}${more > 0 ? `, and ${more} more` : ""}. ` +
      "In a terminal, run pulumi refresh, which asks about creations and resolves the rest; then repair again. Until then, the state stays as it is.",
  ];
};

const incompleteNote =
  "The command could not read every stack in the backend. An object that looks like a duplicate might belong to an unread stack, so the command does not delete any duplicates.";

const unreadNote = (note: string): string =>
  `The command may not see everything that a run left behind. ${note}`;

/** Decides on every pending operation and on every duplicate. */
export const repairPlan = async (facts: RepairFacts): Promise<RepairPlan> => {
  const { steps, entries, left, kept, surplus } = await pendingSteps(facts);
  const leftovers = facts.accounts.flatMap((account) =>
    leftoversIn(account, facts)
      .filter(({ id }) => !kept.has(id))
      .map((orphan) => ({ orphan, account })),
  );
  const isSurplus = ({ orphan, account }: Duplicate): boolean =>
    surplus.has(orphan.id) || isDuplicate(orphan, account, facts);
  const twice = leftovers.filter(isSurplus);
  const duplicates = facts.states.complete ? twice : [];
  const unread = unreadAmong(facts.accounts.flatMap(({ reading }) => reading.kinds)).map(
    ({ definition: { kind }, problem }) => ({ kind, problem }),
  );
  return {
    steps: [
      ...steps,
      ...duplicates.map(({ orphan }): RepairStep => {
        const { label } = orphan.mark;
        return { action: "delete", label, ...namedInStep(orphan) };
      }),
    ],
    entries,
    duplicates,
    notes: [
      ...leftovers.filter((each) => !isSurplus(each)).map(({ orphan }) => noteOn(orphan)),
      ...(twice.length > duplicates.length ? [incompleteNote] : []),
      ...facts.accounts.flatMap(({ reading }) => readingNotes(reading)).map(unreadNote),
    ],
    unread,
    consistent: facts.accounts.every(({ reading }) => reading.consistent),
    left: [...foreignNotes(foreignOperations(facts.document)), ...left],
  };
};
