import { type PulumiPlace, queryPulumi } from "../../provider/stacks/pulumi-queries.js";
import { CommandFailure } from "../command.js";
import { isAtLeast, versionIn } from "../pulumi-cli/pulumi-cli.js";

/** What of Pulumi a way to import needs. */
export const importVersions = {
  /** Reads outputs in import files. */
  file: "3.254.0",
  /** Takes outputs from a converter. */
  converter: "3.255.0",
} as const;

const outcomes = { file: "Nothing was printed", converter: "Nothing was imported" } as const;

/**
 * Refuses a CLI that would not import, or would lose what it does not know.
 *
 * @throws CommandFailure with the version that is there and the one that is needed
 */
export const assertImports = async (
  place: PulumiPlace,
  way: keyof typeof importVersions,
): Promise<void> => {
  const least = importVersions[way];
  const answer = await queryPulumi(place, ["version"]);
  const text = "text" in answer ? answer.text : "";
  if (isAtLeast(text, least)) return;
  const have = versionIn(text)?.join(".") ?? "of a version that it does not tell";
  throw new CommandFailure(
    `Pulumi is ${have}; importing needs ${least} or newer. ${outcomes[way]}. Install a newer one: ` +
      "https://www.pulumi.com/docs/install/",
  );
};
