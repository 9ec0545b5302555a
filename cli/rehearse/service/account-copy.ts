import type { StoredObject } from "../../../emulator/index.js";
import { bodyOf } from "../../../provider/definition/wire.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { propertiesIn } from "../../../provider/lifecycle/state.js";
import type { Settings } from "../../../provider/service/setting-table.js";
import type { KindReading } from "../../account/read-account.js";
import { definitionOfType, openedValues, type StackExport } from "../../stack/stack-export.js";
import { profileIn } from "../../stack/stack-reading.js";
import { membersWithSecrets, type SecretsSeen } from "./known-secrets.js";
import type { TenantReading } from "./tenant-reading.js";

/** Objects of each collection, as an emulator takes them. */
export type CopiedObjects = Readonly<Record<string, readonly StoredObject[]>>;

/** An account as it was copied. */
export interface AccountCopy {
  readonly objects: CopiedObjects;
  readonly secrets: SecretsSeen;
  /** What could not be copied and why, each a sentence. */
  readonly missing: readonly string[];
}

/** What a state knows of the objects of an account, in the service's JSON: by kind and id. */
export type StateBodies = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

/** What the state of the stack knows of the objects of one account, secrets in clear. */
export const stateBodies = (document: StackExport, settings: Settings): StateBodies => {
  const bodies = new Map<string, Map<string, JsonObject>>();
  for (const { type, id, inputs, external } of document.deployment.resources ?? []) {
    const definition = definitionOfType(type);
    const isOther = external === true || profileIn(inputs) !== settings.profile;
    if (!definition || id === undefined || isOther) continue;
    const ofKind = bodies.get(definition.kind) ?? new Map<string, JsonObject>();
    const { fields } = propertiesIn(openedValues(inputs));
    bodies.set(definition.kind, ofKind.set(id, bodyOf(definition, fields, settings)));
  }
  return bodies;
};

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" ? value : otherwise;

const epoch = new Date(0).toISOString();

/**
 * Also what has a form that this product does not know: its name is taken, and its references hold. Where
 * the list is not whole, what the state holds is there as well.
 */
const copyOfKind = (
  { definition, objects, problem }: KindReading,
  bodies: StateBodies,
  secrets: SecretsSeen,
): readonly StoredObject[] => {
  const known = bodies.get(definition.kind) ?? new Map<string, JsonObject>();
  const listed = [...objects].map(([key, wire]) => ({
    ...membersWithSecrets(definition.fields, wire, known.get(key) ?? {}, secrets),
    id: textOr(wire.id, key),
    created: textOr(wire.created, epoch),
    modified: textOr(wire.modified, epoch),
  }));
  const unlisted = problem === undefined ? [] : [...known].filter(([id]) => !objects.has(id));
  return [
    ...listed,
    ...unlisted.map(([id, body]) => ({ ...body, id, created: epoch, modified: epoch })),
  ];
};

/** Copies an account: every object with its id, hidden secrets as the state knows them. */
export const copyAccount = ({ account }: TenantReading, bodies: StateBodies): AccountCopy => {
  const secrets: SecretsSeen = { masked: 0, omitted: 0, echoed: 0 };
  return {
    objects: Object.fromEntries(
      account.kinds.map((kind) => [kind.definition.collection, copyOfKind(kind, bodies, secrets)]),
    ),
    secrets,
    missing: account.kinds.flatMap(({ definition: { noun }, problem }) =>
      problem === undefined
        ? []
        : [
            `The ${noun}s are missing in the copy, but for those that the state of the stack has: ${problem}`,
          ],
    ),
  };
};
