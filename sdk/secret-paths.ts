import * as pulumi from "@pulumi/pulumi";
import type { Field, Fields } from "../provider/definition/define.js";
import { secretPathsBelow } from "../provider/kernel/environment-secret.js";
import { isObject } from "../provider/kernel/json.js";

/** The field of a member: of an object the one with its name, of a map the one of all. */
const fieldOfMember = (field: Field | undefined, name: string): Field | undefined => {
  if (field?.type === "map") return field.of;
  return field?.type === "object" && Object.hasOwn(field.fields, name)
    ? field.fields[name]
    : undefined;
};

/** @param field what the definition knows of the value; what is secret by it needs no mark */
const pathsIn = async (value: unknown, field?: Field): Promise<readonly string[]> => {
  if (field?.secret) return [];
  if (pulumi.Output.isInstance(value)) {
    // `output` also sees what an output of outputs holds. An unknown one knows whether it is secret.
    return (await pulumi.isSecret(pulumi.output(value))) ? [""] : [];
  }
  if (value instanceof Promise) return pathsIn(await value, field);
  if (pulumi.Resource.isInstance(value)) return [];
  if (Array.isArray(value)) {
    const of = field?.type === "list" ? field.of : undefined;
    const items = await Promise.all(value.map((item) => pathsIn(item, of)));
    return items.some((paths) => paths.length > 0) ? [""] : [];
  }
  if (!isObject(value)) return [];
  const members = Object.entries(value).map(async ([name, member]) =>
    secretPathsBelow(name, await pathsIn(member, fieldOfMember(field, name))),
  );
  return (await Promise.all(members)).flat();
};

/**
 * Which parts of a value a program marks as secret, as paths from its top: `apiKey`, `proxy.password`; a list that
 * holds a secret is one as a whole, and the empty path says that everything is. The provider gets
 * values without their secrecy and needs to be told. Sorted; undefined where nothing is secret.
 */
export const secretPaths = (value: unknown): Promise<readonly string[] | undefined> =>
  sortedPaths(pathsIn(value));

/** The same for the arguments of a resource, without what is secret by its definition. */
export const markedSecrets = (
  fields: Fields,
  args: pulumi.Inputs,
): Promise<readonly string[] | undefined> => {
  const paths = Object.entries(fields).map(async ([name, field]) =>
    secretPathsBelow(name, await pathsIn(args[name], field)),
  );
  return sortedPaths(Promise.all(paths).then((each) => each.flat()));
};

const sortedPaths = async (found: Promise<readonly string[]>) => {
  try {
    const paths = new Set(await found);
    if (paths.has("")) return [""];
    return paths.size > 0 ? [...paths].sort() : undefined;
  } catch {
    // What fails here fails again where the value itself is sent, and is told there.
    return undefined;
  }
};
