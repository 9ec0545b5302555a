import { hash } from "node:crypto";
import type { Definition } from "../../provider/definition/define.js";
import { valuesIn } from "../../provider/definition/walk.js";
import type { PlannedResource } from "./program-plan.js";
import { camelCase, wordsIn } from "./resource-names.js";

/** A secret that a program takes from the configuration of its stack. */
export interface ProgramSecret {
  /** Key of the configuration, without the project. */
  readonly key: string;
  readonly resource: PlannedResource;
  /** As a person would write it, such as `basicAuth.password`. */
  readonly path: string;
}

/** A secret that an object may have, where the service leaves secrets out. */
export interface PossibleSecret {
  readonly resource: PlannedResource;
  readonly path: string;
}

/** Gives each secret of a program a key of its own. */
export const secretKeys = () => {
  const secrets: ProgramSecret[] = [];
  const taken = new Set<string>();
  return {
    secrets: secrets as readonly ProgramSecret[],
    keyOf: (resource: PlannedResource, path: string): string => {
      const plain = resource.variable + upperFirst(camelCase(wordsIn(insideFirst(path))));
      const suffix = hash("sha256", path).slice(0, 6);
      const key = taken.has(plain.toLowerCase()) ? `${plain}${suffix}` : plain;
      taken.add(key.toLowerCase());
      secrets.push({ key, resource, path });
      return key;
    },
  };
};

/** `password` of `basicAuth.password`: the object is told by the variable. */
const insideFirst = (path: string): string => path.replace(/^\w+(?=[.[])/, "");

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const optionalSecrets = ({ fields }: Definition): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.type === "object"
      ? Object.entries(field.fields).flatMap(([inner, of]) =>
          of.secret && !of.required ? [`${name}.${inner}`] : [],
        )
      : [],
  );

/**
 * Secrets that objects may have though nothing shows it: where the service leaves out one that must be
 * there, it may well leave out others.
 */
export const possibleSecrets = (
  declared: readonly PlannedResource[],
): readonly PossibleSecret[] => {
  if (!declared.some(({ object }) => object.leavesOut)) return [];
  return declared.flatMap((resource) => {
    const { definition, fields } = resource.object;
    const there = new Set(valuesIn(definition.fields, fields).map(({ path }) => path));
    return optionalSecrets(definition)
      .filter((path) => !there.has(path) && there.has(path.split(".")[0] ?? ""))
      .map((path) => ({ resource, path }));
  });
};
