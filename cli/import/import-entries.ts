import { randomBytes } from "node:crypto";
import { withoutSecrets } from "../../provider/definition/fields.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { pointerTo, typeToken } from "../../provider/kernel/pulumi.js";
import { inertOutput } from "../../provider/kernel/text.js";
import { ownershipKind } from "../../provider/lifecycle/ownership-resource.js";
import { type Properties, stateValues } from "../../provider/lifecycle/resource.js";
import type { Holding, StackStates } from "../../provider/lifecycle/stack-states.js";
import { type AskedStack, sameStackCommand } from "../command.js";
import { resourceNames, type SelectionOptions, selected } from "../export/program-plan.js";
import { judgeObjects } from "../inventory/inventory.js";
import type { ObjectInputs } from "../inventory/object-inputs.js";
import type { StackNames } from "../inventory/open-stack.js";
import { stateValue } from "../pulumi/stack-documents.js";

/** A resource that Pulumi takes into a state, as `pulumi import --file` reads it. */
interface ImportEntry {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
}

/** An object, and the resource that is to represent it. */
interface Candidate {
  readonly object: ObjectInputs;
  /** Logical name of the resource. */
  readonly logical: string;
}

interface EntryOptions {
  /** ID of the stack's `Ownership`. */
  readonly ownership: string;
  readonly profile?: string | undefined;
}

/** The ID of an `Ownership` that is not in a state yet: project, stack, and a unique part. */
export const newOwnershipId = ({ project, stack }: StackNames): string =>
  `${project}/${stack}/${randomBytes(8).toString("hex")}`;

/** The entry of an object, secrets in the engine's wire format. */
export const entryOf = (
  { object: { definition, id, fields, created, modified }, logical }: Candidate,
  { ownership, profile }: EntryOptions,
): ImportEntry => {
  const properties: Properties = {
    fields: withoutSecrets(definition.fields, fields),
    owner: `${ownership}/${logical}`,
    ...(profile ? { profile } : {}),
    record: { ...(created ? { created } : {}), ...(modified ? { modified } : {}) },
  };
  const pointer = { __provider: pointerTo(definition.kind) };
  return {
    type: typeToken(definition.kind),
    name: logical,
    id,
    inputs: { ...stateValues({ definition, properties }), ...pointer },
    outputs: { ...stateValues({ definition, properties }, properties.record), ...pointer },
  };
};

/** The `Ownership` of a stack whose state holds none. */
const ownershipEntry = (id: string, { project, stack }: StackNames): ImportEntry => {
  const values = { project, stack, __provider: pointerTo(ownershipKind) };
  return { type: typeToken(ownershipKind), name: "ownership", id, inputs: values, outputs: values };
};

/**
 * The text of an import file, as `pulumi import --file` reads it: without an object, no entry.
 *
 * @param owner gets its `Ownership`, too, if its state has none yet
 */
export const importFileText = (
  objects: readonly Candidate[],
  options: EntryOptions,
  owner?: StackNames,
): string => {
  const first = owner && objects.length > 0 ? [ownershipEntry(options.ownership, owner)] : [];
  const entries = [...first, ...objects.map((each) => entryOf(each, options))];
  return inertOutput(`${JSON.stringify({ resources: stateValue(entries) }, null, 2)}\n`, false);
};

/** An object that is not taken over, with the reason. */
interface LeftObject extends Candidate {
  readonly reason: string;
}

const heldIn = ({ own, stack, urn }: Holding): string =>
  own
    ? `the state already contains the object: ${urn}`
    : `the state of the stack ${stack} contains the object: ${urn}`;

const namesake = ({ object, logical }: Candidate, { holdings }: StackStates) =>
  holdings.find(
    ({ own, urn, kind }) =>
      own &&
      kind === object.definition.kind &&
      urn.split("::").slice(2).join("::") === `${typeToken(kind)}::${logical}`,
  );

/** Why a state must not take an object over; undefined if it may. */
const obstacle = (
  candidate: Candidate,
  judge: ReturnType<typeof judgeObjects>,
  states: StackStates,
  asked: AskedStack,
): string | undefined => {
  const { definition, id, wire, mark, problem } = candidate.object;
  const { heldBy, isOwn, isPending } = judge(definition, id, wire);
  if (heldBy[0]) return heldIn(heldBy[0]);
  // What this very stack made and no state holds belongs to nobody else.
  if (mark && !isOwn) return `the object carries the mark of another stack or state: ${mark.label}`;
  if (mark && isPending)
    return `an unfinished run of this stack created the object (${mark.label}); to write it into the state, run: ${sameStackCommand("repair", asked)}`;
  const other = namesake(candidate, states);
  if (other)
    return `the state contains another object under this name: ${other.urn} (ID ${other.id})`;
  return problem === undefined
    ? undefined
    : `no program can declare the object unchanged: ${problem}`;
};

export interface PlanImportOptions extends SelectionOptions, AskedStack {}

export interface ImportPlan {
  readonly taken: readonly Candidate[];
  readonly left: readonly LeftObject[];
  /** The import file of what is taken. */
  readonly file: string;
}

/**
 * Decides what is imported, under the names that an export gives.
 *
 * @param objects all of the account
 * @throws CommandFailure if a word of `include` matches nothing
 */
export const planImport = (
  objects: readonly ObjectInputs[],
  names: StackNames,
  states: StackStates,
  options: PlanImportOptions,
): ImportPlan => {
  const judge = judgeObjects(states, names);
  const isOwn = ({ definition, id, wire, mark }: ObjectInputs): boolean =>
    mark !== undefined && judge(definition, id, wire).isOwn;
  const logicalNames = resourceNames(objects, isOwn);
  const candidates = selected(objects, options).map((object) => ({
    object,
    logical: logicalNames.get(object)?.logical ?? object.id,
  }));
  const taken: Candidate[] = [];
  const left: LeftObject[] = [];
  for (const candidate of candidates) {
    const reason = obstacle(candidate, judge, states, options);
    if (reason === undefined) taken.push(candidate);
    else left.push({ ...candidate, reason });
  }
  const known = states.own.ownership;
  const ownership = known ?? newOwnershipId(names);
  const owner = known === undefined ? names : undefined;
  return { taken, left, file: importFileText(taken, { ...options, ownership }, owner) };
};
