import { naturalKey } from "../../provider/definition/references.js";
import { resources } from "../../provider/resources/index.js";
import type { Collections, WireObject } from "../../provider/service/objects/collections.js";
import { table } from "../terminal/table.js";
import type { PulumiProject } from "./pulumi-project.js";
import type { ProjectName, StateFolder } from "./state-folder.js";

/** An object that exists in the service. */
export interface ServiceObject {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly body: WireObject;
}

/** Asks the service for every object of every kind, in set-up order. */
export const readObjects = async (collections: Collections): Promise<readonly ServiceObject[]> => {
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

/** The objects and how they hang together, as lines of a table. */
export const objectTable = (objects: readonly ServiceObject[]): readonly string[] => {
  const names = new Map(objects.map(({ id, name }) => [id, name]));
  return table(
    ["kind", "name", "id", "refers to"],
    objects.map((object) => [object.kind, object.name, object.id, mentioned(object, names)]),
  );
};

/** A quick start under way: where it writes, and what it works with. */
export interface Scene {
  readonly state: StateFolder;
  /** Settings of the service, as environment variables. */
  readonly settings: Readonly<Record<string, string>>;
  /** Aborted when everything is to end. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly title: (text: string) => void;
  pulumi(name: ProjectName): PulumiProject;
  /** Everything that exists in the service. */
  objects(): Promise<readonly ServiceObject[]>;
}

export const showObjects = async ({ print, title, objects }: Scene): Promise<void> => {
  const found = await objects();
  title("What the service holds now");
  const lines = found.length === 0 ? ["nothing"] : objectTable(found);
  for (const line of lines) print(`  ${line}`);
};
