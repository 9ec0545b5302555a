import { z } from "zod";
import { resources } from "../../provider/resources/index.js";
import { type AssetDocument, assetDocument } from "../conversations/assets.js";
import {
  type ConversationDocument,
  conversationDocument,
} from "../conversations/conversation-store.js";
import type { EmulatedService } from "../hub/service.js";
import {
  isStoredObject,
  type ObjectsByCollection,
  type StoredObject,
  uniqueMembers,
} from "../objects/objects.js";
import { parseSwitches, type Switches } from "../service/switches.js";
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

const storedObject = z.custom<StoredObject>(
  isStoredObject,
  'must have "id", "created", and "modified"',
);

const snapshotShape = z.strictObject({
  version: z.literal(version),
  objects: z.strictObject(
    Object.fromEntries(
      resources.map(({ collection }) => [collection, z.array(storedObject).default([])]),
    ),
  ),
  conversations: z.array(conversationDocument).default([]),
  assets: z.array(assetDocument).default([]),
  clients: z.array(z.unknown()).optional(),
  switches: z.record(z.string(), z.unknown()).optional(),
});

/** Everything that the emulator stores, in one JSON document, with secrets in plain text. */
export const takeSnapshot = (service: EmulatedService): EmulatorSnapshot => ({
  version,
  objects: Object.fromEntries(
    resources.map(({ collection }) => [collection, service.store.all(collection)]),
  ),
  conversations: service.conversations.all(),
  assets: service.assets.all(),
  clients: service.clients.all(),
  switches: service.switches,
});

/** Replaces all content; pending deliveries are dropped. */
const replaceContent = (
  { store, conversations, assets, deliveries }: EmulatedService,
  content: Pick<EmulatorSnapshot, "objects" | "conversations" | "assets">,
): void => {
  store.replaceAll(content.objects);
  conversations.replaceAll(content.conversations);
  assets.replaceAll(content.assets);
  deliveries.reset();
};

/** Removes everything except clients and switches, and fills the token buckets. */
export const reset = (service: EmulatedService): void => {
  replaceContent(service, { objects: {}, conversations: [], assets: [] });
  service.faults.clear();
  service.rateLimiter.reset();
  service.log.reset();
  service.tokens.issued = 0;
};

const wrong = (what: string): Error =>
  new Error(`Could not load the snapshot: ${what}. Nothing was changed.`);

/** Names and IDs that must differ lead to their objects: two with the same one would be mixed up. */
const assertDistinct = (objects: ObjectsByCollection): void => {
  for (const definition of resources) {
    const { [definition.collection]: own = [] } = objects;
    for (const member of ["id", ...uniqueMembers(definition)])
      if (new Set(own.map((object) => object[member])).size < own.length)
        throw wrong(`a ${member} of ${definition.collection} appears twice`);
  }
};

/**
 * Replaces all stored data with a snapshot. Clients and switches remain if the snapshot omits them.
 *
 * @throws Error that describes what is wrong with the snapshot; nothing is changed
 */
export const putSnapshot = (service: EmulatedService, document: unknown): void => {
  const read = snapshotShape.safeParse(document);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw wrong(`${issue?.path.join(".") || "the document"}: ${issue?.message}`.slice(0, 300));
  }
  const { data } = read;
  const switches = parseSwitches(data.switches ?? {});
  const clients = data.clients?.map(parseClient);
  assertDistinct(data.objects);
  replaceContent(service, data);
  if (clients) service.clients.replaceAll(clients);
  Object.assign(service.switches, switches);
};
