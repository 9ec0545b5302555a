import type { MemberRule } from "../../provider/definition/define.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import type { Findings } from "../control/findings.js";

/** The member that the discriminator asks for; undefined where it asks for none. */
export const neededMember = (
  rule: MemberRule | undefined,
  values: JsonObject,
): string | undefined => {
  if (!rule || !("exactlyOne" in rule)) return undefined;
  const chosen = values[rule.discriminator];
  return typeof chosen === "string" && Object.hasOwn(rule.exactlyOne, chosen)
    ? rule.exactlyOne[chosen]
    : undefined;
};

/** Checks which members stand together; that the needed one is there is checked as for a required field. */
export const checkRule = (
  rule: MemberRule,
  values: JsonObject,
  at: (member: string) => string,
  findings: Findings,
): void => {
  const isThere = (member: string): boolean =>
    values[member] !== undefined && values[member] !== null;
  if ("atLeastOne" in rule) {
    if (!rule.atLeastOne.some(isThere)) findings.missing(at(rule.atLeastOne.join(" or ")));
    return;
  }
  const needed = neededMember(rule, values);
  if (needed === undefined) return;
  for (const other of Object.values(rule.exactlyOne))
    if (other !== needed && isThere(other))
      findings.invalid(
        at(other),
        `does not go with ${rule.discriminator} ${values[rule.discriminator]}`,
      );
};
