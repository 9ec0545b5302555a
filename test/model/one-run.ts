import { readMark } from "../../provider/lifecycle/ownership.js";
import { markOf } from "../../provider/lifecycle/resource.js";
import type { Mark } from "../../provider/lifecycle/stack-states.js";
import type { Live, LiveObject } from "./console.js";
import { type ModelSetting, modelResources, type Name, type Up } from "./scenario.js";
import type { Stacks, Took } from "./stacks.js";
import type { ThirdParty } from "./third-party.js";
import { nameAtService } from "./values.js";
import { type HeldEntry, isMarked, nameOf, shared } from "./verdict.js";

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
    const alike = live.filter(({ definition }) => definition.kind === modelResources[name].kind);
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
  readonly held: readonly HeldEntry[];
  readonly live: Live;
}

type RunStep = Pick<Up, "stack" | "program" | "faults" | "force">;

/** Whether a forced replacement that makes a new object can know the one that is there. */
const isFound = (
  { sight }: ModelSetting,
  { faults }: RunStep,
  object: LiveObject,
  name: string,
  owner: string,
): boolean => {
  const { mark } = readMark(object.object.description);
  const isNamed = nameOf(object) === name;
  // A list behind the truth hides it, and the mark of before `state move` is another one.
  if (faults.some(({ kind }) => kind === "stale-list")) return false;
  const isItsMark = mark?.resource === markOf(object.definition.kind, owner).resource;
  return isNamed ? sight || isItsMark : sight && (isItsMark || !isPossible(mark));
};

/** Whether a mark is one of ours: what a text only looks like has no stack of this world. */
const isPossible = (mark: Mark | undefined): boolean =>
  mark !== undefined && mark.label !== "shop/prod other";

/**
 * Nothing that is wanted gets another id while its object is there, forced replacements of what can
 * be found included.
 */
const changedIds = (
  step: RunStep,
  before: Moment,
  after: Moment,
  setting: ModelSetting,
): string[] =>
  step.program.flatMap((declared) => {
    const { stack, force } = step;
    const { name } = declared;
    const [was, is] = [before.held[stack], after.held[stack]];
    const object = before.live.find(({ id }) => id === was?.ids.get(name));
    if (!was || !object || object.id === is?.ids.get(name)) return [];
    const wanted = nameAtService(stack, declared);
    const isForced = force.includes(name);
    return !isForced || isFound(setting, step, object, wanted, `${was.ownership}/${name}`)
      ? [`${name} of stack ${stack} was ${object.id} and is ${is?.ids.get(name)}`]
      : [];
  });

/** What is wrong right after a run. */
export const judgeRun = (
  step: RunStep,
  { error, made = [] }: Took,
  before: Moment,
  after: Moment,
  persons: ReadonlySet<string>,
  setting: ModelSetting,
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
