import { type JsonObject, sameJson } from "../../provider/kernel/json.js";
import { type PulumiPlace, runStackCommand } from "../../provider/pulumi-cli/pulumi-queries.js";
import type { StackExport, StateResource } from "../../provider/pulumi-cli/stack-documents.js";
import { CommandFailure } from "../command.js";
import { exportStack } from "./open-stack.js";

const isOf =
  (entries: readonly JsonObject[]) =>
  ({ urn, delete: leaving }: StateResource): boolean =>
    leaving !== true && entries.some((entry) => entry.urn === urn);

/**
 * Puts resources into a state, in place of those with the same URN, and takes off all notes of operations that are pending. Pulumi itself encrypts,
 * checks and writes it, under its lock.
 *
 * @param before the state, secrets in clear, as it was when this was decided
 * @throws CommandFailure where the state has changed since, or where Pulumi refuses
 */
export const writeToState = async (
  place: PulumiPlace,
  before: StackExport,
  entries: readonly JsonObject[],
): Promise<void> => {
  const now = await exportStack(place);
  const clear = await exportStack(place, "clear");
  if (!sameJson(clear.deployment, before.deployment))
    throw new CommandFailure("the state has changed meanwhile; nothing was written. Try again");
  const { pending_operations: _, resources, ...rest } = now.deployment;
  const isReplaced = isOf(entries);
  const kept = (resources ?? []).map((resource) =>
    isReplaced(resource) ? (entries.find(({ urn }) => urn === resource.urn) ?? resource) : resource,
  );
  const added = entries.filter(({ urn }) => !resources?.some((each) => isOf([{ urn }])(each)));
  const deployment = { ...rest, resources: [...kept, ...added] };
  const written = await runStackCommand(
    place,
    ["stack", "import"],
    JSON.stringify({ ...now, deployment }),
  );
  if (!written.ok) throw new CommandFailure(`pulumi stack import failed: ${written.said}`);
};
