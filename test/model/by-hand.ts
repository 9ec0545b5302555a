import { isObject } from "../../provider/kernel/json.js";

/** Where a member is: names, and places in lists. */
type Path = readonly (string | number)[];

/** A member that a person sets and no program declares. */
export interface Member {
  readonly path: Path;
  readonly value: unknown;
  /** A secret, which the service may hide. */
  readonly isSecret?: true;
  /** A person's description: for resources whose program gives none. */
  readonly isDescription?: "before the mark" | "instead of the mark";
}

/** What a person writes as the description. */
export const humanText = "by a person";

const text: Member = { path: ["description"], value: humanText, isDescription: "before the mark" };
const whole: Member = { ...text, isDescription: "instead of the mark" };
const common = [text, whole];

const entry = (key: string): readonly unknown[] => [{ name: key, value: "set-by-hand" }];

/** What can be set by hand on objects of each kind. */
export const members: Readonly<Record<string, readonly Member[]>> = {
  Authentication: common,
  ClientApplication: [
    { path: ["roles", 0, "headers"], value: entry("X-Key"), isSecret: true },
    ...common,
  ],
  Participant: [
    { path: ["intents"], value: { intent: [{ value: "a", displayValue: "A" }] } },
    ...common,
  ],
  Channel: [
    { path: ["restrictions"], value: { inbound: { maxTextLength: 7, features: ["richText"] } } },
    {
      path: ["l10nProperties"],
      value: [{ language: "en-US", properties: [{ name: "a", value: "b" }] }],
    },
    ...common,
  ],
  Orchestration: common,
  Account: [
    { path: ["attributes"], value: entry("key"), isSecret: true },
    { path: ["caseManagement"], value: { sameCaseDuration: 5, copyCustomAttributes: true } },
    ...common,
  ],
};

export const memberAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      Array.isArray(inner)
        ? inner[Number(step)]
        : isObject(inner)
          ? inner[String(step)]
          : undefined,
    value,
  );

/** The value with another one at a path; undefined takes it away. Objects are merged. */
export const withValue = (value: unknown, path: Path, set: unknown): unknown => {
  const [step, ...rest] = path;
  if (step === undefined) return isObject(value) && isObject(set) ? { ...value, ...set } : set;
  if (Array.isArray(value))
    return value.map((item, place) => (place === step ? withValue(item, rest, set) : item));
  if (!isObject(value)) return value;
  const inner = withValue(value[String(step)], rest, set);
  const { [String(step)]: _, ...others } = value;
  return inner === undefined ? others : { ...others, [String(step)]: inner };
};

/** Whether a value holds all that another one says. */
export const saysAll = (value: unknown, said: unknown): boolean => {
  if (Array.isArray(said))
    return (
      Array.isArray(value) &&
      value.length === said.length &&
      said.every((item, place) => saysAll(value[place], item))
    );
  if (isObject(said))
    return isObject(value) && Object.entries(said).every(([name, of]) => saysAll(value[name], of));
  return value === said;
};
