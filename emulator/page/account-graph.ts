import type { Definition } from "../../provider/definition/define.js";
import { namingOf } from "../../provider/definition/references.js";
import { asText, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { hideSecrets } from "../objects/forms.js";
import { type StoredObject, storedReferences } from "../objects/store.js";
import type { EmulatedService } from "../service/service.js";

/** A reference from one object to another, as the page draws it. */
export interface GraphReference {
  readonly collection: string;
  readonly id: string;
  /** Where the object holds it, such as `roles[0].authentication.id`. */
  readonly path: string;
}

/** A set-up object as the page shows it. */
export interface GraphObject {
  readonly collection: string;
  readonly id: string;
  /** What people know it by; empty where it has none. */
  readonly name: string;
  readonly isActive: boolean;
  readonly references: readonly GraphReference[];
}

/** The set-up objects, as many as the page shows. */
export interface AccountGraph {
  readonly objects: readonly GraphObject[];
  /** How many objects there are in all. */
  readonly total: number;
}

/** A page with more is of no use to a person, and slow to send again after each change. */
const mostObjects = 5_000;

const nameOf = (definition: Definition, object: StoredObject): string =>
  asText(object[namingOf(definition).wire]);

const graphObject = (definition: Definition, object: StoredObject): GraphObject => ({
  collection: definition.collection,
  id: object.id,
  name: nameOf(definition, object),
  isActive: object.active !== false,
  references: storedReferences(definition, object).map(({ to, id, path }) => ({
    collection: to.collection,
    id,
    path,
  })),
});

/** Every set-up object with its references, in set-up order, each kind in the order of creation. */
export const accountGraph = ({ store }: Pick<EmulatedService, "store">): AccountGraph => {
  const all = resources.map((definition) => ({
    definition,
    list: store.all(definition.collection),
  }));
  const total = all.reduce((sum, { list }) => sum + list.length, 0);
  // The same share of each kind, so that none is missing where there are too many.
  const share = total > mostObjects ? mostObjects / total : 1;
  const objects = all.flatMap(({ definition, list }) =>
    list.slice(0, Math.ceil(list.length * share)).map((object) => graphObject(definition, object)),
  );
  return { objects, total };
};

/** One object whole, its secrets as asterisks; undefined where there is none. */
export const shownObject = (
  { store }: Pick<EmulatedService, "store">,
  collection: string,
  id: string,
): JsonObject | undefined => {
  const definition = resources.find((each) => each.collection === collection);
  const object = definition && store.get(collection, id);
  return object && hideSecrets(definition.fields, object, "mask");
};
