import type { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { deletionOrder } from "../../provider/definition/references.js";
import { referencesIn } from "../../provider/definition/walk.js";
import { asText, type JsonObject, type Printed } from "../../provider/kernel/json.js";
import { markOn, nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import type { StackStates } from "../../provider/pulumi-cli/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import { type AccountLists, wireReferences } from "../account/read-account.js";
import type {
  blastRadiusSchema,
  blockedDeletionSchema,
  orderedStepSchema,
  remainingUserSchema,
} from "./blast-radius-schema.js";

/** An object that a run deletes. */
export interface PlannedDeletion {
  readonly definition: Definition;
  readonly id: string;
  readonly urn: string;
}

/** What a run does, as far as deletions depend on it. */
export interface PlannedChanges {
  readonly deletions: readonly PlannedDeletion[];
  /** Inputs of resources after the run, by URN, of those that it changes. */
  readonly inputsAfter: ReadonlyMap<string, JsonObject>;
}

/** An object that still uses one that is to be deleted. */
export type RemainingUser = Printed<z.output<typeof remainingUserSchema>>;

/** A deletion that the service will refuse. */
export type BlockedDeletion = Printed<z.output<typeof blockedDeletionSchema>>;

/** One step of an order that works. */
export type OrderedStep = Printed<z.output<typeof orderedStepSchema>>;

/** What stands in the way of the deletions of a run. */
export type BlastRadius = Printed<z.output<typeof blastRadiusSchema>>;

interface Listed {
  readonly definition: Definition;
  readonly id: string;
  readonly wire: JsonObject;
}

const nameIn = ({ definition, wire }: Pick<Listed, "definition" | "wire">): string =>
  asText(nameOnWire(definition, wire));

const named = (object: Listed) => ({
  kind: object.definition.kind,
  name: nameIn(object),
  id: object.id,
});

/** The stack in a label such as `shop/prod kiosk`. */
const stackOf = (label: string): string => label.split(" ")[0] ?? label;

const whose = ({ definition, id, wire }: Listed, states: StackStates) => {
  const [holder] = states.holdersOf(definition.kind, id);
  if (holder?.own) return { managed: "own" as const };
  if (holder) return { managed: "stack" as const, stack: holder.stack };
  const mark = markOn(wire);
  return mark
    ? { managed: "unmanaged" as const, stack: stackOf(mark.label) }
    : { managed: "unmanaged" as const };
};

/** What an object refers to once the run has changed what it changes: deletions come last. */
const referencesAfter = (
  { definition, id, wire }: Listed,
  states: StackStates,
  inputsAfter: PlannedChanges["inputsAfter"],
) => {
  const holder = states.holdersOf(definition.kind, id).find(({ own }) => own);
  const inputs = holder && inputsAfter.get(holder.urn);
  return inputs ? referencesIn(definition.fields, inputs) : wireReferences(definition, wire);
};

/**
 * Names who still uses the objects that a run deletes, managed or not, and the order that works.
 *
 * @param account as it was read
 */
export const blastRadius = (
  { deletions, inputsAfter }: PlannedChanges,
  { kinds }: AccountLists,
  states: StackStates,
): BlastRadius => {
  const all = kinds.flatMap(({ definition, objects }) =>
    [...objects].map(([id, wire]): Listed => ({ definition, id, wire })),
  );
  const isDeleted = ({ definition, id }: Pick<Listed, "definition" | "id">): boolean =>
    deletions.some((each) => each.definition.kind === definition.kind && each.id === id);
  const staying = all.filter((object) => !isDeleted(object));
  const references = staying.flatMap((object) =>
    referencesAfter(object, states, inputsAfter).map((reference) => ({ object, ...reference })),
  );
  const blocked = deletions.flatMap((deletion): readonly BlockedDeletion[] => {
    const target = all.find(
      ({ definition, id }) => definition.kind === deletion.definition.kind && id === deletion.id,
    );
    const users = references
      .filter(({ to, id }) => to.kind === deletion.definition.kind && id === deletion.id)
      .map(({ object, path }) => ({ ...named(object), path, ...whose(object, states) }));
    // What is gone already is deleted without a word.
    if (!target || users.length === 0) return [];
    return [{ ...named(target), urn: deletion.urn, users }];
  });
  const order =
    blocked.length === 0 ? [] : orderThatWorks(blocked, all.filter(isDeleted).map(named));
  const unread = kinds.flatMap(({ definition: { kind }, problem }) => (problem ? [kind] : []));
  const isUncertain = deletions.length > 0 && unread.length > 0;
  return {
    deletions: deletions.length,
    blocked: inOrder(blocked),
    order,
    ...(isUncertain ? { unread } : {}),
  };
};

type Named = ReturnType<typeof named>;

/** Users before what they use; else by names, as the steps of a preview come in another order each time. */
const inOrder = <T extends Named>(objects: readonly T[]): T[] => {
  const places = deletionOrder(resources).map(({ kind }) => kind);
  const keyOf = ({ kind, name, id }: Named): string =>
    JSON.stringify([places.indexOf(kind), name, id]);
  return objects.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

/** Users first, then everything that goes, users before what they use. */
const orderThatWorks = (
  blocked: readonly BlockedDeletion[],
  deleted: readonly Named[],
): readonly OrderedStep[] => {
  const users = new Map(
    blocked.flatMap((each) => each.users.map(({ kind, name, id }) => [id, { kind, name, id }])),
  );
  return [
    ...inOrder([...users.values()]).map((user) => ({ action: "release" as const, ...user })),
    ...inOrder(deleted).map((object) => ({ action: "delete" as const, ...object })),
  ];
};
