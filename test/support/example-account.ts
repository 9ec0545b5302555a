import * as pulumi from "@pulumi/pulumi";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { setUpOrder } from "../../provider/definition/fields.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/pointer.js";
import { authentication } from "../../provider/resources/authentication.js";
import { resources } from "../../provider/resources/index.js";
import * as conversation from "../../sdk/index.js";

/**
 * A program with the example of every kind, and every secret that a kind may hold. Under
 * PLUGIN=native the same resources are of a native plugin, each an alias of the dynamic one; BACK
 * makes the dynamic ones aliases of the plugin's, as the guide says. The kinds that DESCRIBED names
 * have DESCRIPTION.
 */
const native = process.env.PLUGIN === "native";
const described = (process.env.DESCRIBED ?? "").split(" ");

/** Text that stands at every secret place of the program. */
const canary = "canary";

type ResourceClass = new (
  name: string,
  args: pulumi.Inputs,
  opts?: pulumi.CustomResourceOptions,
) => pulumi.CustomResource;

const declareDynamic = (
  kind: string,
  name: string,
  args: pulumi.Inputs,
  parent?: pulumi.Resource,
) => new (Reflect.get(conversation, kind) as ResourceClass)(name, args, parent ? { parent } : {});

class Native extends pulumi.CustomResource {
  constructor(kind: string, name: string, args: pulumi.Inputs, parent?: pulumi.Resource) {
    const aliases = [{ type: typeToken(kind) }];
    super(`conversation:index:${kind}`, name, args, parent ? { aliases, parent } : { aliases });
  }
}

if (process.env.BACK)
  pulumi.runtime.registerStackTransformation(({ type, props, opts }) => {
    const former = type.replace("pulumi-nodejs:dynamic/conversation:", "conversation:index:");
    return { props, opts: pulumi.mergeOptions(opts, { aliases: [{ type: former }] }) };
  });

/** As the guide says that the resources of a `ConversationAccount` move. */
const callbacks = new pulumi.ComponentResource(
  conversation.ConversationAccount.__pulumiType,
  "callbacks",
);

const declare = (kind: string, name: string, args: pulumi.Inputs, parent?: pulumi.Resource) =>
  native ? new Native(kind, name, args, parent) : declareDynamic(kind, name, args, parent);

const made = new Map<string, pulumi.CustomResource>();

/** The value with the resources it refers to, and canaries for its secrets. */
const resolved = (field: Field, value: unknown): unknown => {
  if (value === undefined) return value;
  if (field.secret) return isObject(value) ? { ...value, canary } : `${canary} ${value}`;
  if (field.type === "reference") return made.get(String(value).slice(2, -1));
  if (field.type === "object" && isObject(value)) return resolvedFields(field.fields, value);
  if (field.type === "list" && Array.isArray(value))
    return value.map((item) => resolved(field.of, item));
  return field.type === "map" && isObject(value)
    ? objectOf(Object.entries(value).map(([key, of]) => [key, resolved(field.of, of)]))
    : value;
};

const resolvedFields = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(Object.entries(fields).map(([name, field]) => [name, resolved(field, values[name])]));

/** Secrets that the examples leave out. */
const additions: Readonly<Record<string, JsonObject>> = { Account: { attributes: { key: "" } } };
const basic: JsonObject = {
  name: "basic",
  type: "basic",
  oauth2: undefined,
  basicAuth: { username: "hub", password: "" },
};

const argsOf = ({ kind, fields, example }: Definition, changes: JsonObject = {}): pulumi.Inputs => {
  const description = described.includes(kind) ? { description: process.env.DESCRIPTION } : {};
  const values = { ...example, ...additions[kind], ...description, ...changes };
  return resolvedFields(fields, values) as pulumi.Inputs;
};

for (const definition of setUpOrder(resources))
  made.set(definition.kind, declare(definition.kind, "example", argsOf(definition)));

declare(authentication.kind, "basic", argsOf(authentication, basic), callbacks);
