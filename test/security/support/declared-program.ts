import { naturalKey, setUpOrder } from "../../../provider/definition/references.js";
import { resources } from "../../../provider/resources/index.js";
import { formsOf, type Json, marker } from "./canaries.js";

/** A Pulumi program that declares every kind in every form; FORMS holds them, and their canaries. */
export const declaredProgram = `
const conversation = require("pulumi-conversation");
const made = {};
const bound = (value) => {
  if (Array.isArray(value)) return value.map(bound);
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, bound(of)]));
  const [, kind] = /^\\$\\{(\\w+)\\}$/.exec(value) ?? [];
  return kind ? made[kind].id : value;
};
for (const { kind, name, values } of JSON.parse(process.env.FORMS)) {
  const resource = new conversation[kind](name, bound(values));
  made[kind] = made[kind] ?? resource;
}
`;

/** The environment of that program; another word is another value of every secret. */
export const formsEnvironment = (word: string): Readonly<Record<string, string>> => {
  const forms = setUpOrder(resources)
    .flatMap(formsOf)
    .map(({ definition, name, values }) => {
      const key = naturalKey(definition);
      const unique: Json = { [key]: `${values[key]}-${name.toLowerCase()}` };
      return { kind: definition.kind, name, values: { ...values, ...unique } };
    });
  return { FORMS: JSON.stringify(forms).replaceAll(`"${marker} `, `"${marker} ${word} `) };
};
