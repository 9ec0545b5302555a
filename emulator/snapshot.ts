import { isObject, type JsonObject } from "../provider/definition/json.js";
import { resources } from "../provider/resources/index.js";
import { parseClient } from "./clients.js";
import { isStoredObject } from "./collections.js";
import { parseSwitches } from "./switches.js";
import { turnSwitches, type World } from "./world.js";

const version = 1;

/** Everything that is kept, in one JSON document, secrets included. */
export const takeSnapshot = (world: World): JsonObject => ({
  version,
  objects: Object.fromEntries(
    resources.map(({ collection }) => [collection, world.store.all(collection)]),
  ),
  clients: world.clients.all(),
  switches: world.switches,
});

const wrong = (what: string): Error =>
  new Error(`The snapshot cannot be taken: ${what}. Nothing was changed.`);

const objectsOf = (value: unknown) => {
  if (!isObject(value)) throw wrong('"objects" is no object');
  const collections = resources.map(({ collection }) => collection);
  const unknown = Object.keys(value).find((name) => !collections.includes(name));
  if (unknown !== undefined) throw wrong(`there is no collection ${unknown.slice(0, 60)}`);
  return Object.fromEntries(
    Object.entries(value).map(([name, objects]) => {
      if (!Array.isArray(objects) || !objects.every(isStoredObject)) {
        throw wrong(`${name} must be a list of objects with id, created and modified`);
      }
      if (new Set(objects.map(({ id }) => id)).size < objects.length)
        throw wrong(`two objects of ${name} have the same id`);
      return [name, objects];
    }),
  );
};

/**
 * Puts a snapshot in the place of everything.
 *
 * @throws Error that says what is wrong with it; nothing is changed then
 */
export const putSnapshot = (world: World, document: unknown): void => {
  if (!isObject(document) || document.version !== version)
    throw wrong(`it must be a document of version ${version}`);
  const { objects, clients, switches } = document;
  const stored = objectsOf(objects);
  if (!Array.isArray(clients)) throw wrong('"clients" is no list');
  const parsed = clients.map(parseClient);
  if (!isObject(switches)) throw wrong('"switches" is no object');
  const turned = parseSwitches(switches);
  world.journal.together(() => {
    world.store.replaceAll(stored);
    world.clients.replaceAll(parsed);
    turnSwitches(world, turned);
  });
};
