import * as pulumi from "@pulumi/pulumi";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { ownershipKind } from "../../../provider/lifecycle/ownership/ownership.js";
import { typeToken } from "../../../provider/pointer.js";
import { givenInputs, mockedChecks, mockedId } from "./mocked-checks.js";

/** A resource that a program declared. */
export interface MockedResource {
  /** Type token, such as `pulumi-nodejs:dynamic/conversation:Participant`. */
  readonly type: string;
  /** Logical name. */
  readonly name: string;
  /** Id that the unit test gave it: always the same for a type and name. */
  readonly id: string;
  /** Inputs in their normal form, as they would be sent; references are ids, secrets in clear. */
  readonly inputs: JsonObject;
}

/** Mocks for `pulumi.runtime.setMocks`, and what they have seen. */
export interface ConversationMocks extends pulumi.runtime.Mocks {
  /** Resources so far, in the order in which they were registered. */
  readonly registered: readonly MockedResource[];
  /** Rules that resources break, as a preview would say it. */
  readonly failures: readonly string[];
}

/** Values without the engine's wrapping of secrets. */
const unwrapped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (!isObject(value)) return value;
  if (pulumi.runtime.specialSigKey in value) return unwrapped(value.value);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unwrapped(each)]));
};

const membersOf = (value: unknown): JsonObject => {
  const plain = unwrapped(value);
  return isObject(plain) ? plain : {};
};

/**
 * Mocks for `pulumi.runtime.setMocks`: every resource of this package is checked as in a preview and
 * gets an id; resources of other packages get what they were given. Making them never fails; what a
 * preview would refuse stands in `failures`.
 *
 * @example
 * const mocks = conversationMocks();
 * await pulumi.runtime.setMocks(mocks, "shop", "test");
 */
export const conversationMocks = (): ConversationMocks => {
  const registered: MockedResource[] = [];
  const failures: string[] = [];
  const checks = mockedChecks();
  return {
    registered,
    failures,
    call: () => ({}),
    newResource: async ({ type, name, inputs: given, id: wanted }) => {
      const inputs = membersOf(given);
      const made = mockedId(type, name);
      // As the engine has it: messages take the logical names of resources from what owns them.
      const isOwnership = type === typeToken(ownershipKind);
      const id = wanted || (isOwnership ? `${inputs.project}/${inputs.stack}/${made}` : made);
      const lifecycle = wanted ? undefined : checks.of(type);
      const checked = await lifecycle?.check({}, inputs);
      const kind = type.slice(typeToken("").length);
      for (const { reason } of checked?.failures ?? []) failures.push(`${kind} ${name}: ${reason}`);
      const state = { ...inputs, ...checked?.inputs };
      registered.push({
        type,
        name,
        id,
        inputs: givenInputs(membersOf(checked?.inputs ?? inputs)),
      });
      return { id, state };
    },
  };
};
