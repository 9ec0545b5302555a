import * as pulumi from "@pulumi/pulumi";
import { typeToken } from "../provider/pointer.js";

/** Type token of a component of this package. Part of every state file: never changed. */
export const componentToken = (component: string): string => `conversation:index:${component}`;

/**
 * Whether a value is a resource of this type, whichever copy of this package made it: two copies
 * have two classes of each name, so that `instanceof` does not know the other's.
 */
export const isOfType = (value: unknown, token: string): boolean =>
  pulumi.Resource.isInstance(value) && pulumi.resourceType(value) === token;

/** The class of a type of this package; of any other type the token itself. */
export const className = (token: string): string => {
  const own = [typeToken(""), componentToken("")].find((prefix) => token.startsWith(prefix)) ?? "";
  return token.slice(own.length);
};

const logicalName = (resource: pulumi.Resource): string => {
  try {
    return ` ${JSON.stringify(pulumi.resourceName(resource))}`;
  } catch {
    // A resource that is known by its URN alone has none.
    return "";
  }
};

/** A resource as messages call it: `Channel "web"`. */
export const resourceLabel = (resource: pulumi.Resource): string =>
  className(pulumi.resourceType(resource)) + logicalName(resource);

/**
 * What every copy of this package in one program shares: an application's, and those that
 * component libraries bring along. What it holds may come from another release, so that whoever
 * reads it checks what he finds. The name is never changed.
 */
export const sharedRegistry = (name: string): WeakMap<object, unknown> => {
  const key = Symbol.for(`pulumi-conversation/${name}`);
  const known: unknown = Reflect.get(globalThis, key);
  if (known instanceof WeakMap) return known;
  const made = new WeakMap<object, unknown>();
  // Where another release keeps something else under this name, it needs it.
  if (known === undefined) Reflect.set(globalThis, key, made);
  return made;
};
