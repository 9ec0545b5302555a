import {
  isObject,
  type JsonObject,
  listAt,
  memberOf,
  objectOf,
} from "../../provider/kernel/json.js";

/** The steps of a path in Pulumi's notation: names, places in lists, and `*` for all of either. */
const stepsOf = (path: string): readonly string[] =>
  [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+|\*)\]|([^.[\]]+)/g)].map(
    ([, quoted, place, name = ""]) => quoted?.replaceAll(/\\(.)/g, "$1") ?? place ?? name,
  );

/** A value with the part at a path taken from another one, or gone if that has none. */
const withPart = (value: unknown, other: unknown, [step, ...rest]: readonly string[]): unknown => {
  if (step === undefined) return other;
  if (Array.isArray(value)) {
    const items = listAt(other);
    return value.map((item: unknown, place) =>
      step === "*" || step === String(place) ? withPart(item, items[place], rest) : item,
    );
  }
  if (!isObject(value)) return value;
  const from = isObject(other) ? other : {};
  const names = step === "*" ? Object.keys({ ...value, ...from }) : [step];
  return objectOf([
    ...Object.entries(value).filter(([name]) => !names.includes(name)),
    ...names.map((name): [string, unknown] => [
      name,
      withPart(memberOf(value, name), memberOf(from, name), rest),
    ]),
  ]);
};

/**
 * Returns values with what a resource ignores (Pulumi's option `ignoreChanges`) as it is in the state,
 * as the engine itself does before it compares.
 *
 * @param paths as the state has them, such as `displayName`, `roles[0].callback`, or `roles[*]`
 */
export const withoutIgnored = (
  values: JsonObject,
  state: JsonObject,
  paths: readonly string[] | null | undefined,
): JsonObject =>
  (paths ?? []).reduce<JsonObject>((kept, path) => {
    const changed = withPart(kept, state, stepsOf(path));
    return isObject(changed) ? changed : kept;
  }, values);
