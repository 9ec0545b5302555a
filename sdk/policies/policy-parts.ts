import type { PolicyResource } from "@pulumi/policy";
import { filledTexts } from "../../provider/kernel/json.js";
import { docsLink } from "../../provider/kernel/package.js";
import { kindOfToken, pluginToken } from "../../provider/kernel/pulumi.js";

/** Returns a policy's metadata, with a link to its section in docs/policies.md. */
export const policyNotes = (
  name: string,
  displayName: string,
  description: string,
  remediationSteps: string,
) => ({
  name,
  displayName,
  description,
  remediationSteps,
  enforcementLevel: "advisory" as const,
  url: docsLink(`policies.md#${name}`),
  tags: ["conversation"],
});

/** Reads a value; returns undefined instead of throwing if the value is unknown in a preview. */
export const whereKnown = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.constructor.name === "UnknownValueError") return undefined;
    throw error;
  }
};

/** A resource's value for a report, hidden if the program marks something of the resource as secret. */
export const shownValue = ({ props }: Pick<PolicyResource, "props">, value: string): string =>
  whereKnown(() => filledTexts(props.markedSecrets)) ? "[secret]" : value;

/** Returns the items in a list that are known in a preview; none if the list itself is unknown. */
export const knownItems = <T>(read: () => readonly T[] | undefined): readonly T[] => {
  const list = whereKnown(read) ?? [];
  const places = Array.from({ length: whereKnown(() => list.length) ?? 0 }, (_, place) => place);
  return places.flatMap((place) => whereKnown(() => list[place]) ?? []);
};

/**
 * Returns a class for checking a resource's type: the given class, with the plugin's type token if
 * the resource comes from the plugin. Policies use only the type token.
 */
export const classFor = <C extends { readonly __pulumiType: string }>(
  { type }: Pick<PolicyResource, "type">,
  of: C,
): C => {
  const value = pluginToken(kindOfToken(of.__pulumiType) ?? "");
  return type === value ? Object.create(of, { __pulumiType: { value } }) : of;
};
