import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { markOf } from "../../provider/lifecycle/ownership/mark.js";
import {
  type MarkedObject,
  type Orphan,
  orphansAmong,
} from "../../provider/lifecycle/ownership/orphans.js";
import { isSameResource } from "../../provider/lifecycle/ownership/read-mark.js";
import {
  definitionOfType,
  openedValues,
  type PendingOperation,
  type StateResource,
  stateValue,
} from "../stack/stack-export.js";
import type { AccountRead } from "../stack/stack-reading.js";
import { type CreationOutcome, creationOutcome } from "./pending-creation.js";
import {
  foreignCreations,
  heldResource,
  markedIn,
  pendingOperations,
  type RepairFacts,
} from "./repair-facts.js";
import type { RepairStep } from "./repair-steps.js";

/** A left-over beside the object that stands for its resource. */
export interface Duplicate {
  readonly orphan: Orphan;
  readonly account: AccountRead;
}

/** What brings the state and the service in order. */
export interface RepairPlan {
  readonly steps: readonly RepairStep[];
  /** Resources for the state. */
  readonly entries: readonly JsonObject[];
  readonly duplicates: readonly Duplicate[];
  readonly notes: readonly string[];
  /** What nobody can settle without a person, in sentences. */
  readonly left: readonly string[];
}

const nameOf = ({ name }: MarkedObject): string => (typeof name === "string" ? name : "");

const namedOf = (object: MarkedObject) => ({
  kind: object.definition.kind,
  name: nameOf(object),
  id: object.id,
});

/** A resource as the state would have it, had the run not been cut off: with what the object holds now. */
const stateEntry = async (
  resource: StateResource,
  definition: Definition,
  id: string,
  known: JsonObject,
  { run }: RepairFacts,
): Promise<JsonObject | undefined> => {
  const { __provider } = known;
  const { id: there, props, inputs = {} } = await lifecycle(definition, run).read(id, known);
  if (there === "") return undefined;
  const valuesOf = (values: JsonObject) => Object.assign({}, stateValue(values), { __provider });
  return { ...resource, custom: true, id, inputs: valuesOf(inputs), outputs: valuesOf(props) };
};

/** What a plan gathers while it looks at one operation after the other. */
interface Gathered {
  readonly steps: RepairStep[];
  readonly entries: JsonObject[];
  readonly left: string[];
  readonly kept: Set<string>;
  readonly surplus: Set<string>;
}

const kindNamed = (type: string): string => type.split(/[:/]/).at(-1) ?? type;

const gatherCreation = async (
  { resource }: PendingOperation,
  found: CreationOutcome,
  facts: RepairFacts,
  { steps, entries, left, kept, surplus }: Gathered,
): Promise<void> => {
  const { urn, type, inputs } = resource;
  if (found.outcome === "unclear") left.push(found.why);
  else if (found.outcome === "made") {
    const { object } = found;
    const { definition, id, mark } = object;
    const known = { ...openedValues(inputs), ...(mark.serial ? { serial: mark.serial } : {}) };
    const entry = await stateEntry(resource, definition, id, known, facts);
    if (!entry) return;
    entries.push(entry);
    kept.add(id);
    for (const each of found.surplus) surplus.add(each.id);
    steps.push({ action: "record", urn, ...namedOf(object) });
  } else steps.push({ action: "forget", kind: kindNamed(type), urn, why: found.outcome });
};

/** An update may have reached the service: what the object holds now is what the next run compares with. */
const gatherOther = async (
  { type, resource: { urn, type: token } }: PendingOperation,
  facts: RepairFacts,
  { steps, entries }: Gathered,
): Promise<void> => {
  const definition = definitionOfType(token);
  const held = heldResource(facts.document, urn);
  const isUpdate = type === "updating" && definition && held;
  const entry =
    isUpdate && (await stateEntry(held, definition, held.id, openedValues(held.outputs), facts));
  if (!isUpdate || !entry) {
    steps.push({ action: "forget", kind: kindNamed(token), urn, why: "again" });
    return;
  }
  entries.push(entry);
  const { name } = openedValues(held.outputs);
  const named = { kind: definition.kind, name: typeof name === "string" ? name : "", id: held.id };
  steps.push({ action: "refresh", urn, ...named });
};

const gathered = async (facts: RepairFacts): Promise<Gathered> => {
  const all: Gathered = {
    ...{ steps: [], entries: [], left: [], kept: new Set<string>(), surplus: new Set<string>() },
  };
  for (const operation of pendingOperations(facts.document))
    if (operation.type === "creating")
      await gatherCreation(operation, await creationOutcome(operation, facts), facts, all);
    else await gatherOther(operation, facts, all);
  return all;
};

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

const leftOversIn = (account: AccountRead, { names, states }: RepairFacts) =>
  orphansAmong(markedIn(account), names, states).filter(({ standing }) => standing === "left-over");

const noteOn = (object: MarkedObject): string =>
  `${object.definition.kind} "${nameOf(object)}" (id ${object.id}) was made by a run that left no note of it. ` +
  "The next pulumi up takes it over, if the program still declares it; else: pulumi-conversation orphans --delete";

const foreignNote = ({ resource: { urn } }: PendingOperation): string =>
  `The creation of ${urn} is pending, too, and its package is another one: run pulumi refresh in a terminal, which asks about it, then repair again. ` +
  "Until then the state is left as it is.";

const incompleteNote =
  "Not every stack of the backend could be read, and one of the others may hold what looks like a duplicate: none is deleted.";

/** Decides on every operation that is pending, and on what is there twice. */
export const repairPlan = async (facts: RepairFacts): Promise<RepairPlan> => {
  const { steps, entries, left, kept, surplus } = await gathered(facts);
  const leftOvers = facts.accounts.flatMap((account) =>
    leftOversIn(account, facts)
      .filter(({ id }) => !kept.has(id))
      .map((orphan) => ({ orphan, account })),
  );
  const isSurplus = ({ orphan, account }: Duplicate): boolean =>
    surplus.has(orphan.id) || isDuplicate(orphan, account, facts);
  const twice = leftOvers.filter(isSurplus);
  const duplicates = facts.states.complete ? twice : [];
  return {
    steps: [
      ...steps,
      ...duplicates.map(({ orphan }): RepairStep => {
        const { label } = orphan.mark;
        return { action: "delete", label, ...namedOf(orphan) };
      }),
    ],
    entries,
    duplicates,
    notes: [
      ...leftOvers.filter((each) => !isSurplus(each)).map(({ orphan }) => noteOn(orphan)),
      ...(twice.length > duplicates.length ? [incompleteNote] : []),
    ],
    left: [...foreignCreations(facts.document).map(foreignNote), ...left],
  };
};
