import type { PulumiResource } from "../pulumi-documents.js";
import { dependenciesOf } from "./workload.js";

/**
 * The order in which Pulumi deletes: in levels, each of which ends before the next begins. What
 * depends on nothing else that is deleted belongs to the last level, its direct dependents to the
 * one before, and so on; so a resource may wait although nothing that depends on it is left.
 *
 * @returns the number of its level for each URN, from 0
 */
export const deletionLevels = (deleted: readonly PulumiResource[]): ReadonlyMap<string, number> => {
  const byUrn = new Map(deleted.map((resource) => [resource.urn, resource]));
  const depths = new Map<string, number>();
  const depthOf = (urn: string): number => {
    const known = depths.get(urn);
    if (known !== undefined) return known;
    // A state that was edited by hand may hold a circle.
    depths.set(urn, 0);
    const resource = byUrn.get(urn);
    const below = resource ? dependenciesOf(resource).filter((other) => byUrn.has(other)) : [];
    const depth = below.reduce((most, other) => Math.max(most, depthOf(other) + 1), 0);
    depths.set(urn, depth);
    return depth;
  };
  const deepest = deleted.reduce((most, { urn }) => Math.max(most, depthOf(urn)), 0);
  return new Map(deleted.map(({ urn }) => [urn, deepest - depthOf(urn)]));
};
