import { expect } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf, type Running, running } from "./running.js";

/** An object as GET gives it; the list must give the same. */
export const given = async (service: Running, kind: string, id: string): Promise<JsonObject> => {
  const { collection, listKey } = kindOf(kind);
  const { json } = await service.call("GET", `/${collection}/${id}`);
  const listed = (await service.call("GET", `/${collection}?$pagesize=75`)).json[listKey];
  expect((listed as JsonObject[]).find((each) => each.id === id)).toEqual(json);
  return json;
};

/** An object as the emulator keeps it. */
export const stored = async (service: Running, kind: string, id: string): Promise<JsonObject> => {
  const { json } = await service.control("GET", "/snapshot");
  const lists = json.objects as Record<string, JsonObject[]>;
  return lists[kindOf(kind).collection]?.find((each) => each.id === id) ?? {};
};

/** An object without what the service sets itself. */
export const plain = ({ id, created, modified, ...rest }: JsonObject): JsonObject => rest;

/** An object of a service that answers in forms of its own, secrets echoed. */
export const madeInOwnForms = async (
  kind: string,
  changes: JsonObject = {},
  switches: object = {},
) => {
  const service = await running({ switches: { forms: "own", secrets: "echo", ...switches } });
  const id = await service.make(kindOf(kind), changes);
  return { service, id, path: `/${kindOf(kind).collection}/${id}` };
};
