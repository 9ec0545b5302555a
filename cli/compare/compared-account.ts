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
import type { WireObject } from "../../provider/service/lists.js";
import { listingKeys } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { accountTitle, isProviderAccount } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { accountInFile } from "../inventory/object-inputs.js";
import {
  type AccountOptions,
  accountSettings,
  readAccountInputs,
  readingNotes,
} from "../inventory/open-account.js";
import { exportStack, type OpenStack, openStack } from "../inventory/open-stack.js";
import { unreadAmong } from "../inventory/read-account.js";
import { type AccountName, accountsIn, settingsOfNames } from "../inventory/stack-accounts.js";
import { printedJson } from "../pulumi/pulumi-queries.js";
import {
  accountIn,
  definitionOfType,
  isEncrypted,
  logicalName,
  openedValues,
  type StackExport,
  sealedFields,
  stackExportIn,
} from "../pulumi/stack-documents.js";

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
  /** Base URL of its account, if both sides are of several: no object of another one matches it. */
  readonly tenant?: string;
}

/** One side of a comparison. */
export interface ComparedAccount {
  /** Its name in messages. */
  readonly title: string;
  readonly objects: readonly ComparedSide[];
  /** Kinds with missing objects, because the service did not let them be read. */
  readonly unread?: readonly string[];
  /** The base URL of an account and a kind that could not be read there, if this is several accounts. */
  readonly unreadIn?: readonly (readonly [tenant: string, kind: string])[];
  /** False if an account changed while it was read. Default: true. */
  readonly consistent?: boolean;
  /** Sentences about what is missing. */
  readonly notes: readonly string[];
  /** The stack whose state it is, if any. */
  readonly held?: { readonly stack: OpenStack; readonly document: StackExport };
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

const ofState = (
  title: string,
  { deployment: { resources } }: StackExport,
  tenantOf: (name: AccountName) => Pick<ComparedSide, "tenant"> = () => ({}),
): ComparedAccount => {
  const objects = (resources ?? [])
    .filter((resource) => resource.delete !== true && resource.external !== true)
    .flatMap((resource) => {
      const { type, id, urn, outputs, inputs } = resource;
      const sides = ofValues(type, id, logicalName(urn), outputs ?? inputs ?? {});
      return sides.map((each) => ({ ...each, ...tenantOf(accountIn(resource)) }));
    });
  const hidden = objects.filter(({ encrypted }) => encrypted !== undefined);
  return { title, objects, notes: hidden.map((each) => encryptedNote(title, each)) };
};

/** What is missing in a reading, for comparisons and for messages. */
const gapsIn = (title: string, reading: Parameters<typeof readingNotes>[0]) => ({
  unread: unreadAmong(reading.kinds).map(({ definition: { kind } }) => kind),
  consistent: reading.consistent,
  notes: readingNotes(reading).map((note) => `${title}: ${note}`),
});

const ofAccount = (title: string, text: string): ComparedAccount | undefined => {
  const file = accountInFile(text);
  if (!file) return undefined;
  const { readAt, kinds } = file;
  const keyOf = listingKeys();
  return {
    title: readAt === undefined ? title : `${title} (${readAt})`,
    objects: sidesOf(
      kinds.map(({ definition, objects }) => ({
        definition,
        objects: objects.map((wire) => [keyOf(wire), wire] as const),
      })),
      neutralVendor,
    ),
    ...gapsIn(title, file),
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
    ofAccount(path, text) ?? (state && ofState(path, state)) ?? ofImportFile(path, text);
  if (found) return found;
  throw new CommandFailure(
    `Cannot compare ${file}: it is not a saved account, an emulator snapshot, a state (pulumi stack export), or an import file.`,
  );
};

const ofStack = async (name: string, options: CompareOptions): Promise<ComparedAccount> => {
  const stack = await openStack({ ...options, stack: name });
  // Without the passphrase of the stack most of it can still be compared.
  const document = await exportStack(stack.place, "clear").catch(() => exportStack(stack.place));
  return { ...ofState(`stack ${name}`, document), held: { stack, document } };
};

const ofProfile = async (profile: AccountName, options: CompareOptions, known?: Settings) => {
  const asked = { ...options, ...(profile ? { profile } : {}) };
  const { settings, reading } = await readAccountInputs(asked, known);
  const title = profile ? accountTitle(profile) : "the account";
  return {
    title,
    objects: sidesOf(reading.kinds, settings),
    ...gapsIn(title, reading),
  };
};

/** A stack, and everything in the accounts that its objects are in. */
const ofStackAndAccounts = async (
  title: string,
  { stack, document }: NonNullable<ComparedAccount["held"]>,
  options: CompareOptions,
): Promise<readonly [ComparedAccount, ComparedAccount]> => {
  const names = accountsIn(document);
  const isExplicit = names.some(isProviderAccount);
  // The selected stack may be another one.
  const { stack: of = stack.place.stack } = options;
  const accounts = await settingsOfNames(
    {
      env: stack.env,
      readSettings: (profile) =>
        accountSettings({ ...options, profile, ...(of === undefined ? {} : { stack: of }) }),
    },
    // Without the passphrase of the stack, the settings of its providers are not known.
    isExplicit ? await exportStack(stack.place, "clear") : document,
    names.length > 0 ? names : [undefined],
  );
  const read: ComparedAccount[] = [];
  for (const {
    names: [name],
    settings,
  } of accounts) {
    const { objects, ...account } = await ofProfile(name, options, settings);
    const { baseUrl: tenant } = settings;
    const unreadIn = account.unread.map((kind) => [tenant, kind] as const);
    read.push({ ...account, unreadIn, objects: objects.map((each) => ({ ...each, tenant })) });
  }
  const state = ofState(title, document, (name) => {
    const tenant = accounts.find((account) => account.names.includes(name))?.settings.baseUrl;
    return tenant === undefined ? {} : { tenant };
  });
  const live = {
    title: read.map((each) => each.title).join(", "),
    objects: read.flatMap(({ objects }) => objects),
    unread: [...new Set(read.flatMap(({ unread = [] }) => unread))],
    unreadIn: read.flatMap(({ unreadIn = [] }) => unreadIn),
    consistent: read.every(({ consistent }) => consistent),
    notes: read.flatMap(({ notes }) => notes),
  };
  return [state, live];
};

/**
 * Reads both sides of a comparison. Next to a stack, `live` is every account that the stack's objects
 * are in.
 *
 * @throws as `comparedAccount`
 */
export const comparedAccounts = async (
  a: string,
  b: string,
  options: CompareOptions,
): Promise<readonly [ComparedAccount, ComparedAccount]> => {
  if (a === "live" && b !== "live") {
    const [one, live] = await comparedAccounts(b, a, options);
    return [live, one];
  }
  const one = await comparedAccount(a, options);
  return one.held && b === "live" && !existsSync(b)
    ? ofStackAndAccounts(one.title, one.held, options)
    : [one, await comparedAccount(b, options)];
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
