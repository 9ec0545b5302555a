import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { ownershipKind } from "../../../provider/lifecycle/ownership/ownership.js";
import { typeToken } from "../../../provider/pointer.js";
import { ownerParts } from "../../../provider/stacks/owner.js";
import type { Holding, StackStates } from "../../../provider/stacks/stack-states.js";
import { encryptedValue } from "../../stack/stack-export.js";
import type { PassphraseCrypter } from "./passphrase-crypter.js";
import { namesIn, type ReferencedStack } from "./referenced-stacks.js";

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

/** A state as it is written: secrets encrypted with the copy's passphrase. */
export const sealedState = (
  deployment: JsonObject,
  { encrypt, salt }: PassphraseCrypter,
): JsonObject => {
  const sealed = encryptedValue(deployment, encrypt);
  return {
    manifest: manifest(),
    ...(isObject(sealed) ? sealed : {}),
    secrets_providers: { type: "passphrase", state: { salt } },
  };
};

/**
 * Puts a stack beside the copied one: what it holds of the service, as whether an object is somebody
 * else's decides what a run may do with it, and its outputs, where the program refers to it. Nothing
 * else of it.
 */
const copyOther = (
  backend: string,
  names: readonly [project: string, stack: string],
  held: readonly Holding[],
  root: JsonObject | undefined,
  crypter: PassphraseCrypter,
): void => {
  const resources = [...(root ? [root] : []), ...ownershipsOf(held), ...held.map(resourceOf)];
  writeCheckpoint(backend, names, 3, sealedState({ resources }, crypter));
};

/** Puts a stack to which the program refers beside the copied one, with its outputs. */
export const copyReferenced = (
  { project, stack, root }: ReferencedStack,
  { holdings }: Pick<StackStates, "holdings">,
  backend: string,
  crypter: PassphraseCrypter,
): void => {
  const start = `urn:pulumi:${stack}::${project}::`;
  const held = holdings.filter(({ own, urn }) => !own && urn.startsWith(start));
  copyOther(backend, [project, stack], held, root, crypter);
};

/** Puts what the other stacks hold of the service beside the copied one. */
export const copyHoldings = (
  { holdings }: Pick<StackStates, "holdings">,
  backend: string,
  crypter: PassphraseCrypter,
): void => {
  const others = holdings.filter(({ own }) => !own);
  for (const held of Map.groupBy(others, ({ urn }) => urn.split("::", 2).join("::")).values()) {
    const names = namesIn(held[0]?.urn ?? "");
    if (names) copyOther(backend, names, held, undefined, crypter);
  }
};

/** Pulumi warns where a state names no version of its own. */
const manifest = (): JsonObject => ({
  time: new Date().toISOString(),
  magic: "",
  version: "",
});
