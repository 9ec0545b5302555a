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
