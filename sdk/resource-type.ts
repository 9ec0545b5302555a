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
export const calledBy = (resource: pulumi.Resource): string =>
  className(pulumi.resourceType(resource)) + logicalName(resource);
