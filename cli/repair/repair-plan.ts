import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject, Printed } from "../../provider/kernel/json.js";
import { usersAmong } from "../../provider/lifecycle/delete.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { objectTime } from "../../provider/lifecycle/ownership.js";
import { connected, kindInRun, resourceIn } from "../../provider/lifecycle/resource.js";
import { type AskedStack, messageOf, sameStack, sameStackCommand } from "../command.js";
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
  resourcesInState,
  type StackExport,
  type StateResource,
  stateValue,
} from "../pulumi/stack-documents.js";
import { pendingOperations } from "../pulumi/stack-states.js";

const object = { kind: z.string(), name: z.string(), id: z.string() };

const outcome = {
  done: z.exactOptional(z.boolean()).describe("Absent without --apply"),
  reason: z.exactOptional(z.string()).describe("Why the step was not carried out"),
};

/** Shape of one step that puts a stack in order. */
const repairStepSchema = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal("record"), urn: z.string(), ...object, ...outcome }),
  z.strictObject({ action: z.literal("forget"), urn: z.string(), kind: z.string(), ...outcome }),
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

export type RepairResult = Printed<z.output<typeof repairSchema>>;

/** Whether everything is in order now. */
export const isRepaired = ({ applied, steps, left }: RepairResult): boolean =>
  left.length === 0 && steps.every(({ done }) => !applied || done === true);

/** What is decided about one creation; if `left` is there, only a person can settle it. */
interface Decision {
  readonly step?: RepairStep;
  readonly entry?: JsonObject;
  readonly left?: string;
  /** The object that stays for the resource, and those that other attempts made for it. */
  readonly kept?: string;
  readonly surplus?: readonly string[];
}

/** The object that others already refer to comes first, else the one that was made first. */
const inOrderOfUse = (
  { reading }: AccountRead,
  objects: readonly InventoryItem[],
): readonly InventoryItem[] => {
  const usersOf = usersAmong(reading.kinds);
  const isUsed = ({ definition, id }: InventoryItem) => Number(usersOf(definition, id).length > 0);
  const createdOf = ({ live }: InventoryItem): number => objectTime(live?.created);
  return objects.toSorted((a, b) => isUsed(b) - isUsed(a) || createdOf(a) - createdOf(b));
};

/**
 * A resource as the state would have it if the run had not been cut off: with the object's current
 * values. Undefined if its object is gone.
 */
const readEntry = async (
  resource: StateResource,
  definition: Definition,
  { id, mark }: InventoryItem,
  { runIn }: Inventory,
): Promise<JsonObject | undefined> => {
  const known = openedValues(resource.inputs);
  const { __provider } = known;
  const cycle = lifecycle(definition, runIn(accountIn(resource)));
  const serial = mark?.serial ? { serial: mark.serial } : {};
  const { id: there, props, inputs = {} } = await cycle.read(id, { ...known, ...serial });
  if (there === "") return undefined;
  const pointer = __provider === undefined ? {} : { __provider };
  const valuesOf = (values: JsonObject) => Object.assign({}, stateValue(values), pointer);
  const values = { inputs: valuesOf(inputs), outputs: valuesOf(props) };
  return { ...resource, id, ...values };
};

/**
 * Decides on a creation that a run began without reporting the result, and that no state has: its
 * object is found by the mark of its resource.
 */
const decideCreation = async (
  resource: StateResource,
  definition: Definition,
  inventory: Inventory,
  asked: AskedStack,
): Promise<Decision> => {
  const { urn, inputs } = resource;
  const notMade: Decision = { step: { action: "forget", urn, kind: definition.kind } };
  const title = `${definition.kind} ${logicalName(urn)}`;
  const account = accountNamed(inventory, accountIn(resource));
  const { problem } = kindIn(account, definition);
  if (problem !== undefined)
    return { left: `${title}: the command could not read the objects of its kind: ${problem}` };
  const run = inventory.runIn(accountIn(resource));
  const { ownMark, isMarked } = await connected(
    resourceIn(kindInRun(definition, run), openedValues(inputs)),
  );
  const made = inventory.items.filter(
    (item) =>
      item.account === account &&
      item.mark !== undefined &&
      item.mark.resource === ownMark?.resource &&
      !item.isCopy &&
      item.heldBy.length + item.readBy.length === 0,
  );
  const [object, ...others] = made.length > 1 ? inOrderOfUse(account, made) : made;
  if (!object && !isMarked)
    return {
      left:
        `${title}: its object could not carry a mark, so the command cannot find it. If it exists, set adopt: "<id>" in the program, ` +
        `run pulumi up${sameStack(asked)}, and repair again. If not, run pulumi refresh --clear-pending-creates${sameStack(asked)}.`,
    };
  if (!object) return notMade;
  const serials = new Set(made.map(({ mark }) => mark?.serial));
  if (serials.size < made.length) {
    const ids = made.map(({ id }) => id).join(", ");
    return {
      left:
        `${title}: one of these objects is a copy of the other, but the marks do not show which: ${ids}. ` +
        `Remove the mark from the copy (${sameStackCommand("orphans --release --id <id>", asked)}), and then repair again.`,
    };
  }
  const { id, name } = object;
  try {
    const entry = await readEntry(resource, definition, object, inventory);
    // It disappeared after it was listed.
    if (!entry) return notMade;
    const step = { action: "record" as const, urn, kind: definition.kind, name, id };
    return { step, entry, kept: id, surplus: others.map((other) => other.id) };
  } catch (error) {
    return {
      left: `${title}: the command could not read its object (ID ${id}): ${messageOf(error)}`,
    };
  }
};

/** Whether a state has an object under a URN: the next run goes on with it. */
const isHeld = (document: StackExport, urn: string): boolean =>
  resourcesInState(document).some((each) => each.urn === urn && !each.delete);

const decide = async (
  { resource }: PendingOperation,
  inventory: Inventory,
  asked: AskedStack,
): Promise<Decision> => {
  const { urn, type } = resource;
  const definition = definitionOfType(type);
  if (definition && !isHeld(inventory.document, urn))
    return decideCreation(resource, definition, inventory, asked);
  const kind = definition?.kind ?? type.split(/[:/]/).at(-1) ?? type;
  return { step: { action: "forget", urn, kind } };
};

/** The steps that put the state and the service in order. */
export interface RepairPlan {
  readonly steps: readonly RepairStep[];
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

/** How many creations of other packages are named; a run may have left hundreds. */
const namedForeign = 3;

/** Whether a creation concerns this command: a component, such as the stack itself, makes nothing. */
const isSettledHere = ({ type, custom }: StateResource): boolean =>
  custom === false || isOurType(type);

/** A state that is written loses all notes, those of other packages too. */
const foreignNote = (creations: readonly PendingOperation[]): readonly string[] => {
  const urns = creations.map(({ resource }) => resource.urn).filter((_, at) => at < namedForeign);
  const more = creations.length > urns.length ? ", …" : "";
  return creations.length === 0
    ? []
    : [
        `Resources from other packages also have pending creations (${creations.length}): ${urns.join(", ")}${more}. ` +
          "In a terminal, run pulumi refresh, which asks about them; then repair again. Until then, the state stays as it is.",
      ];
};

/** Decides on every pending creation and on every duplicate. */
export const planRepair = async (
  inventory: Inventory,
  asked: AskedStack = {},
): Promise<RepairPlan> => {
  const { document, states, gaps } = inventory;
  const pending = pendingOperations(document);
  const [ours = [], foreign = []] = [true, false].map((is) =>
    pending.filter(({ type, resource }) => type === "creating" && isSettledHere(resource) === is),
  );
  const decisions: Decision[] = [];
  for (const operation of new Map(ours.map((each) => [each.resource.urn, each])).values())
    decisions.push(await decide(operation, inventory, asked));
  const kept = decisions.flatMap((each) => each.kept ?? []);
  const surplus = decisions.flatMap((each) => each.surplus ?? []);
  const twice = orphansIn(inventory).filter(
    (each) =>
      each.standing === "leftover" &&
      !kept.includes(each.id) &&
      (surplus.includes(each.id) || isDuplicate(each)),
  );
  const duplicates = states.complete ? twice : [];
  const deletions = duplicates.map(({ mark, definition: { kind }, name, id }): RepairStep => {
    return { action: "delete", label: mark.label, kind, name, id };
  });
  return {
    steps: [...decisions.flatMap(({ step }) => step ?? []), ...deletions],
    entries: decisions.flatMap(({ entry }) => (entry ? [entry] : [])),
    duplicates,
    notes: [
      ...(pending.some(({ type }) => type !== "creating")
        ? [
            `Updates or deletions were interrupted. pulumi up --refresh${sameStack(asked)} settles them or, after a killed destroy, pulumi destroy${sameStack(asked)}.`,
          ]
        : []),
      ...(twice.length > duplicates.length
        ? [
            "The command could not read every stack in the backend. An object that looks like a duplicate might belong to an unread stack, so the command does not delete any duplicates.",
          ]
        : []),
      ...gaps.map((gap) => `The command may not see everything that a run left behind. ${gap}`),
    ],
    left: [...foreignNote(foreign), ...decisions.flatMap(({ left }) => left ?? [])],
  };
};
