import { isObject, type JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";
import type { MemberRule, Members } from "./define.js";
import { wireName } from "./wire/wire.js";

const present = (values: unknown, member: string): boolean =>
  isObject(values) && values[member] !== undefined;

/** What a value breaks of the rule on its members, in words; undefined where it breaks nothing for certain. */
export const ruleIssue = (rule: MemberRule, values: unknown): string | undefined => {
  if ("atLeastOne" in rule) {
    return rule.atLeastOne.some((member) => present(values, member))
      ? undefined
      : `needs ${rule.atLeastOne.join(" or ")}`;
  }
  return isObject(values) ? choiceIssue(rule, values) : undefined;
};

type Choice = Extract<MemberRule, { readonly discriminator: string }>;

/** A member that is not known yet may turn out to be left out. */
const choiceIssue = (rule: Choice, values: JsonObject): string | undefined => {
  const members = Object.values(rule.exactlyOne);
  const there = members.filter((member) => values[member] !== undefined);
  const certain = there.filter((member) => values[member] !== unknownValue);
  if (there.length === 0 || certain.length > 1) {
    return `needs exactly one of ${members.join(" and ")}`;
  }
  const chosen = values[rule.discriminator];
  // Any other word is refused where it stands.
  if (typeof chosen !== "string" || !Object.hasOwn(rule.exactlyOne, chosen)) return undefined;
  const possible = certain.length > 0 ? certain : there;
  const fits = possible.some((member) => member === rule.exactlyOne[chosen]);
  return fits
    ? undefined
    : `has ${rule.discriminator} ${chosen}, which needs ${rule.exactlyOne[chosen]}, but gives ${possible.join(" and ")}`;
};

/** Members that cannot stand beside the one that the program chose. */
export const displaced = ({ fields, rule }: Members, desired: unknown): ReadonlySet<string> => {
  if (!rule || !("exactlyOne" in rule) || !isObject(desired)) return new Set();
  const onWire = (name: string): string => {
    const field = fields[name];
    return field ? wireName(name, field) : name;
  };
  const members = Object.values(rule.exactlyOne);
  const own = new Map(Object.entries(desired));
  const word = own.get(onWire(rule.discriminator));
  const named = Object.entries(rule.exactlyOne).find(([choice]) => choice === word)?.[1];
  const chosen = named ?? members.find((name) => own.has(onWire(name)));
  return new Set(chosen === undefined ? [] : members.filter((name) => name !== chosen).map(onWire));
};
