import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Definition } from "../../provider/definition/define.js";
import { changeFieldSecrets } from "../../provider/definition/fields.js";
import { nameOnWire, naturalKey } from "../../provider/definition/kinds.js";
import { asText, type JsonObject } from "../../provider/kernel/json.js";
import { nameOfLabel, propertiesIn } from "../../provider/lifecycle/resource.js";
import { accountTitle } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { type AccountOptions, readAccountInputs } from "../inventory/open-account.js";
import { openStack } from "../inventory/open-stack.js";
import { unreadKinds } from "../inventory/read-account.js";
import {
  heldObjects,
  isEncrypted,
  logicalName,
  openedValues,
  resourcesInState,
  type StackExport,
  sealedFields,
  stackExportIn,
} from "../pulumi/stack-documents.js";

/** An object in a program's terms and without secrets, wherever it was read. */
export interface ComparableObject {
  readonly definition: Definition;
  readonly id: string;
  readonly name: string;
  /** Its logical name in a program, if a state or its mark has it. */
  readonly logicalName?: string | undefined;
  readonly fields: JsonObject;
  /** Fields in which something encrypted is no secret itself, so nothing of them is known. */
  readonly encrypted?: readonly string[];
  /** Fields that the program made secret, so that no value of them is shown. */
  readonly sealed?: readonly string[];
}

/** A live account, or a stack's state, with its objects. */
export interface ComparedSide {
  /** Its name in messages. */
  readonly title: string;
  readonly objects: readonly ComparableObject[];
  /** Kinds with missing objects. */
  readonly unread?: readonly string[];
  /** False if an account changed while it was read. Default: true. */
  readonly consistent?: boolean;
  /** Sentences about what is missing. */
  readonly notes: readonly string[];
}

const withoutSecrets = ({ fields }: Definition, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, () => undefined);

const readAccountSide = async (
  profile: string | undefined,
  options: AccountOptions,
): Promise<ComparedSide> => {
  const { reading, objects, notes } = await readAccountInputs({ ...options, profile });
  const title = profile ? accountTitle(profile) : "the account";
  return {
    title,
    objects: objects.map(({ definition, id, wire, fields, mark }) => ({
      definition,
      id,
      name: asText(nameOnWire(definition, wire)),
      logicalName: mark && nameOfLabel(mark.label),
      fields: withoutSecrets(definition, fields),
    })),
    unread: unreadKinds(reading.kinds).map(({ kind }) => kind),
    consistent: reading.consistent,
    notes: notes.map((note) => `${title}: ${note}`),
  };
};

const sideOfState = (title: string, state: StackExport): ComparedSide => {
  const objects = heldObjects(resourcesInState(state)).map(
    ({ definition, id, resource: { urn, outputs: values = {} } }): ComparableObject => {
      const { fields } = propertiesIn(openedValues(values));
      return {
        ...{ definition, id, logicalName: logicalName(urn) },
        name: asText(fields[naturalKey(definition)]),
        fields: withoutSecrets(definition, fields),
        encrypted: sealedFields(definition, values, isEncrypted),
        sealed: sealedFields(definition, values),
      };
    },
  );
  const notes = objects.flatMap(({ definition: { kind }, name, encrypted = [] }) =>
    encrypted.length > 0
      ? [`${title}: ${kind} "${name}": ${encrypted.join(", ")} not compared because of encryption.`]
      : [],
  );
  return { title, objects, notes };
};

const readFileSide = async (path: string): Promise<ComparedSide> => {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CommandFailure(`Cannot read ${path}: ${messageOf(error)}`);
  });
  const state = stackExportIn(text);
  if (state) return sideOfState(path, state);
  throw new CommandFailure(`Cannot use ${path}: it is not the output of pulumi stack export.`);
};

/**
 * Tells how to read a side by the word for it: `stack:NAME`, `profile:NAME`, `live` for the settings
 * without a profile, or a file with a state. Reading it throws a ConversationError if a service
 * cannot be read.
 *
 * @throws CommandFailure if it is none of them
 */
export const sideReader = (side: string): ((options: AccountOptions) => Promise<ComparedSide>) => {
  if (side === "live") return (options) => readAccountSide(undefined, options);
  const [, kind, name = ""] = /^(stack|profile):(.*)$/.exec(side) ?? [];
  if (kind !== undefined && name === "")
    throw new CommandFailure(`Cannot compare "${side}": the ${kind} name is missing.`);
  if (kind === "profile") return (options) => readAccountSide(name, options);
  if (kind === "stack")
    return async (options) =>
      sideOfState(`stack ${name}`, (await openStack({ ...options, stack: name })).document);
  if (existsSync(side)) return () => readFileSide(side);
  throw new CommandFailure(
    `Cannot compare "${side}": it is neither live, stack:NAME, profile:NAME, nor an existing file.`,
  );
};
