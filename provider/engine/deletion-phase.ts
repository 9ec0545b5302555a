import type { Definition } from "../definition/define.js";
import { referencesOf } from "../definition/references.js";
import { resources } from "../resources/index.js";
import { type Endpoint, endpointName, setUpOperation } from "../service/http/operations.js";

/** How many kinds stand below one, each referring to the next. */
const depthOf = (definition: Definition): number =>
  referencesOf(definition).reduce((most, { to }) => Math.max(most, depthOf(to) + 1), 0);

const phases = new Map(
  resources.map((definition) => [
    endpointName(setUpOperation(definition, "delete")),
    depthOf(definition),
  ]),
);

/**
 * Which part of a run the calls to an endpoint belong to: Pulumi deletes in levels, users before what
 * they use, and ends one before it begins the next. All other calls are one part.
 */
export const phaseOf = (endpoint: Endpoint): number => phases.get(endpointName(endpoint)) ?? -1;
