import fc from "fast-check";
import {
  type Field,
  type Fields,
  identityOf,
  type MemberRule,
  type TextField,
} from "../../../provider/definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";

const words = fc.string({ unit: fc.constantFrom(..."abzé5 \n"), minLength: 1, maxLength: 8 });
const label = fc.string({ unit: fc.constantFrom(..."abz19"), minLength: 1, maxLength: 5 });

const urls = fc
  .record({
    host: label,
    port: fc.constantFrom("", ":8443"),
    path: fc.array(fc.constantFrom("a", "b%2F", "é", "x y"), { maxLength: 3 }),
    query: fc.constantFrom("", "?q=1", "?q=%7e"),
  })
  .map(
    ({ host, port, path, query }) => `https://${host}.example.com${port}/${path.join("/")}${query}`,
  );

const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 6 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));

const ofThisCentury = { min: new Date("2000"), max: new Date("2100"), noInvalidDate: true };

const textOf = (field: TextField): fc.Arbitrary<string> => {
  if (field.values) return fc.constantFrom(...field.values);
  if (field.json) return fc.dictionary(label, fc.integer()).map((value) => JSON.stringify(value));
  if (field.format === "url") return urls;
  if (field.format === "base64") return base64;
  if (field.format === "time") return fc.date(ofThisCentury).map((at) => at.toJSON());
  if (field.format === "email") return label.map((name) => `${name}@Example.com`);
  return fc.oneof(words, fc.nat().map(String));
};

/** What no two items of a list may share, so that each is recognised. */
const identityText = (field: Field & { type: "list" }, item: unknown): string =>
  JSON.stringify(
    identityOf(field).length > 0 && isObject(item)
      ? identityOf(field).map((name) => item[name])
      : item,
  );

/** Any right value of a field as a program gives it; optional members are there or not. */
export const anyValue = (field: Field): fc.Arbitrary<unknown> => {
  switch (field.type) {
    case "text":
      return textOf(field);
    case "number": {
      const { min = 0, max = min + 1000 } = field;
      return field.integer
        ? fc.integer({ min, max })
        : fc.integer({ min, max }).map((n) => n / 2 + min / 2);
    }
    case "flag":
      return fc.boolean();
    case "reference":
      return fc.oneof(fc.uuid(), fc.nat().map(String));
    case "object":
      return anyValues(field.fields, field.rule);
    case "list":
      return fc.uniqueArray(anyValue(field.of), {
        minLength: field.min ?? 0,
        maxLength: 4,
        selector: (item) => identityText(field, item),
      });
    case "map":
      return fc.dictionary(label, anyValue(field.of), { minKeys: field.min ?? 0, maxKeys: 3 });
  }
};

const chosen = (rule: MemberRule | undefined, values: JsonObject): JsonObject => {
  if (!rule || !("exactlyOne" in rule)) return values;
  const member = rule.exactlyOne[String(values[rule.discriminator])];
  const members = Object.values(rule.exactlyOne);
  return objectOf(
    Object.entries(values).filter(([name]) => name === member || !members.includes(name)),
  );
};

export const anyValues = (fields: Fields, rule?: MemberRule): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      ...Object.entries(fields).map(([name, field]) =>
        (field.required ? anyValue(field) : fc.option(anyValue(field), { nil: undefined })).map(
          (value) => [name, value] as const,
        ),
      ),
    )
    .map((entries) => chosen(rule, objectOf(entries)));
