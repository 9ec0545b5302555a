import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { isStoredObject } from "../objects/collections.js";
import { type ObjectsByCollection, type StoredObject, uniqueMembers } from "../objects/store.js";
import { hasShape } from "../objects/validate.js";
import { turnSwitches, type World } from "../objects/world.js";
import { emptyRuntime, parseRuntimeDocument } from "../runtime/runtime.js";
import { type Client, parseClient } from "../token/clients.js";
import { parseSwitches, type Switches } from "./switches.js";

const version = 1;
const members = ["version", "objects", "clients", "switches", ...Object.keys(emptyRuntime)];

/** Everything that is kept, in one JSON document, secrets included. */
export const takeSnapshot = (world: World): JsonObject => ({
  version,
  objects: Object.fromEntries(
    resources.map(({ collection }) => [collection, world.store.all(collection)]),
  ),
  ...world.runtime.document(),
  clients: world.clients.all(),
  switches: world.switches,
});

const wrong = (what: string): Error =>
  new Error(`The snapshot cannot be taken: ${what}. Nothing was changed.`);

const assertKnown = (value: JsonObject, known: readonly string[], what: string): void => {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw wrong(`there is no ${what} ${unknown.slice(0, 60)}; known are ${known.join(", ")}`);
};

const assertDistinct = (values: readonly unknown[], what: string): void => {
  if (new Set(values).size < values.length) throw wrong(`${what} is there twice`);
};

const storedObjects = (
  definition: Definition,
  value: unknown,
  switches: Switches,
): readonly StoredObject[] => {
  const { collection } = definition;
  if (!Array.isArray(value) || !value.every(isStoredObject))
    throw wrong(`${collection} must be a list of objects with id, created and modified`);
  const broken = value.find((object) => !hasShape(definition, object, switches));
  if (broken) throw wrong(`${collection} ${broken.id.slice(0, 60)} breaks the rules of its kind`);
  for (const member of ["id", ...uniqueMembers(definition)])
    assertDistinct(
      value.map((object) => object[member]),
      `a ${member} of ${collection}`,
    );
  return value;
};

const objectsOf = (value: unknown, switches: Switches): ObjectsByCollection => {
  if (!isObject(value)) throw wrong('"objects" is no object');
  const names = resources.map(({ collection }) => collection);
  assertKnown(value, names, "collection");
  return Object.fromEntries(
    resources.map((definition) => {
      const { [definition.collection]: objects = [] } = value;
      return [definition.collection, storedObjects(definition, objects, switches)];
    }),
  );
};

const clientsOf = (value: unknown): readonly Client[] => {
  if (!Array.isArray(value)) throw wrong('"clients" is no list');
  const clients = value.map(parseClient);
  assertDistinct(
    clients.map(({ clientId }) => clientId),
    "a clientId",
  );
  return clients;
};

const switchesOf = (value: unknown): Partial<Switches> => {
  if (!isObject(value)) throw wrong('"switches" is no object');
  return parseSwitches(value);
};

const runtimeOf = (document: JsonObject) => {
  try {
    return parseRuntimeDocument(document);
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
};

/**
 * Puts a snapshot in the place of everything; clients and switches stay where it leaves them out.
 *
 * @throws Error that says what is wrong with it; nothing is changed then
 */
export const putSnapshot = (world: World, document: unknown): void => {
  if (!isObject(document) || document.version !== version)
    throw wrong(`it must be a document of version ${version}`);
  assertKnown(document, members, "member");
  const switches = document.switches === undefined ? {} : switchesOf(document.switches);
  const objects = objectsOf(document.objects, { ...world.switches, ...switches });
  const running = runtimeOf(document);
  const clients = document.clients === undefined ? undefined : clientsOf(document.clients);
  world.journal.together(() => {
    world.store.replaceAll(objects);
    world.runtime.replaceAll(running);
    if (clients) world.clients.replaceAll(clients);
    turnSwitches(world, switches);
  });
};
