import { setUpOrder } from "../../provider/definition/references.js";
import { resources } from "../../provider/resources/index.js";
import { modelResources } from "../model/scenario.js";
import type { EngineStep } from "../model/stacks.js";
import { declaredInputs } from "../model/values.js";

/** Stands for the resource of that name among the inputs. */
const reference = "ref:";

/**
 * DECLARED holds what the program declares, as {@link declaration} writes it. Each resource is
 * registered when the one before is settled, so that calls come in the order of the model.
 */
export const replayProgram = `
const c = require("pulumi-conversation");
const made = {};
const resolved = (value) => {
  if (typeof value === "string") return value.startsWith("${reference}") ? made[value.slice(${reference.length})] : value;
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolved(member)]));
};
const { declared, deleteBeforeReplace } = JSON.parse(process.env.DECLARED);
module.exports = async () => {
  for (const { kind, name, inputs } of declared) {
    made[name] = new c[kind](name, resolved(inputs), { deleteBeforeReplace });
    await new Promise((settled) => made[name].urn.apply(settled));
  }
};
`;

/** What the program of a step declares; what is referred to comes first. */
export const declaration = (step: Extract<EngineStep, { type: "up" }>): string => {
  const declared = setUpOrder(resources).flatMap(({ kind }) =>
    step.program
      .filter(({ name }) => modelResources[name].kind === kind)
      .map((each) => ({
        kind,
        name: each.name,
        inputs: declaredInputs(step.stack, each, (name) => reference + name),
      })),
  );
  return JSON.stringify({ declared, deleteBeforeReplace: step.deleteFirst });
};
