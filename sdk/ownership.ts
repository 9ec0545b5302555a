import * as pulumi from "@pulumi/pulumi";
import { pointerTo, typeToken } from "../provider/pointer.js";
import { isOfType, sharedRegistry } from "./resource-type.js";

const kind = "Ownership";

/**
 * Whose the objects of a stack are. Registered by itself, once for each stack, by the first
 * resource of a program. It stands for no object of the service and makes no calls; its random id
 * is saved in the state before anything else is made, so that every object can be marked with it.
 * Not for direct use; it cannot fail by itself.
 */
export class Ownership extends pulumi.CustomResource {
  /** Type token, part of every state file. */
  static readonly __pulumiType: string = typeToken(kind);

  /** Whether a value is an ownership, also one that another copy of this package registered. Never fails. */
  static override isInstance(value: unknown): value is Ownership {
    return isOfType(value, Ownership.__pulumiType);
  }

  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const props = {
      project: pulumi.getProject(),
      stack: pulumi.getStack(),
      __provider: pointerTo(kind),
    };
    super(Ownership.__pulumiType, name, props, opts);
  }
}

/** One for each stack, as several may run in one process; the same for all copies of the package. */
const ownerships = sharedRegistry("ownerships");

/** The ownership of the stack that the running program belongs to. */
export const stackOwnership = (): Ownership => {
  const stack: object = pulumi.runtime.getStackResource() ?? pulumi.runtime.getMonitor() ?? pulumi;
  const known = ownerships.get(stack);
  if (Ownership.isInstance(known)) return known;
  const made = new Ownership("ownership");
  ownerships.set(stack, made);
  return made;
};
