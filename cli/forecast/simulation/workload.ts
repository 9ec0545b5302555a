import type { Definition } from "../../../provider/definition/define.js";
import { typeToken } from "../../../provider/pointer.js";
import { resources } from "../../../provider/resources/index.js";
import type { PulumiResource } from "../pulumi-documents.js";
import type { Operation } from "./operations.js";

/**
 * What a run does with a resource. `adopt`: takes over an object that is named by its id. `find`:
 * looks at it through the list. `get`: looks it up by its id. `none`: no calls.
 */
export type Action =
  | "create"
  | "adopt"
  | "takeOver"
  | "update"
  | "delete"
  | "find"
  | "get"
  | "none";

/** One step of a run. */
export interface Step {
  readonly urn: string;
  /** For people, such as `Participant orders`. */
  readonly label: string;
  readonly action: Action;
  /** Left out: not an object of the service. */
  readonly definition?: Definition;
  readonly profile?: string;
  /** Steps of one phase may run together; a phase begins when the one before has ended. */
  readonly phase: number;
  /** URNs of steps of the same phase that come before. */
  readonly after: readonly string[];
}

/** Objects that are there before the run: how often each collection (of each profile) occurs. */
export type Counts = ReadonlyMap<string, number>;

/** Everything that a run is going to do. */
export interface Workload {
  readonly operation: Operation;
  readonly steps: readonly Step[];
  readonly counts: Counts;
  /** How long Pulumi took for the preview, in seconds. Left out: there was none. */
  readonly previewSeconds?: number;
}

/** A collection of one tenant. */
export const collectionKey = (definition: Definition, profile: string | undefined): string =>
  `${profile ?? ""}/${definition.collection}`;

/** The kind of a resource of this package; undefined for all others, `Ownership` too. */
export const definitionOf = ({ type }: PulumiResource): Definition | undefined =>
  resources.find(({ kind }) => typeToken(kind) === type);

/** The profile that a resource belongs to. */
export const profileOf = ({ inputs }: PulumiResource): string | undefined =>
  typeof inputs?.profile === "string" ? inputs.profile : undefined;

/** `Participant orders`, from the end of the type and of the URN. */
const labelOf = ({ type, urn }: PulumiResource): string =>
  `${type.split(/[:/]/).at(-1) ?? type} ${urn.split("::").slice(3).join("::")}`;

/** Everything that a resource waits for, and that waits for it when it is deleted. */
export const dependenciesOf = (resource: PulumiResource): readonly string[] => {
  const { dependencies, propertyDependencies, parent, deletedWith } = resource;
  const byProperty = Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []);
  const all = [...(dependencies ?? []), ...byProperty, parent, deletedWith];
  return [...new Set(all.filter((urn): urn is string => typeof urn === "string" && urn !== ""))];
};

/** A step for a resource; without a kind it makes no calls. */
export const stepFor = (
  resource: PulumiResource,
  action: Action,
  { phase, after }: { readonly phase: number; readonly after: readonly string[] },
): Step => {
  const definition = definitionOf(resource);
  const profile = profileOf(resource);
  return {
    urn: resource.urn,
    label: labelOf(resource),
    action: definition ? action : "none",
    phase,
    after,
    ...(definition ? { definition } : {}),
    ...(profile === undefined ? {} : { profile }),
  };
};

/** Counts the objects of each collection. */
export const countObjects = (all: readonly PulumiResource[]): Counts => {
  const counts = new Map<string, number>();
  for (const resource of all) {
    const definition = definitionOf(resource);
    if (!definition) continue;
    const key = collectionKey(definition, profileOf(resource));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
};

/** Counts the objects of each kind, such as `{ Channel: 12 }`. */
export const countKinds = (all: readonly PulumiResource[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const resource of all) {
    const kind = definitionOf(resource)?.kind;
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};
