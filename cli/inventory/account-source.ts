import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Definition, Fields } from "../../provider/definition/define.js";
import { changeFieldSecrets } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { fieldsFromWire, type VendorName } from "../../provider/definition/wire.js";
import { asText, filledText, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../provider/lifecycle/ownership/mark.js";
import { propertiesIn } from "../../provider/lifecycle/resource.js";
import { resources } from "../../provider/resources/index.js";
import { listingKey, type WireObject } from "../../provider/service/lists.js";
import {
  accountTitle,
  isProviderAccount,
  type Settings,
  settingNames,
} from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { printedJson } from "../pulumi/pulumi-queries.js";
import {
  accountIn,
  definitionOfType,
  isEncrypted,
  logicalName,
  openedValues,
  resourcesInState,
  type StackExport,
  sealedFields,
  stackExportIn,
} from "../pulumi/stack-documents.js";
import {
  type AccountOptions,
  accountSettings,
  readAccountInputs,
  readingNotes,
} from "./open-account.js";
import { exportStack, type OpenStack, openStack } from "./open-stack.js";
import { type AccountReading, unreadKinds } from "./read-account.js";
import { type AccountName, accountsIn, settingsOfNames } from "./stack-accounts.js";

/** An object in a program's terms and without secrets, wherever it was read. */
export interface SourceObject {
  readonly definition: Definition;
  readonly id: string;
  readonly name: string;
  /** Its logical name in a program, if a state or its mark has it. */
  readonly logicalName?: string | undefined;
  readonly created?: string | undefined;
  readonly fields: JsonObject;
  /** Fields in which something encrypted is no secret itself, so nothing of them is known. */
  readonly encrypted?: readonly string[];
  /** Fields that the program made secret, so that no value of them is shown. */
  readonly sealed?: readonly string[];
  /** The account that its resource in a state names. */
  readonly account?: AccountName;
  /** Base URL of its account, if the source is several accounts: no object of another one matches it. */
  readonly tenant?: string | undefined;
}

/** A live account, a stack's state, or a file, with the objects of an account. */
export interface AccountSource {
  /** Its name in messages. */
  readonly title: string;
  readonly objects: readonly SourceObject[];
  /** Kinds with missing objects and why; if the source is several accounts, with the base URL. */
  readonly unread?: readonly {
    readonly kind: string;
    readonly problem: string;
    readonly tenant?: string;
  }[];
  /** False if an account changed while it was read. Default: true. */
  readonly consistent?: boolean;
  /** Sentences about what is missing. */
  readonly notes: readonly string[];
  /** The stack whose state it is, if any. */
  readonly held?: { readonly stack: OpenStack; readonly document: StackExport };
}

/** Which project, settings, and profile a command is about, and how its reading is shown and ended. */
export type SourceOptions = Omit<AccountOptions, "clock">;

/** Values of a program without anything secret, and without what no field covers. */
const publicFields = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(
    fields,
    objectOf(Object.entries(values).filter(([name]) => Object.hasOwn(fields, name))),
    () => undefined,
  );

/** An object as the service sends it. */
export const sourceObject = (
  definition: Definition,
  id: string,
  wire: WireObject,
  vendor: VendorName,
): SourceObject => {
  const { mark, description } = readMark(wire.description);
  const fields = fieldsFromWire(definition.fields, { ...wire, description }, vendor);
  return {
    definition,
    id,
    name: asText(nameOnWire(definition, wire)),
    // From a label such as `shop/prod kiosk`.
    logicalName: mark?.label.split(" ").slice(1).join(" "),
    created: filledText(wire.created),
    fields: publicFields(definition.fields, fields),
  };
};

/** An account as a JSON document: without secrets. */
const savedSchema = z.object({
  format: z.literal("pulumi-conversation account"),
  version: z.literal(1),
  baseUrl: z.string(),
  readAt: z.string(),
  consistent: z.boolean(),
  kinds: z.array(
    z.object({
      /** Name of the resource class. */
      kind: z.enum(resources.map(({ kind }) => kind)),
      objects: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          logicalName: z.string().optional(),
          created: z.string().optional(),
          /** In a program's terms. */
          fields: z.record(z.string(), z.unknown()),
        }),
      ),
      /** Why objects are missing. */
      problem: z.string().optional(),
    }),
  ),
});

/** A reading as it may be kept on disk. */
export const savedAccount = (
  { baseUrl, readAt, consistent, kinds }: AccountReading,
  vendor: VendorName,
): z.infer<typeof savedSchema> => ({
  format: "pulumi-conversation account",
  version: 1,
  baseUrl,
  readAt,
  consistent,
  kinds: kinds.map(({ definition, objects, problem }) => ({
    kind: definition.kind,
    objects: [...objects].map(([id, wire]) => {
      const { definition: _, ...object } = sourceObject(definition, id, wire, vendor);
      return object;
    }),
    ...(problem === undefined ? {} : { problem }),
  })),
});

/** What is missing in a reading, for comparisons and for messages. */
const gapsIn = (title: string, reading: Parameters<typeof readingNotes>[0]) => ({
  unread: unreadKinds(reading.kinds),
  consistent: reading.consistent,
  notes: readingNotes(reading).map((note) => `${title}: ${note}`),
});

const fromSavedAccount = (path: string, document: unknown): AccountSource | undefined => {
  const { data } = savedSchema.safeParse(document);
  if (!data) return undefined;
  const kinds = resources.flatMap((definition) =>
    data.kinds
      .filter(({ kind }) => kind === definition.kind)
      .map(({ objects, problem }) => ({ definition, objects, problem })),
  );
  return {
    title: `${path} (${data.readAt})`,
    objects: kinds.flatMap(({ definition, objects }) =>
      objects.map((object) => ({ ...object, definition })),
    ),
    ...gapsIn(path, { kinds, consistent: data.consistent }),
  };
};

/** The content of an emulator, as `GET /snapshot` returns it. */
const snapshotSchema = z.object({
  objects: z.record(z.string(), z.array(z.looseObject({ id: z.string() }))),
});

const fromSnapshot = (
  title: string,
  document: unknown,
  { env = process.env, profile }: SourceOptions,
): AccountSource | undefined => {
  const { data } = snapshotSchema.safeParse(document);
  const platformName = env[settingNames("platformName", profile).environment] || "platform";
  return (
    data && {
      title,
      objects: resources.flatMap((definition) =>
        (data.objects[definition.collection] ?? []).map((wire) =>
          sourceObject(definition, listingKey(wire), wire, { platformName }),
        ),
      ),
      notes: [],
    }
  );
};

const objectOfValues = (
  type: string,
  id: string | undefined,
  logicalName: string,
  values: JsonObject,
): readonly SourceObject[] => {
  const definition = definitionOfType(type);
  if (!definition || id === undefined) return [];
  const { fields, record } = propertiesIn(openedValues(values));
  const encrypted = sealedFields(definition, values, isEncrypted);
  const sealed = sealedFields(definition, values);
  return [
    {
      ...{ definition, id, logicalName, name: asText(fields[naturalKey(definition)]) },
      created: record.created,
      fields: publicFields(definition.fields, fields),
      ...(encrypted.length > 0 ? { encrypted } : {}),
      ...(sealed.length > 0 ? { sealed } : {}),
    },
  ];
};

const fromState = (title: string, state: StackExport): AccountSource => {
  const objects = resourcesInState(state)
    .filter((resource) => resource.delete !== true && resource.external !== true)
    .flatMap((resource) => {
      const { type, id, urn, outputs, inputs } = resource;
      const found = objectOfValues(type, id, logicalName(urn), outputs ?? inputs ?? {});
      return found.map((object) => ({ ...object, account: accountIn(resource) }));
    });
  const notes = objects.flatMap(({ definition: { kind }, name, encrypted }) =>
    encrypted
      ? [
          `${title}: ${kind} "${name}": ${encrypted.join(", ")} not compared because of encrypted secrets. ` +
            "To compare secrets, export the state with pulumi stack export --show-secrets.",
        ]
      : [],
  );
  return { title, objects, notes };
};

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

const fromImportFile = (title: string, document: unknown): AccountSource | undefined => {
  const { data } = importSchema.safeParse(document);
  return (
    data && {
      title,
      objects: data.resources.flatMap(({ type, id, name, inputs = {} }) =>
        objectOfValues(type, id, name, inputs),
      ),
      notes: [],
    }
  );
};

/**
 * Reads an account in a file, or in the import file of a folder that an export wrote.
 *
 * @throws CommandFailure if it cannot be read, or is none
 */
export const readSourceFile = async (
  path: string,
  options: SourceOptions,
): Promise<AccountSource> => {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const file = isFolder ? join(path, "import.json") : path;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CommandFailure(`Cannot read ${file}: ${messageOf(error)}`);
  });
  const [document, state] = [printedJson(text), stackExportIn(text)];
  const found =
    fromSavedAccount(path, document) ??
    fromSnapshot(path, document, options) ??
    (state && fromState(path, state)) ??
    fromImportFile(path, document);
  if (found) return found;
  throw new CommandFailure(
    `Cannot use ${file}: it is not a saved account, an emulator snapshot (GET /snapshot at the emulator's control URL), a state (pulumi stack export), or an import file.`,
  );
};

/** Reads what the state of a stack contains. @param name default: the selected stack */
export const readStackSource = async (
  name: string | undefined,
  options: SourceOptions,
): Promise<AccountSource> => {
  const stack = await openStack({ ...options, stack: name });
  // Without the passphrase of the stack most of it can still be used.
  const document = await exportStack(stack.place, "clear").catch(() => exportStack(stack.place));
  const title = name === undefined ? "the stack's state" : `stack ${name}`;
  return { ...fromState(title, document), held: { stack, document } };
};

/** Reads the live account of a profile, or of the settings without one. */
export const readLiveSource = async (
  profile: AccountName,
  options: SourceOptions,
  known?: Settings,
): Promise<AccountSource> => {
  const asked = { ...options, ...(profile ? { profile } : {}) };
  const { settings, reading } = await readAccountInputs(asked, known);
  const title = profile ? accountTitle(profile) : "the account";
  return {
    title,
    objects: reading.kinds.flatMap(({ definition, objects }) =>
      [...objects].map(([id, wire]) => sourceObject(definition, id, wire, settings)),
    ),
    ...gapsIn(title, reading),
  };
};

/**
 * Reads everything in the accounts that the objects of a stack are in, and says which object of the
 * stack is in which of them.
 */
export const readStackAndAccounts = async (
  { stack, document }: NonNullable<AccountSource["held"]>,
  held: AccountSource,
  options: SourceOptions,
): Promise<readonly [AccountSource, AccountSource]> => {
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
  const read: Required<Omit<AccountSource, "held">>[] = [];
  for (const account of accounts) {
    const { settings } = account;
    const { baseUrl: tenant } = settings;
    const {
      unread = [],
      consistent = true,
      ...live
    } = await readLiveSource(account.names[0], options, settings);
    read.push({
      ...live,
      consistent,
      objects: live.objects.map((each) => ({ ...each, tenant })),
      unread: unread.map((each) => ({ ...each, tenant })),
    });
  }
  const objects = held.objects.map((each) => {
    const account = accounts.find(({ names: known }) => known.includes(each.account));
    return { ...each, tenant: account?.settings.baseUrl };
  });
  return [
    { ...held, objects },
    {
      title: read.map(({ title }) => title).join(", "),
      objects: read.flatMap((each) => each.objects),
      unread: read.flatMap(({ unread }) => unread),
      consistent: read.every(({ consistent }) => consistent),
      notes: read.flatMap(({ notes }) => notes),
    },
  ];
};

/**
 * Reads a source by the word for it: an existing file or folder, `stack:NAME`, `profile:NAME`, or
 * `live` for the settings without a profile; any other word is a stack of the project, else a
 * profile.
 *
 * @throws CommandFailure if it is none of them; ConversationError if a service cannot be read
 */
export const readAccountSource = async (
  source: string,
  options: SourceOptions,
): Promise<AccountSource> => {
  if (existsSync(source)) return readSourceFile(source, options);
  const [, kind, name = ""] = /^(stack|profile):(.*)$/.exec(source) ?? [];
  if (kind !== undefined && name === "")
    throw new CommandFailure(`Cannot compare "${source}": the ${kind} name is missing.`);
  if (kind === "stack") return readStackSource(name, options);
  if (kind === "profile" || source === "live") return readLiveSource(name || undefined, options);
  if (/[./\\]/.test(source))
    throw new CommandFailure(`Cannot compare ${source}: there is no such file or folder.`);
  try {
    return await readStackSource(source, options);
  } catch (notStack) {
    try {
      return await readLiveSource(source, options);
    } catch (notProfile) {
      throw new CommandFailure(
        `Cannot compare "${source}": it is not a file, a stack (${messageOf(notStack).split("\n")[0]}), or a profile (${messageOf(notProfile).split("\n")[0]}).`,
      );
    }
  }
};
