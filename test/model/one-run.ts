import type { Live, LiveObject } from "./console.js";
import { type Name, type Setting, type Up, world } from "./scenario.js";
import type { Stacks, Took } from "./stacks.js";
import type { ThirdParty } from "./third-party.js";
import { nameAtService } from "./values.js";
import { type Held, isMarked, nameOf, shared } from "./verdict.js";

/** What a run was told to take over. */
export interface Adopted {
  readonly adopts: ReadonlyMap<Name, true | string>;
  /** Ids of the objects that it may take over. */
  readonly candidates: ReadonlySet<string>;
}

/** What a person writes behind `adopt`, from what is there. */
export const adoptionOf = async (
  { adopt = [], program, stack }: Up,
  stacks: Stacks,
  third: ThirdParty,
): Promise<Adopted> => {
  const adopts = new Map<Name, true | string>();
  const candidates = new Set<string>();
  if (adopt.length === 0) return { adopts, candidates };
  const live = await third.live();
  const ids = stacks.held()[stack]?.ids;
  for (const { name, how, place } of adopt) {
    const declared = program.find((each) => each.name === name);
    if (!declared) continue;
    const alike = live.filter(({ definition }) => definition.kind === world[name].kind);
    const named = alike.filter((each) => nameOf(each) === nameAtService(stack, declared));
    const chosen: LiveObject | undefined = how === "any" ? alike[place % alike.length] : named[0];
    if (how !== "name" && !chosen) continue;
    adopts.set(name, how === "name" ? true : (chosen?.id ?? true));
    const isClear = how !== "name" || named.length === 1;
    if (chosen && isClear && !ids?.has(name)) candidates.add(chosen.id);
  }
  return { adopts, candidates };
};

/** States and service before or after a run. */
export interface Moment {
  readonly held: readonly Held[];
  readonly live: Live;
}

type RunStep = Pick<Up, "stack" | "program" | "faults" | "force">;

/**
 * Nothing that is wanted gets another id while its object is there. But a list behind the truth hides
 * the object of a forced replacement, and who sees no states knows it only by mark and name together.
 */
const changedIds = (
  { stack, program, force, faults }: RunStep,
  before: Moment,
  after: Moment,
  { sight }: Setting,
) =>
  program.flatMap((declared) => {
    const { name } = declared;
    const old = before.held[stack]?.ids.get(name);
    const now = after.held[stack]?.ids.get(name);
    const object = before.live.find(({ id }) => id === old);
    if (!object || old === now) return [];
    const isKnown =
      nameOf(object) === nameAtService(stack, declared) && isMarked(before.held, object);
    const isStale = faults.some(({ kind }) => kind === "stale-list");
    return !force.includes(name) || (!isStale && (sight || isKnown))
      ? [`${name} of stack ${stack} was ${old} and is ${now}`]
      : [];
  });

/** What is wrong right after a run. */
export const judgeRun = (
  step: RunStep,
  { error, made = [] }: Took,
  before: Moment,
  after: Moment,
  persons: ReadonlySet<string>,
  setting: Setting,
): string[] => {
  const held = new Set(after.held.flatMap(({ ids }) => [...ids.values()]));
  const nobodys = after.live.filter(({ id }) => !held.has(id) && !persons.has(id));
  const lostIds =
    error === killed
      ? []
      : nobodys
          .filter(({ id }) => made.includes(id))
          .map(({ id }) => `the id ${id} was known and is lost: ${error}`);
  if (error !== "") return lostIds;
  const isStale = step.faults.some(({ kind }) => kind === "stale-list");
  const unknowable = nobodys.filter(
    (each) => !isMarked(after.held, each) && !before.live.some(({ id }) => id === each.id),
  );
  return [
    ...lostIds,
    ...shared(after.held),
    ...changedIds(step, before, after, setting),
    ...(isStale ? [] : unknowable.map((each) => `${nameOf(each)} was made and is in no state`)),
  ];
};

/** The error of a run that was killed. */
export const killed = "killed";
