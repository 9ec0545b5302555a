import { hash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { isObject } from "../provider/kernel/json.js";
import { declaredArgs } from "./resource-class.js";

/**
 * What a program says of a resource, together with the same of every resource that it refers to.
 * Not what the engine knows of it: in a preview that is unknown wherever the program says nothing.
 */
const said = (resource: pulumi.Resource): pulumi.Inputs => {
  const id = pulumi.CustomResource.isInstance(resource) ? resource.id : resource.urn;
  return { id, args: followed(declaredArgs(resource)) };
};

const expanded = (value: unknown): unknown => {
  if (pulumi.Resource.isInstance(value)) return said(value);
  if (Array.isArray(value)) return value.map(expanded);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, expanded(of)]));
};

/** A value with all that is said of the resources in it in their place. */
const followed = (value: unknown): pulumi.Output<unknown> => {
  const known: pulumi.Output<unknown> = pulumi.output(value);
  return known.apply((inner) => pulumi.output(expanded(inner)));
};

/** JSON text that does not depend on the order of members, nor on members without a value. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined && member !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join()}}`;
};

/**
 * A short text that is another one whenever a value is another one: of a resource of this package,
 * whenever the program says something else of it or of what it refers to. Unknown where the value
 * holds something unknown. A secret, since secrets may be guessed from it.
 */
export const fingerprint = (value: unknown): pulumi.Output<string> =>
  pulumi.secret(followed(value).apply((known) => hash("sha256", canonical(known)).slice(0, 16)));
