import { z } from "zod";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { type AssetDocument, isAssetDocument } from "../conversations/assets.js";
import {
  type ConversationDocument,
  isConversationDocument,
} from "../conversations/conversation-store.js";
import type { EmulatedService } from "../hub/service.js";
import {
  isStoredObject,
  type ObjectsByCollection,
  type StoredObject,
  uniqueMembers,
} from "../objects/objects.js";
import { hasShape } from "../objects/validate.js";
import { parseSwitches, type Switches, turnSwitches } from "../service/switches.js";
import { type Client, parseClient } from "../tokens/clients.js";

/** Everything that an emulator stores, with secrets in plain text. */
export interface EmulatorSnapshot {
  readonly version: number;
  /**
   * The setup objects in each collection, such as `channels`, as clients sent them, with `id`,
   * `created`, and `modified`.
   */
  readonly objects: Readonly<Record<string, readonly StoredObject[]>>;
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
  readonly clients: readonly Client[];
  readonly switches: Partial<Switches>;
}

const version = 1;

const documents = <T>(isDocument: (value: unknown) => value is T, rule: string) =>
  z.array(z.custom<T>(isDocument, rule));

/** The outline of a snapshot; a later look decides whether its parts fit together. */
const snapshotOutline = z.strictObject({
  version: z.literal(version),
  objects: z.strictObject(
    Object.fromEntries(
      resources.map(({ collection }) => [
        collection,
        documents(isStoredObject, 'must have "id", "created", and "modified"').default([]),
      ]),
    ),
  ),
  conversations: documents(
    isConversationDocument,
    "must be a conversation with its messages",
  ).default([]),
  assets: documents(isAssetDocument, "must be an asset with content of its declared size").default(
    [],
  ),
  clients: z.array(z.unknown()).optional(),
  switches: z.record(z.string(), z.unknown()).optional(),
});

/** Everything that the emulator stores, in one JSON document, with secrets in plain text. */
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

/** The setup and what results from it: everything except clients and switches. */
interface Content {
  readonly objects: ObjectsByCollection;
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
}

/** Replaces all content; pending deliveries are dropped. */
const replaceContent = (
  { store, conversations, assets, deliveries }: EmulatedService,
  content: Content,
): void => {
  store.replaceAll(content.objects);
  conversations.replaceAll(content.conversations);
  assets.replaceAll(content.assets);
  deliveries.reset();
};

/** Removes everything except clients and switches, and fills the token buckets. */
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
  new Error(`Could not load the snapshot: ${what}. Nothing was changed.`);

const assertDistinct = (values: readonly unknown[], what: string): void => {
  if (new Set(values).size < values.length) throw wrong(`${what} appears twice`);
};

const assertObjectsFit = (objects: ObjectsByCollection, switches: Switches): void => {
  for (const definition of resources) {
    const { collection } = definition;
    const { [collection]: own = [] } = objects;
    const broken = own.find((object) => !hasShape(definition, object, switches));
    if (broken)
      throw wrong(
        `object ${broken.id.slice(0, 60)} in ${collection} violates the rules for its kind`,
      );
    for (const member of ["id", ...uniqueMembers(definition)])
      assertDistinct(
        own.map((object) => object[member]),
        `a ${member} of ${collection}`,
      );
  }
};

/**
 * Replaces all stored data with a snapshot. Clients and switches remain if the snapshot omits them.
 *
 * @throws Error that describes what is wrong with the snapshot; nothing is changed
 */
export const putSnapshot = (service: EmulatedService, document: unknown): void => {
  const read = snapshotOutline.safeParse(document);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw wrong(`${issue?.path.join(".") || "the document"}: ${issue?.message}`.slice(0, 300));
  }
  const { journal, switches } = service;
  const { data } = read;
  const turned = parseSwitches(data.switches ?? {});
  assertObjectsFit(data.objects, { ...switches, ...turned });
  for (const list of [data.conversations, data.assets])
    assertDistinct(
      list.map(({ id }) => id),
      "an id",
    );
  const clients = data.clients?.map(parseClient);
  assertDistinct(clients?.map(({ clientId }) => clientId) ?? [], "a clientId");
  journal.together(() => {
    replaceContent(service, data);
    if (clients) service.clients.replaceAll(clients);
    turnSwitches(journal, switches, turned);
  });
};
