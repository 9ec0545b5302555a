import type { EnforcementLevel } from "@pulumi/policy";
import { docsLink } from "../../provider/kernel/docs-link.js";

/** What every policy of this package says of itself. */
export interface PolicyNotes {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly enforcementLevel: EnforcementLevel;
  readonly remediationSteps: string;
  /** The section that explains it. */
  readonly url: string;
  readonly tags: string[];
}

/** The notes of a policy, with the link to its section in docs/policies.md. */
export const policyNotes = (
  name: string,
  displayName: string,
  description: string,
  remediationSteps: string,
): PolicyNotes => ({
  name,
  displayName,
  description,
  remediationSteps,
  enforcementLevel: "advisory",
  url: docsLink(`policies.md#${name}`),
  tags: ["conversation"],
});

/** Whether a preview does not know the value yet: reading it then throws. */
const isUnknown = (error: unknown): boolean =>
  error instanceof Error && error.constructor.name === "UnknownValueError";

/** What is read, or undefined while a preview does not know it. */
export const whereKnown = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
};
