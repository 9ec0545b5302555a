import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { changeInside, naturalKey } from "../../provider/definition/fields.js";
import { fieldsFromWire, neutralVendor, type VendorName } from "../../provider/definition/wire.js";
import { asText, isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../provider/lifecycle/ownership/mark.js";
import { propertiesIn } from "../../provider/lifecycle/properties.js";
import { printedJson } from "../../provider/pulumi-cli/pulumi-queries.js";
import {
  definitionOfType,
  isEncrypted,
  logicalName,
  openedValues,
  type StateResource,
  sealedFields,
  stackExportIn,
} from "../../provider/pulumi-cli/stack-documents.js";
import type { WireObject } from "../../provider/service/lists.js";
import { listingKeys } from "../../provider/service/lists.js";
import { accountInFile } from "../account/object-inputs.js";
import { type AccountOptions, readAccountInputs } from "../account/open-account.js";
import { unreadAmong } from "../account/read-account.js";
import { CommandFailure, messageOf } from "../command.js";
import { exportStack, openStack } from "../stack/open-stack.js";

/** An object of one side, in a program's terms and without secrets. */
export interface ComparedSide {
  readonly definition: Definition;
  readonly id: string;
  readonly name: string;
  /** Its logical name in a program, if a state or its mark has it. */
  readonly logicalName?: string;
  readonly fields: JsonObject;
  /** Fields in which something encrypted is no secret itself, so nothing of them is known. */
  readonly encrypted?: readonly string[];
  /** Fields that the program made secret, so that no value of them is shown. */
  readonly sealed?: readonly string[];
}

/** One side of a comparison. */
export interface ComparedAccount {
  /** Its name in messages. */
  readonly title: string;
  readonly objects: readonly ComparedSide[];
  /** Kinds with missing objects, because the service did not let them be read. */
  readonly unread?: readonly string[];
  /** Sentences about what is missing. */
  readonly notes: readonly string[];
}

const withoutSecret = (field: Field, value: unknown): unknown => {
  if (field.secret || (field.type === "map" && field.of.secret)) return undefined;
  return field.type === "object" && isObject(value)
    ? publicFields(field.fields, value)
    : changeInside(field, value, withoutSecret);
};

/** Values of a program without anything secret. */
const publicFields = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [name, withoutSecret(field, values[name])]),
  );

/** The logical name in a label such as `shop/prod kiosk`. */
const logicalIn = (label: string): string => label.split(" ").slice(1).join(" ");

const sideOfWire = (
  definition: Definition,
  id: string,
  wire: WireObject,
  vendor: VendorName,
): ComparedSide => {
  const { mark, description } = readMark(wire.description);
  const fields = fieldsFromWire(definition.fields, { ...wire, description }, vendor);
  return {
    definition,
    id,
    name: asText(nameOnWire(definition, wire)),
    ...(mark ? { logicalName: logicalIn(mark.label) } : {}),
    fields: publicFields(definition.fields, fields),
  };
};

/** Objects as the service sends them. */
export const sidesOf = (
  kinds: readonly {
    readonly definition: Definition;
    readonly objects: Iterable<readonly [id: string, wire: WireObject]>;
  }[],
  vendor: VendorName,
): readonly ComparedSide[] =>
  kinds.flatMap(({ definition, objects }) =>
    [...objects].map(([id, wire]) => sideOfWire(definition, id, wire, vendor)),
  );

/** Where the project is, whose settings apply, and how the reading is shown and ended. */
export type CompareOptions = Omit<AccountOptions, "clock">;

/** The file format of `pulumi import --file`. */
const importSchema = z.object({
  resources: z.array(
    z.looseObject({
      type: z.string(),
      name: z.string(),
      id: z.string().optional(),
      inputs: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

const ofValues = (
  type: string,
  id: string | undefined,
  logicalName: string,
  values: JsonObject,
): readonly ComparedSide[] => {
  const definition = definitionOfType(type);
  if (!definition || id === undefined) return [];
  const { fields } = propertiesIn(openedValues(values));
  const encrypted = sealedFields(definition, values, isEncrypted);
  const sealed = sealedFields(definition, values);
  return [
    {
      ...{ definition, id, logicalName, name: asText(fields[naturalKey(definition)]) },
      fields: publicFields(definition.fields, fields),
      ...(encrypted.length > 0 ? { encrypted } : {}),
      ...(sealed.length > 0 ? { sealed } : {}),
    },
  ];
};

const encryptedNote = (
  title: string,
  { definition: { kind }, name, encrypted = [] }: ComparedSide,
): string =>
  `${title}: ${kind} "${name}": ${encrypted.join(", ")} not compared because of encrypted secrets. ` +
  "To compare secrets, export the state with pulumi stack export --show-secrets.";

const ofState = (title: string, all: readonly StateResource[]): ComparedAccount => {
  const objects = all
    .filter((resource) => resource.delete !== true && resource.external !== true)
    .flatMap(({ type, id, urn, outputs, inputs }) =>
      ofValues(type, id, logicalName(urn), outputs ?? inputs ?? {}),
    );
  const hidden = objects.filter(({ encrypted }) => encrypted !== undefined);
  return { title, objects, notes: hidden.map((each) => encryptedNote(title, each)) };
};

const ofAccount = (title: string, text: string): ComparedAccount | undefined => {
  const file = accountInFile(text);
  if (!file) return undefined;
  const { readAt, kinds } = file;
  const keyOf = listingKeys();
  const unread = unreadAmong(kinds);
  return {
    title: readAt === undefined ? title : `${title} (${readAt})`,
    objects: sidesOf(
      kinds.map(({ definition, objects }) => ({
        definition,
        objects: objects.map((wire) => [keyOf(wire), wire] as const),
      })),
      neutralVendor,
    ),
    unread: unread.map(({ definition: { kind } }) => kind),
    notes: unread.map(({ definition: { kind }, problem }) => `${title}: ${kind}: ${problem}`),
  };
};

const ofImportFile = (title: string, text: string): ComparedAccount | undefined => {
  const { data } = importSchema.safeParse(printedJson(text));
  return (
    data && {
      title,
      objects: data.resources.flatMap(({ type, id, name, inputs = {} }) =>
        ofValues(type, id, name, inputs),
      ),
      notes: [],
    }
  );
};

const ofFile = async (path: string): Promise<ComparedAccount> => {
  const file = statSync(path).isDirectory() ? join(path, "import.json") : path;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CommandFailure(`Cannot read ${file} to compare it: ${messageOf(error)}`);
  });
  const state = stackExportIn(text);
  const found =
    ofAccount(path, text) ??
    (state && ofState(path, state.deployment.resources ?? [])) ??
    ofImportFile(path, text);
  if (found) return found;
  throw new CommandFailure(
    `Cannot compare ${file}: it is not a saved account, an emulator snapshot, a state (pulumi stack export), or an import file.`,
  );
};

const ofStack = async (name: string, options: CompareOptions): Promise<ComparedAccount> => {
  const stack = await openStack({ ...options, stack: name });
  // Without the passphrase of the stack most of it can still be compared.
  const { deployment } = await exportStack(stack.place, "clear").catch(() =>
    exportStack(stack.place),
  );
  return ofState(`stack ${name}`, deployment.resources ?? []);
};

const ofProfile = async (profile: string | undefined, options: CompareOptions) => {
  const { settings, reading, notes } = await readAccountInputs({
    ...options,
    ...(profile ? { profile } : {}),
  });
  const title = profile ? `profile ${profile}` : "the account";
  return {
    title,
    objects: sidesOf(reading.kinds, settings),
    unread: unreadAmong(reading.kinds).map(({ definition: { kind } }) => kind),
    notes: notes.map((note) => `${title}: ${note}`),
  };
};

/**
 * Reads one side of a comparison: an existing file or folder, `stack:NAME`, `profile:NAME`, or
 * `live` for the settings without a profile; any other word is a stack of the project, else a
 * profile.
 *
 * @throws CommandFailure if it is none of them; ConversationError if a service cannot be read
 */
export const comparedAccount = async (
  source: string,
  options: CompareOptions,
): Promise<ComparedAccount> => {
  if (existsSync(source)) return ofFile(source);
  const [, kind, name = ""] = /^(stack|profile):(.*)$/.exec(source) ?? [];
  if (kind !== undefined && name === "")
    throw new CommandFailure(`Cannot compare "${source}": the ${kind} name is missing.`);
  if (kind === "stack") return ofStack(name, options);
  if (kind === "profile" || source === "live") return ofProfile(name || undefined, options);
  if (/[./\\]/.test(source))
    throw new CommandFailure(`Cannot compare ${source}: there is no such file or folder.`);
  try {
    return await ofStack(source, options);
  } catch (notStack) {
    try {
      return await ofProfile(source, options);
    } catch (notProfile) {
      throw new CommandFailure(
        `Cannot compare "${source}": it is not a file, a stack (${messageOf(notStack).split("\n")[0]}), or a profile (${messageOf(notProfile).split("\n")[0]}).`,
      );
    }
  }
};
