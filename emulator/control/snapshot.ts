import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { isStoredObject, type ObjectsByCollection, uniqueMembers } from "../objects/store.js";
import { hasShape } from "../objects/validate.js";
import { type AssetDocument, isAssetDocument } from "../runtime/assets/asset-store.js";
import {
  type ConversationDocument,
  isConversationDocument,
} from "../runtime/conversation-store.js";
import type { EmulatedService } from "../service.js";
import { type Client, parseClient } from "../token/clients.js";
import { parseSwitches, type Switches, turnSwitches } from "./switches.js";

const version = 1;
const members = ["version", "objects", "conversations", "assets", "clients", "switches"];

/** What can be set up and what comes of it; everything but clients and switches. */
interface Content {
  readonly objects: ObjectsByCollection;
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
}

/** Everything that is kept, in one JSON document, secrets included. */
export const takeSnapshot = (service: EmulatedService): JsonObject => ({
  version,
  objects: Object.fromEntries(
    resources.map(({ collection }) => [collection, service.store.all(collection)]),
  ),
  conversations: service.conversations.all(),
  assets: service.assets.all(),
  clients: service.clients.all(),
  switches: service.switches,
});

/** Puts other content in the place of all; deliveries on their way are dropped. */
const replaceContent = (
  { journal, store, conversations, assets, deliveries }: EmulatedService,
  content: Content,
): void => {
  store.replaceAll(content.objects);
  conversations.replaceAll(content.conversations);
  assets.replaceAll(content.assets);
  journal.whenKept(() => deliveries.reset());
};

/** A clean slate; clients and switches stay. */
export const reset = (service: EmulatedService): void => {
  service.journal.together(() =>
    replaceContent(service, { objects: {}, conversations: [], assets: [] }),
  );
  service.faults.clear();
  service.rateLimiter.reset();
  service.log.reset();
  service.tokens.issued = 0;
};

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

const storedObjects = (definition: Definition, value: unknown, switches: Switches) => {
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
  const ids = clients.map(({ clientId }) => clientId);
  assertDistinct(ids, "a clientId");
  return clients;
};

const switchesOf = (value: unknown): Partial<Switches> => {
  if (!isObject(value)) throw wrong('"switches" is no object');
  return parseSwitches(value);
};

/** A snapshot from before conversations and assets were kept has none. */
const documentsOf = <T extends { readonly id: string }>(
  value: unknown = [],
  isDocument: (each: unknown) => each is T,
  rule: string,
): readonly T[] => {
  if (!Array.isArray(value) || !value.every(isDocument)) throw wrong(rule);
  const ids = value.map(({ id }) => id);
  assertDistinct(ids, "an id");
  return value;
};

/**
 * Puts a snapshot in the place of everything; clients and switches stay where it leaves them out.
 *
 * @throws Error that says what is wrong with it; nothing is changed then
 */
export const putSnapshot = (service: EmulatedService, document: unknown): void => {
  if (!isObject(document) || document.version !== version)
    throw wrong(`it must be a document of version ${version}`);
  assertKnown(document, members, "member");
  const { journal, switches } = service;
  const turned = document.switches === undefined ? {} : switchesOf(document.switches);
  const content = {
    objects: objectsOf(document.objects, { ...switches, ...turned }),
    conversations: documentsOf(
      document.conversations,
      isConversationDocument,
      '"conversations" must be a list of conversations with their messages',
    ),
    assets: documentsOf(
      document.assets,
      isAssetDocument,
      '"assets" must be a list of assets, each with the content that its size says',
    ),
  };
  const clients = document.clients === undefined ? undefined : clientsOf(document.clients);
  journal.together(() => {
    replaceContent(service, content);
    if (clients) service.clients.replaceAll(clients);
    turnSwitches(journal, switches, turned);
  });
};
