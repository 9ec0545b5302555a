import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { ownershipKind } from "../../../provider/lifecycle/ownership/ownership.js";
import { typeToken } from "../../../provider/pointer.js";
import { ownerParts } from "../../../provider/stacks/owner.js";
import type { Holding, StackStates } from "../../../provider/stacks/stack-states.js";

/** Project and name of the stack that a URN is of. */
const namesIn = (urn: string): readonly [project: string, stack: string] | undefined => {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(urn) ?? [];
  return stack && project ? [project, stack] : undefined;
};

const resourceOf = ({ urn, kind, id, owner, serial }: Holding): JsonObject => ({
  urn,
  custom: true,
  id,
  type: typeToken(kind),
  inputs: owner ? { owner } : {},
  outputs: { ...(owner ? { owner } : {}), ...(serial ? { serial } : {}) },
});

const ownershipsOf = (holdings: readonly Holding[]): readonly JsonObject[] => {
  const ids = holdings.flatMap(({ owner }) => (owner ? [ownerParts(owner).ownership] : []));
  const [project, stack] = namesIn(holdings[0]?.urn ?? "") ?? ["", ""];
  const type = typeToken(ownershipKind);
  return [...new Set(ids)].map((id, index) => ({
    urn: `urn:pulumi:${stack}::${project}::${type}::ownership${index || ""}`,
    custom: true,
    id,
    type,
  }));
};

/** A stack in a file backend: what `latest` holds is its state. */
export const writeCheckpoint = (
  backend: string,
  [project, stack]: readonly [project: string, stack: string],
  version: number,
  latest: JsonObject,
): void => {
  const file = join(backend, ".pulumi", "stacks", project, `${stack}.json`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const checkpoint = { stack: `organization/${project}/${stack}`, latest };
  writeFileSync(file, JSON.stringify({ version, checkpoint }), { mode: 0o600 });
};

/**
 * Puts beside the copied stack what the others hold of the service, and nothing else of them: whether
 * an object is somebody else's decides what a run may do with it.
 */
export const copyHoldings = ({ holdings }: StackStates, backend: string): void => {
  const others = holdings.filter(({ own }) => !own);
  for (const held of Map.groupBy(others, ({ urn }) => urn.split("::", 2).join("::")).values()) {
    const names = namesIn(held[0]?.urn ?? "");
    if (!names) continue;
    const resources = [...ownershipsOf(held), ...held.map(resourceOf)];
    writeCheckpoint(backend, names, 3, { manifest: manifest(), resources });
  }
};

/** Pulumi warns where a state names no version of its own. */
export const manifest = (): JsonObject => ({
  time: new Date().toISOString(),
  magic: "",
  version: "",
});
