import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { namingOf, naturalKey } from "../../provider/definition/kinds.js";
import {
  asText,
  isObject,
  type JsonObject,
  type Printed,
  sameJson,
} from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { usersAmong } from "../../provider/lifecycle/delete.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { isSameResource, objectTime } from "../../provider/lifecycle/ownership/mark.js";
import { isHeld } from "../../provider/lifecycle/ownership.js";
import { describeObject } from "../../provider/lifecycle/refusals.js";
import {
  connected,
  type Declared,
  propertiesIn,
  resourceIn,
} from "../../provider/lifecycle/resource.js";
import { seeObjects } from "../../provider/lifecycle/seen.js";
import { messageOf } from "../command.js";
import {
  type AccountRead,
  accountNamed,
  type Inventory,
  type InventoryItem,
  kindIn,
} from "../inventory/inventory.js";
import { isOurType } from "../inventory/stack-accounts.js";
import { type Orphan, orphansIn } from "../orphans/orphans.js";
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

const object = { kind: z.string(), name: z.string(), id: z.string() };

const outcome = {
  done: z.exactOptional(z.boolean()).describe("Absent without --apply"),
  reason: z.exactOptional(z.string()).describe("Why the step was not carried out"),
};

/** Shape of one step that puts a stack in order. */
const repairStepSchema = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.literal("remove-cut-off-files"),
    files: z.array(z.string()),
    ...outcome,
  }),
  z.strictObject({
    action: z.literal("restore-state"),
    file: z.string().describe("The truncated state file"),
    copy: z.string().describe("The newest complete copy of the state"),
    ...outcome,
  }),
  z.strictObject({ action: z.literal("cancel"), by: z.string(), ...outcome }),
  z.strictObject({
    action: z
      .enum(["record", "refresh"])
      .describe(
        "`record`: the object is not in the state; `refresh`: the state may contain other values",
      ),
    urn: z.string(),
    ...object,
    ...outcome,
  }),
  z.strictObject({
    action: z.literal("forget"),
    kind: z.string(),
    urn: z.string(),
    why: z
      .enum(["held", "not-made", "deletion", "again"])
      .describe(
        "`held`: the object is in the state; `not-made`: no object exists yet; `deletion`: the object may already be deleted; `again`: the next run repeats the operation",
      ),
    ...outcome,
  }),
  z.strictObject({ action: z.literal("delete"), label: z.string(), ...object, ...outcome }),
]);

/** Shape of what `repair --json` prints. */
export const repairSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  applied: z.boolean(),
  steps: z.array(repairStepSchema).describe("The steps, in order"),
  notes: z.array(z.string()).describe("What resolves itself or needs your attention"),
  unread: z
    .array(z.strictObject({ kind: z.string(), problem: z.string() }))
    .describe("Kinds that the command could not read completely, with the reason for each"),
  consistent: z.boolean().describe("False if an account changed while the command was reading it"),
  left: z.array(z.string()).describe("What the command cannot repair, and how to proceed"),
});

/**
 * One step that puts a stack in order after a run was cut off; steps are in the order in which they
 * are done.
 */
export type RepairStep = Printed<z.output<typeof repairStepSchema>>;

/** What a repair found and did. */
export type RepairResult = Printed<z.output<typeof repairSchema>>;

/** Whether everything is in order now. */
export const isRepaired = ({ applied, steps, left }: RepairResult): boolean =>
  left.length === 0 && steps.every(({ done }) => !applied || done === true);

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

/** What is decided about one operation; if `left` is there, only a person can settle it. */
interface Decision {
  readonly step?: RepairStep;
  /** A resource for the state. */
  readonly entry?: JsonObject;
  readonly left?: string;
  /** The object that stays for the resource, and those that other attempts made for it. */
  readonly kept?: string;
  readonly surplus?: readonly string[];
}

const kindNamed = (type: string): string => type.split(/[:/]/).at(-1) ?? type;

/** The object that others already refer to comes first, else the one that was made first. */
const inOrderOfUse = (
  { reading }: AccountRead,
  objects: readonly InventoryItem[],
): readonly InventoryItem[] => {
  const usersOf = usersAmong(objects.length > 1 ? reading.kinds : []);
  const isUsed = ({ definition, id }: InventoryItem) => Number(usersOf(definition, id).length > 0);
  const createdOf = ({ live }: InventoryItem): number => objectTime(live?.created);
  return objects.toSorted(
    (a, b) => isUsed(b) - isUsed(a) || createdOf(a) - createdOf(b) || a.id.localeCompare(b.id),
  );
};

/** If an object could not carry a mark, only its name identifies it, which is not enough. */
const unmarkedNote = (
  declared: Declared,
  account: AccountRead,
  { states }: Inventory,
  urn: string,
): string | undefined => {
  const { definition } = declared;
  const named = seeObjects(declared, kindIn(account, definition).objects).find(
    ({ id, isNamed, mark }) => isNamed && !mark && !isHeld(states, definition.kind, id),
  );
  if (declared.isMarked || !named) return undefined;
  const shown = describeObject(definition, { ...named.wire, id: named.id });
  return (
    `${definition.kind} ${logicalName(urn)}: its object could not carry a mark. The ${shown} has the same name and may be its object. ` +
    `If it is, set adopt: "${named.id}" in the program, run pulumi up, and repair again. If not, give the resource another name.`
  );
};

/** A resource for the state; empty if its object is gone; or why it cannot be read. */
type Entry = { readonly entry?: JsonObject } | { readonly why: string };

const readEntry = async (
  resource: StateResource,
  definition: Definition,
  id: string,
  known: JsonObject,
  { runIn }: Inventory,
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

/**
 * Decides on a creation that a run began without reporting the result, and that no state has: its
 * object is found by the mark of its resource.
 */
const decideCreation = async (
  { resource }: PendingOperation,
  inventory: Inventory,
): Promise<Decision> => {
  const { urn, type, inputs } = resource;
  const notMade: Decision = {
    step: { action: "forget", kind: kindNamed(type), urn, why: "not-made" },
  };
  const definition = definitionOfType(type);
  if (!definition) return notMade;
  const title = `${definition.kind} ${logicalName(urn)}`;
  const run = inventory.runIn(accountIn(resource));
  const context = { definition, naming: namingOf(definition), run };
  const declared = await connected(resourceIn(context, propertiesIn(openedValues(inputs))));
  const account = accountNamed(inventory, accountIn(resource));
  const { problem } = kindIn(account, definition);
  if (problem !== undefined)
    return {
      left: `${title}: the command could not read the objects of its kind: ${problem}`,
    };
  const { ownMark } = declared;
  const made = inventory.items.filter(
    (item) =>
      item.account === account &&
      item.definition === definition &&
      item.mark !== undefined &&
      ownMark !== undefined &&
      isSameResource(item.mark, ownMark) &&
      !item.isCopy &&
      item.heldBy.length + item.readBy.length === 0,
  );
  const [object, ...others] = inOrderOfUse(account, made);
  if (!object) {
    const left = unmarkedNote(declared, account, inventory, urn);
    return left === undefined ? notMade : { left };
  }
  const serials = new Set(made.flatMap(({ mark }) => mark?.serial ?? []));
  if (others.length > 0 && serials.size < made.length) {
    const ids = made.map(({ id }) => id).join(", ");
    return {
      left:
        `${logicalName(urn)}: one of these objects is a copy of the other, but the marks do not show which: ${ids}. ` +
        `Remove the mark from the copy (${ownCommand("orphans --release --id <id>")}), and then repair again.`,
    };
  }
  const { id, name, mark } = object;
  const known = { ...openedValues(inputs), ...(mark?.serial ? { serial: mark.serial } : {}) };
  const read = await stateEntry(resource, definition, id, known, inventory);
  if ("why" in read) return { left: read.why };
  // It disappeared after it was listed.
  if (!read.entry) return notMade;
  return {
    step: { action: "record", urn, kind: definition.kind, name, id },
    entry: read.entry,
    kept: id,
    surplus: others.map((other) => other.id),
  };
};

/** Why the operation on a resource in the state is removed, unless the next run repeats it. */
const whyForgotten: Readonly<Record<string, "held" | "deletion">> = {
  creating: "held",
  deleting: "deletion",
};

/**
 * Decides on an operation on a resource in the state: an update or a replacement may have reached
 * the service, and the next run compares with the object's current values.
 */
const decideHeld = async (
  { type, resource: { urn, type: token } }: PendingOperation,
  held: (StateResource & { readonly id: string }) | undefined,
  inventory: Inventory,
): Promise<Decision> => {
  const definition = definitionOfType(token);
  const why = whyForgotten[type] ?? "again";
  const forgotten: Decision = { step: { action: "forget", kind: kindNamed(token), urn, why } };
  if (!definition || !held || !["creating", "updating"].includes(type)) return forgotten;
  const outputs = openedValues(held.outputs);
  const read = await stateEntry(held, definition, held.id, outputs, inventory);
  if ("why" in read) return { left: read.why };
  const { entry } = read;
  if (!isObject(entry?.outputs) || sameJson(openedValues(entry.outputs), outputs)) return forgotten;
  const name = asText(outputs[naturalKey(definition)]);
  return {
    step: { action: "refresh", urn, kind: definition.kind, name, id: held.id },
    entry,
  };
};

/** The steps that put the state and the service in order. */
export interface RepairPlan {
  readonly steps: readonly RepairStep[];
  /** Resources for the state. */
  readonly entries: readonly JsonObject[];
  /** Leftovers beside the object that represents their resource. */
  readonly duplicates: readonly Orphan[];
  readonly notes: readonly string[];
  /** What only a person can settle, in sentences. */
  readonly left: readonly string[];
}

/** Whether another object, which is there, represents the resource in the state. */
const isDuplicate = ({ definition, account, markedBeside }: Orphan): boolean =>
  markedBeside.some(({ own, id }) => own && kindIn(account, definition).objects.has(id));

const leftoverNote = ({ definition: { kind }, name, id }: InventoryItem): string =>
  `A run that left no pending operation created ${kind} "${name}" (ID ${id}). ` +
  `If the program still declares it, the next pulumi up adopts it. If not, run: ${ownCommand("orphans --delete")}`;

/** How many operations of other packages are named; a run may have left hundreds. */
const namedForeign = 3;

/** What is pending for other packages, in one sentence: a state that is imported loses all of it. */
const foreignNotes = ({ deployment }: StackExport): readonly string[] => {
  const operations = (deployment.pending_operations ?? []).filter(
    ({ resource }) => !isOurType(resource.type),
  );
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

/** Decides on every pending operation and on every duplicate. */
export const planRepair = async (inventory: Inventory): Promise<RepairPlan> => {
  const { document, states, gaps } = inventory;
  const decisions: Decision[] = [];
  for (const operation of pendingOperations(document)) {
    const held = heldResource(document, operation.resource.urn);
    const isCreation = operation.type === "creating" && !held;
    decisions.push(
      await (isCreation
        ? decideCreation(operation, inventory)
        : decideHeld(operation, held, inventory)),
    );
  }
  const kept = decisions.flatMap((each) => each.kept ?? []);
  const surplus = decisions.flatMap((each) => each.surplus ?? []);
  const leftovers = orphansIn(inventory).filter(
    ({ standing, id }) => standing === "leftover" && !kept.includes(id),
  );
  const isTwice = (each: Orphan) => surplus.includes(each.id) || isDuplicate(each);
  const twice = leftovers.filter(isTwice);
  const duplicates = states.complete ? twice : [];
  const deletions = duplicates.map(({ mark, definition: { kind }, name, id }): RepairStep => {
    return { action: "delete", label: mark.label, kind, name, id };
  });
  return {
    steps: [...decisions.flatMap(({ step }) => step ?? []), ...deletions],
    entries: decisions.flatMap(({ entry }) => (entry ? [entry] : [])),
    duplicates,
    notes: [
      ...leftovers.filter((each) => !isTwice(each)).map(leftoverNote),
      ...(twice.length > duplicates.length
        ? [
            "The command could not read every stack in the backend. An object that looks like a duplicate might belong to an unread stack, so the command does not delete any duplicates.",
          ]
        : []),
      ...gaps.map((gap) => `The command may not see everything that a run left behind. ${gap}`),
    ],
    left: [...foreignNotes(document), ...decisions.flatMap(({ left }) => left ?? [])],
  };
};
