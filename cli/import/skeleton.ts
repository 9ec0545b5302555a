import { z } from "zod";
import { namingOf } from "../../provider/definition/fields.js";
import { sameScalar } from "../../provider/definition/meaning.js";
import { readPlainFile } from "../../provider/kernel/files.js";
import { type JsonObject, jsonIn } from "../../provider/kernel/json.js";
import { holdsUnknown, isSecretValue } from "../../provider/kernel/stand-ins.js";
import { isSameResource, markOf, nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { ownershipKind } from "../../provider/lifecycle/ownership/ownership.js";
import { kindOfToken, tokenParts, typeToken } from "../../provider/pointer.js";
import {
  accountIn,
  type PreviewStep,
  stateValue,
} from "../../provider/pulumi-cli/stack-documents.js";
import type { StackStates } from "../../provider/pulumi-cli/stack-states.js";
import { resources as kinds } from "../../provider/resources/index.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import type { AccountLists } from "../account/read-account.js";
import { CommandFailure } from "../command.js";
import {
  type Candidate,
  divided,
  entryOf,
  type ImportPlan,
  importOwnership,
  type PlanImportOptions,
  takeOverAdvice,
  takeOverRefusal,
} from "./import-entries.js";

/** What Pulumi writes in the place of an ID that it does not know. */
const placeholder = "<PLACEHOLDER>";

const given = z.string().min(1);

const entrySchema = z.looseObject({
  type: given,
  /** The name by which `parent` of another entry means this one. */
  name: given,
  id: z.string().optional(),
  /** Name of another entry, or of the `nameTable`. */
  parent: z.string().optional(),
  provider: z.string().optional(),
  component: z.boolean().optional(),
  /** Default: the same as `name`. */
  logicalName: z.string().optional(),
});

const skeletonSchema = z.looseObject({
  /** URNs of resources that the state has. */
  nameTable: z.record(z.string(), z.string()).optional(),
  /** Default: the program creates nothing. */
  resources: z.array(entrySchema).optional(),
});

type SkeletonEntry = z.output<typeof entrySchema>;

/** An import file whose IDs are missing, as `pulumi preview --import-file` writes it. */
export type Skeleton = z.output<typeof skeletonSchema>;

const wrongFile = (path: string, fault: string): CommandFailure =>
  new CommandFailure(
    `${path} ${fault}. Nothing was done. To create the file again, run: pulumi preview --import-file <file>`,
    2,
  );

/** Reads an import file. @throws CommandFailure if it is none, with the first wrong member */
export const readSkeleton = (path: string): Skeleton => {
  const text = readPlainFile(path);
  if (text === undefined)
    throw wrongFile(path, "cannot be read: it must be a regular file of at most 16 MiB");
  const document = jsonIn(text);
  const { data, error } = skeletonSchema.safeParse(document);
  if (data) return data;
  const [{ path: place = [], message = "" } = {}] = error.issues;
  const fault =
    document === undefined
      ? "it is not valid JSON"
      : `${place.map(String).join(".") || "the file"}: ${message}`;
  throw wrongFile(path, `is not a Pulumi import file: ${fault}`);
};

/** An entry with its place in the program. */
interface PlacedEntry {
  readonly entry: SkeletonEntry;
  readonly logical: string;
  /** Types of its parents, outermost first, each followed by `$`. */
  readonly parents: string;
  /** The entries above it, all of them. */
  readonly above: readonly SkeletonEntry[];
}

/** @throws CommandFailure if a parent is missing or not clear */
const placed = (path: string, { nameTable = {}, resources = [] }: Skeleton) => {
  const table = new Map(Object.entries(nameTable));
  const byName = Map.groupBy(resources, ({ name }) => name);
  return resources.map((entry): PlacedEntry => {
    const above: SkeletonEntry[] = [];
    let parents = "";
    for (let { parent } = entry; parent; { parent } = above.at(-1) ?? {}) {
      const urn = table.get(parent);
      const [found, ...others] = urn === undefined ? (byName.get(parent) ?? []) : [];
      parents = `${urn?.split("::")[2] ?? found?.type}$${parents}`;
      if (urn !== undefined) break;
      if (!found || others.length > 0 || above.includes(found))
        throw wrongFile(
          path,
          `does not clearly identify the parent ${JSON.stringify(parent)} of ${entry.name}`,
        );
      above.push(found);
    }
    return { entry, logical: entry.logicalName || entry.name, parents, above };
  });
};

/** Whether a preview shows a value: it is known by now, and no secret. */
const isShown = (value: unknown): boolean =>
  value !== undefined && value !== "[secret]" && !isSecretValue(value) && !holdsUnknown(value);

/** What the objects of entries are looked up by. */
export interface SkeletonSources {
  readonly names: StackNames;
  /** What the program would do. */
  readonly steps: readonly PreviewStep[];
  readonly objects: readonly ObjectInputs[];
  readonly reading: AccountLists;
  readonly states: StackStates;
}

/** Why there is no object for an entry, or why only a person can say which one it is. */
interface NoObject {
  readonly reason: string;
  readonly isDoubt?: true;
}

const doubt = (reason: string): NoObject => ({ reason, isDoubt: true });

const lookUp = (
  { entry, logical, parents }: PlacedEntry,
  { names: { project, stack }, steps, objects, reading, states }: SkeletonSources,
  profile: string | undefined,
): ObjectInputs | NoObject => {
  const definition = kinds.find(({ kind }) => kind === kindOfToken(entry.type));
  if (!definition) return { reason: "no object in the account corresponds to the resource" };
  const urn = `urn:pulumi:${stack}::${project}::${parents}${entry.type}::${logical}`;
  const step = steps.find((each) => each.urn === urn && each.op === "create");
  const inputs = step?.newState?.inputs;
  if (!inputs)
    return { reason: "the program does not create the resource, or the state already contains it" };
  if (entry.provider)
    return { reason: "its provider uses an account that the command does not read" };
  const wanted = accountIn({ inputs });
  if (wanted !== profile)
    return {
      reason: `the resource is in another account: ${wanted ? `--profile ${wanted}` : "no profile"}`,
    };
  const { noun } = definition;
  const problem = reading.kinds.find((each) => each.definition === definition)?.problem;
  const all = objects.filter((object) => object.definition === definition);
  if (entry.id && entry.id !== placeholder)
    return (
      all.find(({ id }) => id === entry.id) ??
      doubt(problem ?? `there is no ${noun} with the ID ${entry.id}`)
    );
  const { key, isUnique } = namingOf(definition);
  const name = inputs[key];
  if (!isShown(name)) return doubt(`its ${key} is a secret or is unknown until pulumi up`);
  const named = all.filter(({ wire }) => sameScalar(nameOnWire(definition, wire), name));
  if (problem !== undefined && (!isUnique || named.length === 0)) return doubt(problem);
  const owner = `${states.own.ownership}/${parents}${logical}`;
  const own = markOf(definition.kind, owner);
  const marked = named.filter(({ mark }) => mark && isSameResource(mark, own));
  const found = marked.length > 0 ? marked : named;
  const [object, ...others] = found;
  const called = `${noun} with the ${key} ${JSON.stringify(name)}`;
  if (!object) return { reason: `no ${called} exists; pulumi up creates it` };
  if (others.length === 0) return object;
  const ids = found.map(({ id }) => id).join(", ");
  return doubt(`there is more than one ${called}: ${ids}`);
};

/** A resource of the file that is not imported, with the reason. */
export interface SkippedEntry {
  readonly type: string;
  /** Logical name of the resource. */
  readonly name: string;
  readonly reason: string;
}

/** What becomes of an import file. */
export interface SkeletonPlan extends Omit<ImportPlan, "entries"> {
  readonly skipped: readonly SkippedEntry[];
  /** The file with the IDs that were found; what of this package is not imported is left out. */
  readonly filled: JsonObject;
}

interface SkeletonOptions extends Pick<PlanImportOptions, "skipManaged" | "profile"> {
  /** The import file, for messages. */
  readonly file?: string;
  /** Keep only what this package answers for, and the components. */
  readonly apply?: boolean;
}

/**
 * Fills the IDs into an import file: each object is the one with the name that the program gives
 * the resource.
 *
 * @throws CommandFailure if the file contradicts itself, it is not clear which object is meant, or
 *   one may not be taken over
 */
export const planSkeleton = (
  skeleton: Skeleton,
  sources: SkeletonSources,
  { file = "", skipManaged, profile, apply }: SkeletonOptions,
): SkeletonPlan => {
  const places = placed(file, skeleton);
  const found = new Map<ObjectInputs, PlacedEntry & Candidate>();
  const skipped: SkippedEntry[] = [];
  const doubts: SkippedEntry[] = [];
  for (const place of places) {
    const { entry, logical: name } = place;
    const { type } = entry;
    if (entry.component || type === typeToken(ownershipKind)) continue;
    const answer = lookUp(place, sources, profile);
    const other = "id" in answer ? found.get(answer) : undefined;
    if ("reason" in answer)
      (answer.isDoubt ? doubts : skipped).push({ type, name, reason: answer.reason });
    else if (other)
      doubts.push({ type, name, reason: `${other.logical} matches the same object, ${answer.id}` });
    else found.set(answer, { ...place, object: answer });
  }
  if (doubts.length > 0)
    throw new CommandFailure(
      [
        "Nothing was imported:",
        ...doubts.map(({ type, name, reason }) => `  ${type} ${name}: ${reason}`),
        "Write the correct ID into the file, or remove the resource from the file so that pulumi up creates it.",
      ].join("\n"),
    );
  const { free, left } = divided([...found.values()], sources.states);
  if (left.length > 0 && !skipManaged)
    throw takeOverRefusal(left, takeOverAdvice("Remove them from the file"));
  const freed = new Set(free.map(({ entry }) => entry));
  const isHeld = ({ above }: PlacedEntry) =>
    above.every((each) => each.component || freed.has(each));
  const taken = free.filter(isHeld);
  for (const { entry, logical: name } of free.filter((each) => !isHeld(each)))
    skipped.push({ type: entry.type, name, reason: "its parent is not imported" });
  const { ownership, first } = importOwnership(sources.names, sources.states);
  const isDynamic = ({ entry }: PlacedEntry) => tokenParts(entry.type)?.door === "dynamic";
  const filled = new Map(
    taken.map((each): [SkeletonEntry, JsonObject] => {
      const { inputs, outputs } = entryOf(each, { ownership, profile });
      // The plugin reads what it imports.
      const values = isDynamic(each)
        ? { inputs: stateValue(inputs), outputs: stateValue(outputs) }
        : {};
      return [each.entry, { ...each.entry, id: each.object.id, ...values }];
    }),
  );
  const stays = (entry: SkeletonEntry): boolean =>
    filled.has(entry) || entry.component === true || !(apply || tokenParts(entry.type));
  const rest = places.flatMap(({ entry, above }) =>
    [entry, ...above].every(stays) ? [filled.get(entry) ?? entry] : [],
  );
  const resources = [...(taken.some(isDynamic) ? first : []), ...rest];
  return { taken, left, skipped, filled: { ...skeleton, resources } };
};
