import { naturalKey } from "../../provider/definition/references.js";
import { resources } from "../../provider/resources/index.js";
import type { Collections, WireObject } from "../../provider/service/collections.js";
import { connectService } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";
import { environmentOnly } from "../pulumi-cli/stack-config.js";
import { textTable } from "../terminal/text-table.js";

/** An object that exists in the service. */
export interface ServiceObject {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly body: WireObject;
}

const listObjects = async (collections: Collections): Promise<readonly ServiceObject[]> => {
  const perKind = await Promise.all(
    resources.map(async (definition) => {
      const { objects } = await collections.list(definition);
      const key = naturalKey(definition);
      return [...objects].map(([id, body]) => ({
        kind: definition.kind,
        id,
        name: String(body[key] ?? ""),
        body,
      }));
    }),
  );
  return perKind.flat();
};

/** Asks the service that these settings name for every object of every kind, in set-up order. */
export const readObjects = async (
  environment: Readonly<Record<string, string>>,
): Promise<readonly ServiceObject[]> => {
  const service = connectService(readSettings(environmentOnly(environment)));
  try {
    return await listObjects(service);
  } finally {
    await service.close();
  }
};

/** Every text inside a JSON value. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
};

/** Names of the other objects that one mentions by id. */
const mentioned = (object: ServiceObject, names: ReadonlyMap<string, string>): string => {
  const ids = new Set(textsIn(object.body).filter((text) => text !== object.id));
  return [...ids].flatMap((id) => names.get(id) ?? []).join("\n");
};

/** The objects and how they hang together, as lines of a table; their names tell them apart, and stay whole. */
export const objectTable = (objects: readonly ServiceObject[]): readonly string[] => {
  const names = new Map(objects.map(({ id, name }) => [id, name]));
  return textTable(
    ["kind", "name", "refers to"],
    objects.map((object) => [object.kind, object.name, mentioned(object, names)]),
    { width: 78, whole: ["kind"] },
  );
};
