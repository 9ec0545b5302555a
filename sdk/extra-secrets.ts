import * as pulumi from "@pulumi/pulumi";
import { secretPathsBelow } from "../provider/kernel/environment-secret.js";
import { isObject } from "../provider/kernel/json.js";

const pathsIn = async (value: unknown): Promise<readonly string[]> => {
  if (pulumi.Output.isInstance(value)) {
    // `output` also sees what an output of outputs holds. An unknown one knows whether it is secret.
    return (await pulumi.isSecret(pulumi.output(value))) ? [""] : [];
  }
  if (value instanceof Promise) return pathsIn(await value);
  if (pulumi.Resource.isInstance(value)) return [];
  if (Array.isArray(value)) {
    const items = await Promise.all(value.map(pathsIn));
    return items.some((paths) => paths.length > 0) ? [""] : [];
  }
  if (!isObject(value)) return [];
  const members = Object.entries(value).map(async ([name, member]) =>
    secretPathsBelow(name, await pathsIn(member)),
  );
  return (await Promise.all(members)).flat();
};

/**
 * Which parts of a value a program marks as secret, as paths from its top: `apiKey`, `proxy.password`; a list that
 * holds a secret is one as a whole, and the empty path says that everything is. The provider gets
 * values without their secrecy and needs to be told. Sorted; undefined where nothing is secret.
 */
export const secretPaths = async (value: unknown): Promise<readonly string[] | undefined> => {
  try {
    const paths = new Set(await pathsIn(value));
    if (paths.has("")) return [""];
    return paths.size > 0 ? [...paths].sort() : undefined;
  } catch {
    // What fails here fails again where the value itself is sent, and is told there.
    return undefined;
  }
};
