import * as pulumi from "@pulumi/pulumi";
import { pointerTo, typeToken } from "../provider/pointer.js";

const kind = "Ownership";

/**
 * Whose the objects of a stack are. Registered by itself, once for each stack, by the first
 * resource of a program. It stands for no object of the service and makes no calls; its random id
 * is saved in the state before anything else is made, so that every object can be marked with it.
 */
export class Ownership extends pulumi.CustomResource {
  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const props = {
      project: pulumi.getProject(),
      stack: pulumi.getStack(),
      __provider: pointerTo(kind),
    };
    super(typeToken(kind), name, props, opts);
  }
}

/** One for each stack, as several may run in one process. */
const ownerships = new WeakMap<object, Ownership>();

/** The ownership of the stack that the running program belongs to. */
export const stackOwnership = (): Ownership => {
  const stack: object = pulumi.runtime.getStackResource() ?? pulumi.runtime.getMonitor() ?? pulumi;
  const known = ownerships.get(stack);
  if (known) return known;
  const made = new Ownership("ownership");
  ownerships.set(stack, made);
  return made;
};
