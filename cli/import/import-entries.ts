import { hash, randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { withoutSecrets } from "../../provider/definition/fields.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { pointerTo } from "../../provider/kernel/pointer.js";
import { inertOutput } from "../../provider/kernel/text.js";
import { typeToken } from "../../provider/kernel/type-tokens.js";
import { ownershipKind } from "../../provider/lifecycle/ownership/ownership.js";
import type { Holding, StackStates } from "../../provider/lifecycle/ownership/stack-states.js";
import { type Properties, stateInputs, stateOutputs } from "../../provider/lifecycle/resource.js";
import { CommandFailure } from "../command.js";
import { objectLabel } from "../export/program-files.js";
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
  /** Include the secrets that the service shows. Default: each is undisclosed. */
  readonly withSecrets?: boolean;
}

/** Project, stack, and a unique part: the ID of an `Ownership` that is not in a state yet. */
export const ownershipId = ({ project, stack }: StackNames, own: string): string =>
  `${project}/${stack}/${own}`;

/**
 * The unique part of an `Ownership` that is written to a file: the same whenever a person exports
 * an account on one machine, different for everybody else.
 */
export const personalPart = (baseUrl: string, names: StackNames): string => {
  let user = "";
  try {
    user = userInfo().username;
  } catch {
    // A user of the machine without a name.
  }
  const parts = [hostname(), user, baseUrl, names.project, names.stack];
  return hash("sha256", parts.join("\n")).slice(0, 16);
};

/** The entry of an object, secrets in the engine's wire format. */
export const entryOf = (
  { object: { definition, id, fields, created, modified }, logical }: Candidate,
  { ownership, profile, withSecrets }: EntryOptions,
): ImportEntry => {
  const properties: Properties = {
    fields: withSecrets ? fields : withoutSecrets(definition.fields, fields),
    owner: `${ownership}/${logical}`,
    ...(profile ? { profile } : {}),
    record: { ...(created ? { created } : {}), ...(modified ? { modified } : {}) },
  };
  const pointer = { __provider: pointerTo(definition.kind) };
  return {
    type: typeToken(definition.kind),
    name: logical,
    id,
    inputs: { ...stateInputs(definition, properties), ...pointer },
    outputs: { ...stateOutputs(definition, properties), ...pointer },
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
): string | undefined => {
  const { definition, id, wire, mark, problem } = candidate.object;
  const { heldBy, isOwn, isPending } = judge(definition, id, wire);
  if (heldBy[0]) return heldIn(heldBy[0]);
  // What this very stack made and no state holds belongs to nobody else.
  if (mark && !isOwn) return `the object carries the mark of another stack or state: ${mark.label}`;
  if (mark && isPending)
    return `an unfinished run of this stack created the object (${mark.label}); to write it into the state, run: ${ownCommand("repair")}`;
  const other = namesake(candidate, states);
  if (other)
    return `the state contains another object under this name: ${other.urn} (ID ${other.id})`;
  return problem === undefined
    ? undefined
    : `no program can declare the object unchanged: ${problem}`;
};

const mostShown = 20;

/** An error with the refused objects, each with its reason. */
const takeOverRefusal = (left: readonly LeftObject[]): CommandFailure => {
  const lines = left
    .slice(0, mostShown)
    .map(({ object, reason }) => `  ${objectLabel(object)} (ID ${object.id}): ${reason}`);
  const more = left.length > mostShown ? [`  … and ${left.length - mostShown} more`] : [];
  const advice =
    "Omit some with --exclude, or use --skip-managed to omit all of them. To release an object that " +
    `its stack no longer manages, run: ${ownCommand("orphans --release --id <id>")}`;
  return new CommandFailure(["Nothing was imported:", ...lines, ...more, advice].join("\n"));
};

export interface PlanImportOptions extends SelectionOptions {
  readonly profile?: string | undefined;
  /** Omit what a stack already has, instead of refusing. */
  readonly skipManaged?: boolean;
  /** Put the secrets that the service shows into the state, encrypted. */
  readonly withSecrets?: boolean;
}

/** The objects that will be imported. */
export interface ImportPlan {
  readonly taken: readonly Candidate[];
  readonly left: readonly LeftObject[];
  /** The import file of what is taken. It may hold secrets. */
  readonly file: string;
}

/**
 * Decides what is imported, under the names that an export gives.
 *
 * @param objects all of the account
 * @throws CommandFailure if an object may not be taken over, or there is none
 */
export const planImport = (
  objects: readonly ObjectInputs[],
  names: StackNames,
  states: StackStates,
  options: PlanImportOptions,
): ImportPlan => {
  const logicalNames = resourceNames(objects);
  const candidates = selected(objects, options).map((object) => ({
    object,
    logical: logicalNames.get(object)?.logical ?? object.id,
  }));
  if (candidates.length === 0)
    throw new CommandFailure(
      "There is nothing to import, because the account has no matching objects.",
    );
  const judge = judgeObjects(states, names);
  const taken: Candidate[] = [];
  const left: LeftObject[] = [];
  for (const candidate of candidates) {
    const reason = obstacle(candidate, judge, states);
    if (reason === undefined) taken.push(candidate);
    else left.push({ ...candidate, reason });
  }
  if (left.length > 0 && !options.skipManaged) throw takeOverRefusal(left);
  const known = states.own.ownership;
  const ownership = known ?? ownershipId(names, randomBytes(8).toString("hex"));
  const owner = known === undefined ? names : undefined;
  return { taken, left, file: importFileText(taken, { ...options, ownership }, owner) };
};
