import type { Definition } from "../../provider/definition/define.js";
import { markOf } from "../../provider/lifecycle/mark.js";
import { type Declared, type Name, type Scenario, world } from "./scenario.js";
import { nameAtService } from "./values.js";

/** Objects at the service. */
export type Live = readonly {
  readonly definition: Definition;
  readonly object: Record<string, unknown>;
}[];

/** What the state of a stack holds. */
export interface Held {
  /** Id of the stack's `Ownership`; empty while there is none. */
  readonly ownership: string;
  /** Ids of those that went with the last resource of a program. */
  readonly former: readonly string[];
  /** Ids of the objects, without those that a replacement has still to delete or to make again. */
  readonly ids: ReadonlyMap<Name, string>;
}

const stackMark = (ownership: string): string => markOf("", `${ownership}/x`).stack;

/** Each declared object: exactly one live object with these fields, exactly one entry of the state. */
export const judge = (
  stack: number,
  { ids }: Held,
  program: readonly Declared[],
  live: Live,
  areFieldsFree: boolean,
): string[] => {
  const wrong = program.flatMap((declared) => {
    const { kind } = world[declared.name];
    const key = nameAtService(stack, declared);
    const found = live.filter(
      ({ definition, object }) => definition.kind === kind && (object.name ?? object.type) === key,
    );
    const id = ids.get(declared.name);
    const [only] = found;
    if (found.length !== 1 || !only) return [`${key} is there ${found.length} times`];
    if (id !== only.object.id)
      return [`the state holds ${id ?? "nothing"} for ${key}, the service ${only.object.id}`];
    const isRight =
      String(only.object.description).startsWith(`version ${declared.version} [pulumi:`) &&
      only.object.active === true;
    return isRight || areFieldsFree
      ? []
      : [`${key} has other fields: ${JSON.stringify(only.object)}`];
  });
  return ids.size === program.length
    ? wrong
    : [...wrong, `the state holds ${ids.size} of ${program.length} resources`];
};

/**
 * A second object of a resource that is still declared is nobody's left-over but a duplicate. Two
 * exceptions, which the guarantees state: a list behind the truth hides what is there, and then
 * nothing refuses a second one where names need not be unique, or where the run before was
 * killed and the resource has another name by now.
 */
export const twins = (
  states: readonly Held[],
  last: Scenario["last"],
  live: Live,
  lag: "none" | "stale" | "killed",
): string[] =>
  states.flatMap(({ ownership }, stack) =>
    (last[stack] ?? []).flatMap((declared) => {
      const isNamed = world[declared.name].kind !== "Orchestration";
      if (lag === "killed" || (lag === "stale" && !isNamed)) return [];
      const mark = new RegExp(`\\[pulumi: shop/prod ${declared.name} #`);
      const own = live.filter(
        ({ object }) =>
          mark.test(String(object.description)) &&
          String(object.description).includes(`#${stackMark(ownership)}-`),
      );
      return own.length > 1
        ? [`${declared.name} of stack ${stack} is there ${own.length} times`]
        : [];
    }),
  );

/** Objects that no state knows. */
export const strangers = (states: readonly Held[], live: Live): string[] => {
  const known = new Set(states.flatMap(({ ids }) => [...ids.values()]));
  return live
    .filter(({ object }) => !known.has(String(object.id)))
    .map(({ object }) => `${object.name ?? object.type} is left over`);
};
