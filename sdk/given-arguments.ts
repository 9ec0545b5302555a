import * as pulumi from "@pulumi/pulumi";
import type { Definition } from "../provider/definition/define.js";
import { pathsOfTexts } from "../provider/kernel/json-text.js";
import { nearestHint } from "../provider/kernel/nearest-word.js";
import { outputAsText } from "../provider/kernel/output-as-text.js";
import { valueSort } from "../provider/kernel/value-sort.js";

const sortOf = (value: unknown): string => {
  if (pulumi.Output.isInstance(value)) return "an output";
  return pulumi.Resource.isInstance(value) ? "a resource" : valueSort(value);
};

const isPlain = (value: unknown): value is object => sortOf(value) === "an object";

/** What is undefined counts as left out, as everywhere in Pulumi. */
const givenNames = (args: object): readonly string[] =>
  Object.entries(args).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** What the third argument takes: in the second they would be no properties. */
const options = new Set([
  "aliases",
  "customTimeouts",
  "deleteBeforeReplace",
  "dependsOn",
  "ignoreChanges",
  "import",
  "parent",
  "protect",
  "provider",
  "replaceOnChanges",
  "retainOnDelete",
]);

/**
 * Refuses what cannot be a logical name and properties, before anything is registered: the engine
 * would make something else of it. Types keep a TypeScript program from it, and no other.
 *
 * @throws pulumi.RunError that says what was given
 */
export const assertArguments = (kind: string, name: unknown, args: unknown): void => {
  if (typeof name !== "string" || name === "") {
    const given = name === "" ? "an empty one" : sortOf(name);
    throw new pulumi.RunError(
      `new ${kind}(name, properties): the name must be text, by which Pulumi knows the resource; ${given} was given`,
    );
  }
  if (!name.isWellFormed())
    throw new pulumi.RunError(
      `new ${kind}(name, properties): the name ${JSON.stringify(name)} holds half of a character: a text was cut in the middle of one`,
    );
  if (outputAsText(name) !== undefined)
    throw new pulumi.RunError(
      `new ${kind}(name, properties): the name holds an output; Pulumi has to know it before anything is made. Take a text that the program knows`,
    );
  if (args === undefined || args === null) return;
  const of = `${kind} ${JSON.stringify(name)}`;
  if (!isPlain(args))
    throw new pulumi.RunError(
      `${of}: the properties must be an object; ${sortOf(args)} was given. Promises and outputs can stand for each property, and not for all of them`,
    );
  const [half] = pathsOfTexts(args, (text) => !text.isWellFormed());
  if (half !== undefined)
    throw new pulumi.RunError(
      `${of}: ${half} holds half of a character: a text was cut in the middle of one. Pulumi cannot send it`,
    );
  const option = givenNames(args).find((key) => options.has(key));
  if (option !== undefined)
    throw new pulumi.RunError(
      `${of}: ${option} is an option of Pulumi and no property: give it in the third argument, new ${kind}(name, properties, { ${option}: … })`,
    );
};

/**
 * Refuses what is no object, where a component takes one apart; a resource may stand there where
 * the component says so.
 *
 * @throws pulumi.RunError that says what was given
 */
export const assertPart = (of: string, path: string, part: unknown): void => {
  if (isPlain(part)) return;
  throw new pulumi.RunError(
    `${of}: ${path} must be an object with properties; ${sortOf(part)} was given`,
  );
};

/** @throws pulumi.RunError where a component is given what it does not take */
export const assertKnownNames = (of: string, names: readonly string[], args: object): void => {
  const other = givenNames(args).find((name) => !names.includes(name));
  if (other === undefined) return;
  const hint = nearestHint(other, names);
  throw new pulumi.RunError(
    `${of}: takes no ${other}${hint === "" ? `. It takes ${names.join(", ")}` : hint}`,
  );
};

/** @throws pulumi.RunError where nothing is given that can be an id: the engine would make a new object */
export const assertGetId = (kind: string, name: string, id: unknown): void => {
  const isGiven =
    typeof id === "string" ? id !== "" : ["an output", "a promise"].includes(sortOf(id));
  if (isGiven) return;
  throw new pulumi.RunError(
    `${kind}.get(${JSON.stringify(name)}, id): the id must be text; ${id === "" ? "an empty one" : sortOf(id)} was given. By what people know an object by, ${kind}.find finds it`,
  );
};

/** @throws pulumi.RunError where an object cannot be found by what is given */
export const assertFoundBy = ({ kind, fields }: Definition, where: unknown): void => {
  const texts = Object.keys(fields).filter((name) => fields[name]?.type === "text");
  const found = isPlain(where) ? Object.entries(where) : [];
  if (found.length === 0 || found.some(([, text]) => typeof text !== "string" || text === ""))
    throw new pulumi.RunError(
      `${kind}.find: say what it is found by, as a text: ${kind}.find({ ${texts[0]}: "…" })`,
    );
  const other = found.map(([name]) => name).find((name) => !texts.includes(name));
  if (other !== undefined)
    throw new pulumi.RunError(
      `${kind}.find: ${other} is no text of ${kind}${nearestHint(other, texts)}`,
    );
};
