import { randomBytes } from "node:crypto";
import type { JsonObject } from "../kernel/json.js";
import type { Lifecycle } from "./index.js";

/** The kind of the resource that identifies a stack's state and has no object in the service. */
export const ownershipKind = "Ownership";

const withoutProvider = ({ __provider, ...rest }: JsonObject): JsonObject => rest;

/**
 * The lifecycle of `Ownership`, which makes no calls. Its random ID is saved in the state before
 * the service creates anything. Marks derived from the ID distinguish this state's objects from
 * those of another state with the same project and stack names.
 */
export const ownershipLifecycle: Lifecycle = {
  check: async (_, news) => ({ inputs: withoutProvider(news), failures: [] }),
  diff: async () => ({ changes: false }),
  create: async (inputs) => ({
    id: `${inputs.project}/${inputs.stack}/${randomBytes(8).toString("hex")}`,
    outs: withoutProvider(inputs),
  }),
  read: async (id, properties) => ({
    id,
    props: withoutProvider(properties),
    inputs: withoutProvider(properties),
  }),
  update: async (_id, _olds, news) => ({ outs: withoutProvider(news) }),
  delete: async () => undefined,
};
