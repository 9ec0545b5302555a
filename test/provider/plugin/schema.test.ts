import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Field, Fields } from "../../../provider/definition/define.js";
import { isObject } from "../../../provider/kernel/json.js";
import {
  type ObjectSpec,
  type PropertySpec,
  packageSchema,
  type TypeSpec,
} from "../../../provider/plugin/schema.js";
import { resources } from "../../../provider/resources/index.js";
import { settingTable } from "../../../provider/service/settings.js";

const root = join(__dirname, "..", "..", "..");

const schema = packageSchema();

const resourceOf = (kind: string) => {
  const found = schema.resources[`conversation:index:${kind}`];
  if (!found) throw new Error(`no resource ${kind}`);
  return found;
};

const referredType = (spec: TypeSpec, path: string): ObjectSpec => {
  const token = "$ref" in spec ? spec.$ref.replace("#/types/", "") : "";
  const found = schema.types[token];
  if (!found) throw new Error(`${path}: no type ${JSON.stringify(spec)}`);
  return found;
};

/** A field of a definition, and what the schema says at its place. */
interface Place {
  readonly path: string;
  readonly field: Field;
  readonly spec: TypeSpec;
}

/** What the schema says of a value, and of every value inside it. */
const placesIn = (path: string, field: Field, spec: TypeSpec): readonly Place[] => {
  const own = { path, field, spec };
  if (field.type === "object") {
    const type = referredType(spec, path);
    return [own, ...placesAmong(path, field.fields, type)];
  }
  if (field.type === "list" && "items" in spec)
    return [own, ...placesIn(`${path}[]`, field.of, spec.items)];
  if (field.type === "map" && "additionalProperties" in spec)
    return [own, ...placesIn(`${path}{}`, field.of, spec.additionalProperties)];
  return [own];
};

const placesAmong = (
  path: string,
  fields: Fields,
  { properties }: Pick<ObjectSpec, "properties">,
): readonly Place[] => {
  expect(Object.keys(properties).sort()).toEqual(Object.keys(fields).sort());
  return Object.entries(fields).flatMap(([name, field]) => {
    const spec = properties[name];
    if (!spec) throw new Error(`${path}.${name} is missing`);
    return placesIn(`${path}.${name}`, field, spec);
  });
};

const own = ["adopt", "eraseHidden"];
const readOnly = ["created", "modified"];

const without = <T>(members: Readonly<Record<string, T>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

/** Every place of a kind, among its inputs and among its outputs. */
const placesOf = ({ kind, fields }: (typeof resources)[number]): readonly Place[] => {
  const { inputProperties, properties } = resourceOf(kind);
  return [
    ...placesAmong(kind, fields, { properties: without(inputProperties, own) }),
    ...placesAmong(`${kind} (output)`, fields, { properties: without(properties, readOnly) }),
  ];
};

const places = resources.flatMap(placesOf);

/** Written a second time, so that a mistake of the generator does not agree with itself. */
const shapes: Readonly<Record<Field["type"], (field: Field, spec: TypeSpec) => unknown>> = {
  text: (field, spec) => {
    if (field.type !== "text") return undefined;
    return field.json
      ? "oneOf" in spec &&
          spec.oneOf.map((one) => "type" in one && one.type).join() === "string,object"
      : "type" in spec && spec.type === "string" && !("oneOf" in spec);
  },
  // No number of any kind is one that people give fractions of.
  number: (_, spec) => "type" in spec && spec.type === "integer",
  flag: (_, spec) => "type" in spec && spec.type === "boolean",
  reference: (_, spec) => "type" in spec && spec.type === "string" && !("oneOf" in spec),
  object: (_, spec) => "$ref" in spec,
  list: (_, spec) => "items" in spec,
  map: (_, spec) => "additionalProperties" in spec,
};

test("every field of every kind has its type, among the inputs and among the outputs", () => {
  expect(places.length).toBeGreaterThan(200);
  for (const { path, field, spec } of places)
    expect([path, shapes[field.type](field, spec)]).toEqual([path, true]);
});

test("only the body of a token request is a choice of types, which Go would not type", () => {
  const choices = places.filter(({ spec }) => "oneOf" in spec).map(({ path }) => path);
  expect(choices).toEqual([
    "Authentication.oauth2.payload",
    "Authentication (output).oauth2.payload",
  ]);
  const { adopt, icon } = resourceOf("Channel").inputProperties;
  expect(adopt).toEqual({
    ...{ type: "string", plain: true },
    description:
      "An existing object to adopt instead of creating one: `true` for the object with the same unique name, or an object's ID.",
  });
  expect(icon).toMatchObject({ type: "string" });
});

const isDescribed = (spec: TypeSpec): spec is PropertySpec => "description" in spec;

/** What lists and maps hold has no place of its own for docs and secrecy. */
const described = places.filter(({ path }) => !/[\]}]$/.test(path));

test("every field carries its doc comment and where it is known from", () => {
  const sources = {
    spec: "specification",
    vendor: "vendor's description of the interface",
    public: "public reference",
    assumed: "assumed",
  };
  for (const { path, field, spec } of described) {
    const text = isDescribed(spec) ? spec.description : path;
    expect(text.startsWith(field.doc)).toBe(true);
    expect(text).toMatch(new RegExp(` Source: ${sources[field.basis]}\\.$`));
    if (field.type === "reference") expect(text).toContain(`The ID of a`);
    if (field.type === "text")
      for (const value of field.values ?? []) expect(text).toContain(value);
  }
});

test("what is secret, or holds nothing but secrets, is secret in the schema; nothing else is", () => {
  const secrets = described.filter(({ spec }) => "secret" in spec).map(({ path }) => path);
  const expected = described.filter(
    ({ field }) => field.secret || (field.type === "map" && field.of.secret),
  );
  expect(secrets).toEqual(expected.map(({ path }) => path));
  expect(secrets).toContain("Authentication.basicAuth.password");
  expect(secrets).toContain("ClientApplication.roles[].headers");
  // An environment of definitions that marks a list's items cannot go unnoticed.
  const inItems = places.filter(({ path, field }) => path.endsWith("]") && field.secret);
  expect(inItems).toEqual([]);
});

test("a program must give what it must give to the classes", () => {
  const required = Object.fromEntries(
    resources.map(({ kind }) => [kind, [...resourceOf(kind).requiredInputs].sort()]),
  );
  expect(required).toEqual({
    Authentication: [],
    ClientApplication: ["roles"],
    Participant: ["application", "type"],
    Channel: ["displayName", "icon", "type"],
    Orchestration: ["applications"],
    Account: ["address", "channel", "chatConfigurations"],
  });
});

test("a rule over several members is said in words", () => {
  expect(resourceOf("Authentication").description).toContain(
    "Specify exactly one of `basicAuth`, `oauth2`",
  );
  const { description } = referredType(
    { $ref: "#/types/conversation:index:OrchestrationApplications" },
    "applications",
  );
  expect(description).toContain("Specify at least one of `botConfiguration`, `agentConfiguration`");
});

test("no program gives what the life cycle keeps for itself, and none names a profile", () => {
  const kept = /^(owner|ownership|autoName|markedSecrets|serial|undeclared|profile|__.*)$/;
  const given = Object.values(schema.resources).flatMap(({ inputProperties }) =>
    Object.keys(inputProperties),
  );
  for (const name of [...given, ...Object.keys(schema.provider.inputProperties)])
    expect(name).not.toMatch(kept);
  for (const { kind, fields } of resources)
    expect(Object.keys(resourceOf(kind).inputProperties)).toEqual([...Object.keys(fields), ...own]);
});

test("generated code sends no default: an adopted object keeps what the program leaves out", () => {
  const defaults = JSON.stringify(schema).match(/"default":/g) ?? [];
  expect(defaults).toEqual([]);
  expect(resourceOf("Channel").inputProperties.active?.description).toContain("Default: `true`.");
});

test("the provider takes every setting; a secret one is secret, a number is a number", () => {
  const { inputProperties } = schema.provider;
  expect(Object.keys(inputProperties)).toEqual(Object.keys(settingTable));
  expect(Object.keys(schema.config.variables)).toEqual(Object.keys(settingTable));
  for (const [key, { environment, doc, secret, parse }] of Object.entries(settingTable)) {
    const [input, variable] = [inputProperties[key], schema.config.variables[key]];
    const parsed = parse("1");
    const isNumber = "value" in parsed && typeof parsed.value === "number";
    for (const property of [input, variable]) {
      expect(property?.secret).toBe(secret);
      expect(property?.description.startsWith(doc)).toBe(true);
      expect(property?.description).toContain(`\`CONVERSATION_${environment}\``);
      const type = property && "type" in property ? property.type : undefined;
      expect([key, /^(number|integer)$/.test(type ?? "")]).toEqual([key, isNumber]);
    }
  }
});

test("the package says what it is as package.json does, and where it is found", () => {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (!isObject(manifest)) throw new Error("no package.json");
  // Go's generated code has its import path from it.
  const { url } = isObject(manifest.repository) ? manifest.repository : {};
  const repository = typeof url === "string" ? url.replace(/^git\+|\.git$/g, "") : undefined;
  expect(schema.repository).toBe(repository ?? "https://www.npmjs.com/package/pulumi-conversation");
  expect(schema.language.nodejs).toHaveProperty("packageName");
  expect(schema.language.nodejs).not.toHaveProperty("packageName", manifest.name);
});

test("what dynamic resources made is taken over: the type that they have is an alias", () => {
  for (const { kind } of resources)
    expect(resourceOf(kind).aliases).toEqual([
      { type: `pulumi-nodejs:dynamic/conversation:${kind}` },
    ]);
});
