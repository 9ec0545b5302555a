import { referencesIn } from "../../provider/definition/walk.js";
import { resources } from "../../provider/resources/index.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import { objectsById, type SelectionOptions, selected } from "./account-selection.js";
import { type ResourceNames, resourceNames } from "./resource-names.js";

/** An object with what a program calls it. */
export interface PlannedResource extends ResourceNames {
  readonly object: ObjectInputs;
}

/** An object that was meant and that no program can declare, with the reason. */
export interface SkippedObject {
  readonly object: ObjectInputs;
  readonly reason: string;
}

export interface PlanProgramOptions extends SelectionOptions {
  /** Declare also what a stack manages. */
  readonly managed?: boolean;
}

/** What a program does with each object of an account. */
export interface ProgramPlan {
  /** In the order in which an account is set up. */
  readonly declared: readonly PlannedResource[];
  /** What the declared ones refer to and the program does not declare. */
  readonly lookedUp: readonly PlannedResource[];
  readonly skipped: readonly SkippedObject[];
  /** The resource for an object, where the program has one. */
  readonly find: (kind: string, id: string) => PlannedResource | undefined;
}

/** Why an object that is there is not declared by this program. */
const obstacle = (
  { mark, problem }: ObjectInputs,
  { managed = false }: PlanProgramOptions,
): string | undefined =>
  mark && !managed ? `it carries the mark of another stack: ${mark.label}` : problem;

const usedBy = (objects: readonly ObjectInputs[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap(({ definition, fields }) =>
      referencesIn(definition.fields, fields).map(({ to, id }) => `${to.kind} ${id}`),
    ),
  );

const placeOf = ({ object }: PlannedResource): number => resources.indexOf(object.definition);

const byKindAndName = (a: PlannedResource, b: PlannedResource): number =>
  placeOf(a) - placeOf(b) || (a.logical < b.logical ? -1 : 1);

/**
 * Decides what a program declares, what it looks up and what it leaves out.
 *
 * @param objects all of the account, in the order in which it is set up
 * @throws CommandFailure where a filter means nothing
 */
export const planProgram = (
  objects: readonly ObjectInputs[],
  options: PlanProgramOptions,
): ProgramPlan => {
  const names = resourceNames(objects);
  const meant = selected(objects, options);
  const isFree = (object: ObjectInputs): boolean => obstacle(object, options) === undefined;
  const free = new Set(meant.filter(isFree));
  const used = usedBy([...free]);
  const named = (object: ObjectInputs): PlannedResource => ({
    object,
    ...(names.get(object) ?? { logical: object.id, variable: object.id }),
  });
  const inOrder = (isWanted: (object: ObjectInputs) => boolean) =>
    objects.filter(isWanted).map(named).toSorted(byKindAndName);
  const declared = inOrder((object) => free.has(object));
  const lookedUp = inOrder(
    (object) => !free.has(object) && used.has(`${object.definition.kind} ${object.id}`),
  );
  const byId = objectsById(objects);
  const planned = new Map([...declared, ...lookedUp].map((each) => [each.object, each]));
  return {
    declared,
    lookedUp,
    skipped: meant.flatMap((object) => {
      const reason = obstacle(object, options);
      return reason === undefined ? [] : [{ object, reason }];
    }),
    find: (kind, id) => {
      const object = byId.get(`${kind} ${id}`);
      return object && planned.get(object);
    },
  };
};
