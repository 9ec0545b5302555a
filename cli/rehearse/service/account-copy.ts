import type { StoredObject } from "../../../emulator/index.js";
import type { Definition } from "../../../provider/definition/define.js";
import { bodyOf } from "../../../provider/definition/wire/wire.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { propertiesIn } from "../../../provider/lifecycle/state/properties.js";
import type { Settings } from "../../../provider/service/settings/settings.js";
import type { KindReading } from "../../account/account-lists.js";
import { definitionOfType, openedValues, type StackExport } from "../../stack/stack-export.js";
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

/** What a state knows of an object, in the service's JSON. */
type KnownBody = (definition: Definition, id: string) => JsonObject;

/** What the state of the stack knows of each object, secrets in clear. */
export const knownBodies = (document: StackExport, settings: Settings): KnownBody => {
  const bodies = new Map(
    (document.deployment.resources ?? []).flatMap(({ type, id, inputs }) => {
      const definition = definitionOfType(type);
      if (!definition) return [];
      const { fields } = propertiesIn(openedValues(inputs));
      return [[`${definition.kind} ${id}`, bodyOf(definition, fields, settings)] as const];
    }),
  );
  return ({ kind }, id) => bodies.get(`${kind} ${id}`) ?? {};
};

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" ? value : otherwise;

const epoch = new Date(0).toISOString();

/** Also what has a form that this product does not know: its name is taken, and its references hold. */
const copyOfKind = (
  { definition, objects }: KindReading,
  known: KnownBody,
  secrets: SecretsSeen,
): readonly StoredObject[] =>
  [...objects].map(([key, wire]) => ({
    ...membersWithSecrets(definition.fields, wire, known(definition, key), secrets),
    id: textOr(wire.id, key),
    created: textOr(wire.created, epoch),
    modified: textOr(wire.modified, epoch),
  }));

/** Copies an account: every object with its id, hidden secrets as the state knows them. */
export const copyAccount = ({ account }: TenantReading, known: KnownBody): AccountCopy => {
  const secrets: SecretsSeen = { masked: 0, omitted: 0, echoed: 0 };
  return {
    objects: Object.fromEntries(
      account.kinds.map((kind) => [kind.definition.collection, copyOfKind(kind, known, secrets)]),
    ),
    secrets,
    missing: account.kinds.flatMap(({ definition, problem }) =>
      problem === undefined ? [] : [`The ${definition.noun}s are missing in the copy: ${problem}`],
    ),
  };
};
