import type { Definition } from "../../provider/definition/define.js";
import { naturalKey } from "../../provider/definition/references.js";
import { asText, isObject, type JsonObject, sameJson } from "../../provider/kernel/json.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import type { MarkedObject } from "../../provider/lifecycle/ownership/orphans.js";
import { messageOf } from "../command.js";
import {
  definitionOfType,
  logicalName,
  openedValues,
  type PendingOperation,
  type StateResource,
  stateValue,
} from "../stack/stack-export.js";
import { type CreationOutcome, creationOutcome } from "./pending-creation.js";
import { heldResource, pendingOperations, type RepairFacts } from "./repair-facts.js";
import type { RepairStep } from "./repair-steps.js";

/** The name of an object, as far as it is one. */
export const markedName = ({ name }: MarkedObject): string => asText(name);

/** An object as steps name it. */
export const namedInStep = (object: MarkedObject) => ({
  kind: object.definition.kind,
  name: markedName(object),
  id: object.id,
});

/** A resource for the state; nothing where its object is gone; or why it cannot be read. */
type Entry = { readonly entry?: JsonObject } | { readonly why: string };

const readEntry = async (
  resource: StateResource,
  definition: Definition,
  id: string,
  known: JsonObject,
  { run }: RepairFacts,
): Promise<Entry> => {
  const { __provider } = known;
  const { id: there, props, inputs = {} } = await lifecycle(definition, run).read(id, known);
  if (there === "") return {};
  const pointer = __provider === undefined ? {} : { __provider };
  const valuesOf = (values: JsonObject) => Object.assign({}, stateValue(values), pointer);
  const values = { inputs: valuesOf(inputs), outputs: valuesOf(props) };
  return { entry: { ...resource, custom: true, id, ...values } };
};

/** A resource as the state would have it, had the run not been cut off: with what the object holds now. */
const stateEntry: typeof readEntry = (resource, definition, id, known, facts) =>
  readEntry(resource, definition, id, known, facts).catch((error: unknown) => ({
    why: `${definition.kind} ${logicalName(resource.urn)}: its object (id ${id}) could not be read: ${messageOf(error)}`,
  }));

/** What is gathered while one operation after the other is looked at. */
export interface PendingSteps {
  readonly steps: RepairStep[];
  readonly entries: JsonObject[];
  readonly left: string[];
  readonly kept: Set<string>;
  readonly surplus: Set<string>;
}

const kindNamed = (type: string): string => type.split(/[:/]/).at(-1) ?? type;

const gatherCreation = async (
  { resource }: PendingOperation,
  found: Exclude<CreationOutcome, { readonly outcome: "held" }>,
  facts: RepairFacts,
  { steps, entries, left, kept, surplus }: PendingSteps,
): Promise<void> => {
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
  // Gone since it was listed.
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

/**
 * An update, or a replacement, may have reached the service: what the object holds now is what the next
 * run compares with.
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
    const why = type === "creating" ? "held" : "again";
    steps.push({ action: "forget", kind: kindNamed(token), urn, why });
    return;
  }
  entries.push(read.entry);
  const name = asText(outputs[naturalKey(definition)]);
  steps.push({ action: "refresh", urn, kind: definition.kind, name, id: held.id });
};

/** Decides on every operation that a run began and did not report on. */
export const pendingSteps = async (facts: RepairFacts): Promise<PendingSteps> => {
  const all: PendingSteps = {
    ...{ steps: [], entries: [], left: [], kept: new Set<string>(), surplus: new Set<string>() },
  };
  for (const operation of pendingOperations(facts.document)) {
    const found =
      operation.type === "creating" ? await creationOutcome(operation, facts) : undefined;
    if (found && found.outcome !== "held") await gatherCreation(operation, found, facts, all);
    else await gatherHeld(operation, facts, all);
  }
  return all;
};
