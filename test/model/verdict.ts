import { bodyOf } from "../../provider/definition/wire.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { readMark } from "../../provider/lifecycle/ownership.js";
import { markOf } from "../../provider/lifecycle/resource.js";
import type { Settings } from "../../provider/service/settings.js";
import { humanText, memberAt, saysAll } from "./by-hand.js";
import type { Live, LiveObject } from "./console.js";
import { type ModelResource, type ModelSetting, modelResources, type Name } from "./scenario.js";
import type { SetMember } from "./set-by-hand.js";
import { declaredInputs, descriptionOf, nameAtService, optionalPlaces } from "./values.js";

/** What the state of a stack holds. */
export interface HeldEntry {
  /** Id of the stack's `Ownership`; empty while there is none. */
  readonly ownership: string;
  /** Ids of those that went with the last resource of a program. */
  readonly former: readonly string[];
  /** Ids of the objects, without those that a replacement has still to delete or to make again. */
  readonly ids: ReadonlyMap<Name, string>;
  /** Ids of all objects, those that a replacement has still to delete or to make again among them. */
  readonly all?: ReadonlySet<string>;
  /** Owners that were written last. */
  readonly owners?: ReadonlyMap<Name, string>;
  /** Those of objects whose program gives a description, where that is known. */
  readonly described?: ReadonlySet<string>;
}

export const isMarked = (states: readonly HeldEntry[], { object }: LiveObject): boolean => {
  const { mark } = readMark(object.description);
  return states.some(({ ownership, former }) =>
    [ownership, ...former].some((each) => mark?.stack === markOf("", `${each}/x`).stack),
  );
};

export const nameOf = ({ object }: LiveObject): unknown => object.name ?? object.type;

/** What is known of a history when it is over. */
export interface Known {
  readonly setting: ModelSetting;
  readonly settings: Settings;
  readonly live: Live;
  /** Ids of objects that are a person's, or nobody's that can be told. */
  readonly notOurs: ReadonlySet<string>;
  /** Resources that a run which failed wrote, or that an object of unknown past stands for. */
  readonly vague: ReadonlySet<Name>;
  /** Ids of objects that were taken over: they keep what the program leaves out. */
  readonly adopted: ReadonlySet<string>;
}

/** More than any mark of the small world takes. */
const room = 120;

/** Whether an object can be ours and carry no mark: no room, marks are off, or a person took it off. */
export const mayLackMark = ({ object }: LiveObject, { marks }: ModelSetting): boolean =>
  marks === "none" ||
  object.description === humanText ||
  String(object.description ?? "").length > 1023 - room;

/** Whether the description is what the program says, with the mark where there is room. */
const isDescribed = (declared: ModelResource, live: LiveObject, known: Known): boolean => {
  const { object } = live;
  const said = descriptionOf(declared);
  const { setting, vague } = known;
  const isLoose = vague.has(declared.name) || setting.put !== "replace";
  const isSilent = (text: unknown): boolean => isLoose || text === undefined || text === humanText;
  if (setting.marks === "none")
    return said === undefined ? isSilent(object.description) : object.description === said;
  const { description, mark } = readMark(object.description);
  if (said === undefined)
    return mark !== undefined ? isSilent(description) : isLoose && mayLackMark(live, setting);
  const fits = said.length < 1023 - room || declared.text === "fits";
  return fits ? mark !== undefined && description === said : object.description === said;
};

/** What a program declares is there, and what it declares no more is not. */
const isDeclared = (
  { name }: ModelResource,
  wanted: Json,
  { object }: LiveObject,
  { vague, setting }: Known,
): boolean => {
  if (!saysAll(object, wanted)) return false;
  const isWanted = (path: readonly string[]): boolean =>
    memberAt(object, path) === undefined || memberAt(wanted, path) !== undefined;
  return vague.has(name) || setting.put !== "replace" || optionalPlaces.every(isWanted);
};

const fieldsIn = (
  stack: number,
  declared: ModelResource,
  { ids }: HeldEntry,
  known: Known,
): Json => {
  const { definition } =
    known.live.find((each) => each.definition.kind === modelResources[declared.name].kind) ?? {};
  if (!definition) return {};
  const { description: _, ...fields } = declaredInputs(
    stack,
    declared,
    (name) => ids.get(name) ?? "",
  );
  return bodyOf(definition, fields, known.settings);
};

const judgeOne = (
  stack: number,
  declared: ModelResource,
  held: HeldEntry,
  known: Known,
): string[] => {
  const { kind } = modelResources[declared.name];
  const key = nameAtService(stack, declared);
  const found = known.live.filter(
    (each) => each.definition.kind === kind && nameOf(each) === key && !known.notOurs.has(each.id),
  );
  const id = held.ids.get(declared.name);
  const [only] = found;
  if (found.length !== 1 || !only) return [`${key} is there ${found.length} times`];
  if (id !== only.id)
    return [`the state holds ${id ?? "nothing"} for ${key}, the service ${only.id}`];
  const isRight =
    isDeclared(declared, fieldsIn(stack, declared, held, known), only, known) &&
    (only.object.active === true || known.adopted.has(only.id)) &&
    isDescribed(declared, only, known);
  return isRight ? [] : [`${key} has other fields: ${JSON.stringify(only.object)}`];
};

/** Each declared object: exactly one live object with these fields, exactly one entry of the state. */
export const judge = (
  stack: number,
  held: HeldEntry,
  program: readonly ModelResource[],
  known: Known,
): string[] => {
  const wrong = program.flatMap((declared) => judgeOne(stack, declared, held, known));
  return held.ids.size === program.length
    ? wrong
    : [...wrong, `the state holds ${held.ids.size} of ${program.length} resources`];
};

/**
 * A second object of a resource that is still declared is nobody's leftover but a duplicate. Two
 * exceptions, which the guarantees state: a list behind the truth hides what is there, and then
 * nothing refuses a second one where names need not be unique, or where the run before was
 * killed and the resource has another name by now; and where no state can be seen, what has another
 * name is left alone.
 */
export const doubledObjects = (
  states: readonly HeldEntry[],
  last: readonly (readonly ModelResource[])[],
  { live, notOurs, setting }: Known,
  lag: "none" | "stale" | "killed",
): string[] =>
  states.flatMap(({ ownership }, stack) =>
    (last[stack] ?? []).flatMap((declared) => {
      const { kind } = modelResources[declared.name];
      if (!setting.sight || lag === "killed" || (lag === "stale" && kind === "Orchestration"))
        return [];
      const resource = markOf(kind, `${ownership}/${declared.name}`);
      const own = live.filter(({ object, id }) => {
        const { mark } = readMark(object.description);
        return mark?.resource === resource.resource && !notOurs.has(id);
      });
      return own.length > 1
        ? [`${declared.name} of stack ${stack} is there ${own.length} times`]
        : [];
    }),
  );

export const foreignHeld = (states: readonly HeldEntry[], { live, notOurs }: Known): string[] => {
  const known = new Set(states.flatMap(({ ids }) => [...ids.values()]));
  return live
    .filter(({ id }) => !known.has(id) && !notOurs.has(id))
    .map((each) => `${nameOf(each)} is left over`);
};

/** Objects that two resources stand for. */
export const shared = (states: readonly HeldEntry[]): string[] => {
  const all = states.flatMap(({ ids }) => [...ids.values()]);
  return all
    .filter((id, place) => all.indexOf(id) !== place)
    .map((id) => `two resources stand for ${id}`);
};

export const lost = (set: readonly SetMember[], live: Live): string[] =>
  set.flatMap(({ id, member: { path, value, isDescription } }) => {
    const object = live.find((each) => each.id === id)?.object;
    if (!object) return [];
    const now = memberAt(object, path);
    const there = isDescription ? readMark(now).description : now;
    return saysAll(there, value)
      ? []
      : [`${path.join(".")} set by hand on ${id} is ${JSON.stringify(now)}`];
  });
