import { isObject, type JsonObject } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";
import type { MemberRule } from "./field.js";

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
  if (typeof chosen !== "string" || chosen === unknownValue) return undefined;
  const possible = certain.length > 0 ? certain : there;
  const fits = possible.some((member) => member === rule.exactlyOne[chosen]);
  return fits
    ? undefined
    : `has ${rule.discriminator} ${chosen} but gives ${possible.join(" and ")}`;
};
