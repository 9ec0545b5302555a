import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { referencesIn } from "../../provider/definition/fields.js";
import { deletionOrder } from "../../provider/definition/kinds.js";
import { asText, type JsonObject, type Printed } from "../../provider/kernel/json.js";
import { usersAmong, wireReferences } from "../../provider/lifecycle/delete.js";
import { markOn, nameOnWire, stackOfLabel } from "../../provider/lifecycle/ownership/mark.js";
import type { StackStates } from "../../provider/lifecycle/ownership/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/lists.js";
import {
  definitionOfType,
  openedValues,
  type PreviewStep,
  type StateResource,
} from "../pulumi/stack-documents.js";
import { indented } from "../terminal/columns.js";
import type { AccountLists } from "./read-account.js";

const object = { kind: z.string(), name: z.string(), id: z.string() };

/** Shape of an object that still uses one that is to be deleted. */
export const remainingUserSchema = z.strictObject({
  ...object,
  path: z.string().describe("Path to the reference, such as `roles[0].authentication`"),
  managed: z
    .enum(["own", "stack", "unmanaged"])
    .describe(
      "Whether this stack (`own`), another stack (`stack`), or no stack (`unmanaged`) manages the object",
    ),
  stack: z
    .exactOptional(z.string())
    .describe("The stack that manages the object, or the stack named in its mark"),
});

/** Shape of a deletion that the service will refuse. */
const blockedDeletionSchema = z.strictObject({
  ...object,
  urn: z.string(),
  users: z.array(remainingUserSchema),
});

/** Shape of one step of an order that works. */
const orderedStepSchema = z.strictObject({
  action: z
    .enum(["release", "delete"])
    .describe(
      "`release`: change the object so that it no longer refers to a deleted object, or delete it",
    ),
  ...object,
});

/** Shape of `deletions` in what `forecast --json` and `drift --json` print. */
export const blastRadiusSchema = z.strictObject({
  deletions: z.int().min(0).describe("Number of objects that the run deletes"),
  blocked: z.array(blockedDeletionSchema).describe("Deletions that the service will refuse"),
  order: z
    .array(orderedStepSchema)
    .describe("An order of steps that works; empty if nothing is blocked"),
  unread: z
    .exactOptional(z.array(z.string()))
    .describe("Unread kinds whose objects may use the deleted objects"),
});

/** An object that a run deletes. */
interface PlannedDeletion {
  readonly definition: Definition;
  readonly id: string;
  readonly urn: string;
}

/** The changes of a run that its deletions depend on. */
export interface PlannedChanges {
  readonly deletions: readonly PlannedDeletion[];
  /** Inputs of resources after the run, by URN, of those that it changes. */
  readonly inputsAfter: ReadonlyMap<string, JsonObject>;
}

/** The obstacles to the deletions of a run. */
export type BlastRadius = Printed<z.output<typeof blastRadiusSchema>>;

type BlockedDeletion = BlastRadius["blocked"][number];
type RemainingUser = BlockedDeletion["users"][number];

const named = (definition: Definition, id: string, wire: WireObject) => ({
  kind: definition.kind,
  name: asText(nameOnWire(definition, wire)),
  id,
});

/** Who holds which objects. */
type Holders = Pick<StackStates, "holdersOf">;

const whose = ({ kind }: Definition, id: string, wire: WireObject, states: Holders) => {
  const [holder] = states.holdersOf(kind, id);
  if (holder?.own) return { managed: "own" as const };
  if (holder) return { managed: "stack" as const, stack: holder.stack };
  const mark = markOn(wire);
  return { managed: "unmanaged" as const, ...(mark ? { stack: stackOfLabel(mark.label) } : {}) };
};

/**
 * Determines who uses an object, managed or not, once for each reference.
 *
 * @param kinds the objects that may use it
 * @param referencesOf as for `usersAmong`
 */
export const remainingUsers = <W extends WireObject>(
  kinds: Parameters<typeof usersAmong<W>>[0],
  states: Holders,
  referencesOf?: Parameters<typeof usersAmong<W>>[1],
) => {
  const usersOf = usersAmong(kinds, referencesOf);
  return (target: Definition, targetId: string): readonly RemainingUser[] =>
    usersOf(target, targetId).map(({ definition, id, wire, path }) => ({
      ...named(definition, id, wire),
      ...{ path, ...whose(definition, id, wire, states) },
    }));
};

/**
 * Names who still uses the objects that a run deletes, managed or not, and the order that works.
 *
 * @param account as it was read
 */
export const blastRadius = (
  { deletions, inputsAfter }: PlannedChanges,
  { kinds, states }: AccountLists & { readonly states: StackStates },
): BlastRadius => {
  const leaving = new Set(deletions.map(({ definition: { kind }, id }) => `${kind} ${id}`));
  const isDeleted = ({ kind }: Definition, id: string) => leaving.has(`${kind} ${id}`);
  const staying = kinds.map(({ definition, objects }) => ({
    definition,
    objects: [...objects].filter(([id]) => !isDeleted(definition, id)),
  }));
  // Deletions come last: what an object refers to once the run has changed what it changes.
  const usersOf = remainingUsers(staying, states, (definition, wire, id) => {
    const holder = states.holdersOf(definition.kind, id).find(({ own }) => own);
    const inputs = holder && inputsAfter.get(holder.urn);
    return inputs ? referencesIn(definition.fields, inputs) : wireReferences(definition, wire);
  });
  const blocked = deletions.flatMap(({ definition, id, urn }): readonly BlockedDeletion[] => {
    const wire = kinds.find((each) => each.definition.kind === definition.kind)?.objects.get(id);
    const users = usersOf(definition, id);
    // An object that is already gone counts as deleted and is not mentioned.
    return wire && users.length > 0 ? [{ ...named(definition, id, wire), urn, users }] : [];
  });
  const deleted = kinds.flatMap(({ definition, objects }) =>
    [...objects].flatMap(([id, wire]) =>
      isDeleted(definition, id) ? [named(definition, id, wire)] : [],
    ),
  );
  const unread = kinds.flatMap(({ definition: { kind }, problem }) => (problem ? [kind] : []));
  const isUncertain = deletions.length > 0 && unread.length > 0;
  return {
    deletions: deletions.length,
    blocked: inOrder(blocked),
    order: blocked.length === 0 ? [] : orderThatWorks(blocked, deleted),
    ...(isUncertain ? { unread } : {}),
  };
};

type Named = ReturnType<typeof named>;

/** Users before what they use; else by name, as the order of a preview's steps varies. */
const inOrder = <T extends Named>(objects: readonly T[]): T[] => {
  const places = deletionOrder(resources).map(({ kind }) => kind);
  const keyOf = ({ kind, name, id }: Named): string =>
    JSON.stringify([places.indexOf(kind), name, id]);
  return objects.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

/** Remaining users first, then everything that is deleted, users before what they use. */
const orderThatWorks = (
  blocked: readonly BlockedDeletion[],
  deleted: readonly Named[],
): BlastRadius["order"] => {
  const users = new Map(
    blocked.flatMap((each) => each.users.map(({ kind, name, id }) => [id, { kind, name, id }])),
  );
  return [
    ...inOrder([...users.values()]).map((user) => ({ action: "release" as const, ...user })),
    ...inOrder(deleted).map((object) => ({ action: "delete" as const, ...object })),
  ];
};

const deletionOf = (resource: StateResource | null | undefined): readonly PlannedDeletion[] => {
  if (!resource?.id || resource.external || resource.retainOnDelete) return [];
  const definition = definitionOfType(resource.type);
  return definition ? [{ definition, id: resource.id, urn: resource.urn }] : [];
};

/** What an `up` deletes and changes, from its preview. A forced replacement keeps the object. */
export const changesOfPreview = (steps: readonly PreviewStep[]): PlannedChanges => ({
  deletions: steps.flatMap(({ op, oldState }) => (op === "delete" ? deletionOf(oldState) : [])),
  inputsAfter: new Map(
    steps.flatMap(({ op, urn, newState }) =>
      newState && !op.startsWith("delete") ? [[urn, openedValues(newState.inputs)] as const] : [],
    ),
  ),
});

/** What a `destroy` deletes: all that the state holds. */
export const changesOfDestroy = (held: readonly StateResource[]): PlannedChanges => ({
  deletions: held.flatMap(deletionOf),
  inputsAfter: new Map(),
});

/** Exit code of a run whose deletions the service will refuse. */
export const blockedDeletionCode = 4;

/** Who manages an object that stands in the way, for people. */
export const holderText = ({ managed, stack }: RemainingUser): string => {
  if (managed === "own") return "in this stack";
  if (managed === "stack") return `in the stack ${stack}`;
  return stack ? `in no readable state; its mark names ${stack}` : "not managed by Pulumi";
};

const uncertainLines = ({ unread = [] }: BlastRadius): readonly string[] =>
  unread.length === 0
    ? []
    : indented(
        `The command could not read these kinds, whose objects may use the deleted objects: ${unread.join(", ")}`,
        0,
      );

/** Who stands in the way of deletions, and the order that works; empty if nobody does. */
export const blastRadiusLines = (radius: BlastRadius): readonly string[] => {
  const { blocked, order } = radius;
  if (blocked.length === 0) return uncertainLines(radius);
  const refused =
    blocked.length === 1
      ? "this deletion, because the object is"
      : `these ${blocked.length} deletions, because the objects are`;
  return [
    `The service will refuse ${refused} still in use:`,
    "",
    ...blocked.flatMap(({ kind, name, id, users }) => [
      ...indented(`${kind} "${name}" (ID ${id}) is used by`, 2),
      ...users.flatMap((user) =>
        indented(
          `${user.kind} "${user.name}" (ID ${user.id}, ${holderText(user)}): ${user.path}`,
          4,
        ),
      ),
    ]),
    "",
    "An order that works:",
    "",
    ...order.flatMap(({ action, kind, name, id }, at) =>
      indented(
        action === "delete"
          ? `${at + 1}. delete ${kind} "${name}" (ID ${id})`
          : `${at + 1}. change ${kind} "${name}" (ID ${id}) so that it no longer uses a deleted object, or delete it`,
        2,
      ),
    ),
    ...uncertainLines(radius),
  ];
};
