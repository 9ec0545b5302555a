import { createCipheriv, createDecipheriv, hash, pbkdf2, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { isObject, type JsonObject, jsonIn } from "../../provider/kernel/json.js";
import { ownerParts, urnParts } from "../../provider/kernel/owner.js";
import { ownershipKind } from "../../provider/lifecycle/ownership/ownership.js";
import { providerToken, tokenParts, typeToken } from "../../provider/pointer.js";
import { privateFolder } from "../../provider/pulumi-cli/own-folders.js";
import { type Ended, runCommand } from "../../provider/pulumi-cli/processes.js";
import {
  type ConfigEntry,
  projectFile,
  readStackConfig,
  saltOfStack,
  stackAdvice,
} from "../../provider/pulumi-cli/project-files.js";
import { frugalRuns, preloading, pulumiStops } from "../../provider/pulumi-cli/pulumi-cli.js";
import { quietEnvironment } from "../../provider/pulumi-cli/pulumi-queries.js";
import {
  accountIn,
  checkpointIn,
  encryptedValue,
  openedValues,
  resourcesOf,
  type StackExport,
} from "../../provider/pulumi-cli/stack-documents.js";
import {
  type Holding,
  type StackState,
  type StackStates,
  stackStateOf,
} from "../../provider/pulumi-cli/stack-states.js";
import {
  addressesVariable,
  type EmulatedAddresses,
} from "../../provider/service/emulated-settings.js";
import {
  describeSettings,
  type SettingDescription,
  type SettingSource,
} from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { exportStack, type OpenStack } from "../stack/open-stack.js";
import { dryRunVariable } from "./dry-run.js";

/** A random passphrase, and how Pulumi encrypts with it. */
interface PassphraseCrypter {
  /** For PULUMI_CONFIG_PASSPHRASE. */
  readonly passphrase: string;
  /** What a stack stores: enough to recognize a wrong passphrase, not to decrypt. */
  readonly salt: string;
  /** A text as Pulumi stores it. */
  readonly encrypt: (text: string) => string;
}

/** Pulumi's own number of rounds: the same passphrase must give the same key. */
const rounds = 1_000_000;
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cipherName = "aes-256-gcm";

const keyFrom = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  promisify(pbkdf2)(passphrase, salt, rounds, keyBytes, "sha256");

const encryptWith =
  (key: Buffer) =>
  (text: string): string => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(cipherName, key, nonce);
    const sealed = [cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `v1:${nonce.toString("base64")}:${Buffer.concat(sealed).toString("base64")}`;
  };

/** Pulumi decrypts this word to check a passphrase. */
const checkedWord = "pulumi";

const formOfSalt = /^v1:([\w+/]+=*):v1:([\w+/]+=*):([\w+/]+=*)$/;

/** Whether a stack with this salt has this passphrase; true if the salt has an unknown form. */
export const hasPassphrase = async (passphrase: string, salt: string): Promise<boolean> => {
  const [random, nonce, word] = (formOfSalt.exec(salt) ?? [])
    .slice(1)
    .map((part) => Buffer.from(part, "base64"));
  if (!random || !nonce || !word || word.length <= tagBytes) return true;
  const decipher = createDecipheriv(cipherName, await keyFrom(passphrase, random), nonce);
  decipher.setAuthTag(word.subarray(-tagBytes));
  try {
    const text = decipher.update(word.subarray(0, -tagBytes), undefined, "utf8");
    return text + decipher.final("utf8") === checkedWord;
  } catch {
    return false;
  }
};

/** Makes a passphrase that nobody knows, so that a copied state holds no secret in plain text. */
export const createCrypter = async (): Promise<PassphraseCrypter> => {
  const passphrase = randomBytes(24).toString("base64url");
  const salt = randomBytes(8);
  const encrypt = encryptWith(await keyFrom(passphrase, salt));
  return { passphrase, encrypt, salt: `v1:${salt.toString("base64")}:${encrypt(checkedWord)}` };
};

/** The passphrase that Pulumi uses without asking a person. */
const givenPassphrase = (env: NodeJS.ProcessEnv, folder: string): string | undefined => {
  const { PULUMI_CONFIG_PASSPHRASE: text, PULUMI_CONFIG_PASSPHRASE_FILE: file } = env;
  return text ?? (file ? readFileSync(resolve(folder, file), "utf8").trim() : undefined);
};

/**
 * Refuses a passphrase that is not the one of the stack. With any passphrase, Pulumi reads a stack
 * in which nothing is encrypted, but it refuses to run it with a wrong one.
 *
 * @throws CommandFailure if it is another one
 */
export const assertPassphrase = async ({
  place: { folder },
  env,
  names: { project, stack },
}: Pick<OpenStack, "place" | "env" | "names">): Promise<void> => {
  const file = projectFile(folder);
  const salt = file && saltOfStack(file, stack);
  const passphrase = salt && givenPassphrase(env, folder);
  if (salt === undefined || passphrase === undefined) return;
  if (await hasPassphrase(passphrase, salt)) return;
  throw new CommandFailure(
    `Nothing was rehearsed: the passphrase does not match the stack ${project}/${stack}. ` +
      "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the stack's passphrase.",
  );
};

/** Everything that is copied of a stack; the stack itself never changes. */
export interface OriginalStack {
  readonly stack: OpenStack;
  /** Its state, secrets in plain text: kept in memory only. */
  readonly document: StackExport;
  readonly config: ReadonlyMap<string, ConfigEntry>;
  readonly source: SettingSource;
  /** The content of the states of all stacks in the backend. */
  readonly states: StackStates;
}

/**
 * Reads state, configuration, and the states beside it.
 *
 * @throws CommandFailure if the stack's own state or configuration cannot be read, or the
 * passphrase is another one
 */
export const readOriginal = async (stack: OpenStack): Promise<OriginalStack> => {
  const { place, env } = stack;
  const [document, config, states] = await Promise.all([
    exportStack(place, "clear"),
    readStackConfig(place.folder, env, place.stack),
    stack.readStates("all"),
    assertPassphrase(stack),
  ]);
  if (config.unread !== undefined)
    throw new CommandFailure(
      `Cannot read the stack's configuration, so nothing was done: ${config.unread}\n${stackAdvice(config.unread)}`,
    );
  return { stack, document, config: config.entries, source: config.source, states };
};

/** The same stack as it would be before its first deployment. */
export const emptied = (original: OriginalStack): OriginalStack => ({
  ...original,
  document: {
    ...original.document,
    deployment: { ...original.document.deployment, resources: [], pending_operations: [] },
  },
});

/** The parts of a stack that show its profiles. */
type ProfileSources = Pick<OriginalStack, "document" | "config"> & {
  readonly stack: Pick<OpenStack, "env">;
};

const profilesInState = ({ document }: Pick<OriginalStack, "document">): readonly string[] =>
  (document.deployment.resources ?? []).flatMap(({ inputs }) => accountIn({ inputs }) ?? []);

const variableOf = /^CONVERSATION_([A-Z][A-Z0-9_]*)_BASE_URL$/;
const entryOfProfile = /^conversation:([A-Za-z][\w-]*)\.(\w+)$/;

/** A profile as spelled in its variables. */
const wordOf = (profile: string): string => profile.toUpperCase().replaceAll("-", "_");

/**
 * Profiles that a program may use: those of the state, and those that have a base URL in the
 * configuration or in the environment. Without an address, a profile reaches nothing.
 */
export const profilesOf = (original: ProfileSources): readonly string[] => {
  const words = Object.keys(original.stack.env).flatMap((name) => variableOf.exec(name)?.[1] ?? []);
  const inConfig = [...original.config.keys()].flatMap((key) => {
    const [, profile = "", setting] = entryOfProfile.exec(key) ?? [];
    return profile && (setting === "baseUrl" || words.includes(wordOf(profile))) ? [profile] : [];
  });
  const known = [...new Set([...profilesInState(original), ...inConfig])];
  const others = words.filter((word) => !known.some((profile) => wordOf(profile) === word));
  return [...known, ...others.map((word) => word.toLowerCase())];
};

/** Every setting by which a program may reach an account. */
const settingsReaching = (original: ProfileSources): readonly SettingDescription[] =>
  [undefined, ...profilesOf(original)].flatMap((profile) => describeSettings(profile));

/** Variables that would lead a run to the real backend or another stack. */
const leadsElsewhere = /^PULUMI_(BACKEND_URL|CONFIG_PASSPHRASE|OPTION_|STACK$|ACCESS_TOKEN$)/;

/**
 * The environment of a stack without what leads to its backend, and without every setting by which
 * a program may reach an account. Other variables may belong to the program or hold its secrets.
 */
export const withoutWaysOut = (original: ProfileSources): NodeJS.ProcessEnv => {
  const ours = new Set(settingsReaching(original).map(({ environment }) => environment));
  return Object.fromEntries(
    Object.entries(quietEnvironment(original.stack.env)).filter(
      ([name]) => !leadsElsewhere.test(name) && !ours.has(name),
    ),
  );
};

/**
 * The configuration of a stack with other settings for its accounts; settings without a value are
 * empty, which counts as missing: if they were left out, the project file's values would apply.
 *
 * @param settings by full key, such as `conversation:baseUrl`
 */
export const configWith = (
  original: ProfileSources,
  settings: Readonly<Record<string, string>>,
): ReadonlyMap<string, ConfigEntry> => {
  const ours = new Set(settingsReaching(original).map(({ config }) => config));
  const none: ConfigEntry = { text: "", secret: false };
  const others = [...original.config].map(
    ([key, entry]) => [key, ours.has(key) ? none : entry] as const,
  );
  const given = Object.entries(settings).map(
    ([key, text]) => [key, { text, secret: false }] as const,
  );
  return new Map([...others, ...given]);
};

/**
 * A stack to which a program refers, reduced to what it needs: the outputs, secrets in plain text.
 */
export interface ReferencedStack {
  /** As in its URNs. */
  readonly project: string;
  readonly stack: string;
  /** The resource that represents the stack in its state. */
  readonly root: JsonObject;
}

const rootType = "pulumi:pulumi:Stack";

/** Project and name of the stack of a URN. */
const namesIn = (urn: string): readonly [project: string, stack: string] | undefined => {
  const [, stack, project] = /^urn:pulumi:(.+?)::(.+?)::/.exec(urn) ?? [];
  return stack && project ? [project, stack] : undefined;
};

/**
 * The stacks to which a program referred in the run that made this state, under the names that it
 * uses.
 */
export const stackReferencesIn = ({ deployment }: StackExport): readonly string[] => [
  ...new Set(
    (deployment.resources ?? [])
      .filter(({ type }) => type === "pulumi:pulumi:StackReference")
      .flatMap(({ inputs }) => openedValues(inputs).name ?? [])
      .filter((name) => typeof name === "string"),
  ),
];

/** The stack that Pulumi reports as missing in the copy's backend. */
export const unknownStackIn = (messages: readonly string[]): string | undefined =>
  messages.flatMap((message) => /unknown stack "([^"]+)"/.exec(message)?.[1] ?? [])[0];

/**
 * Reads a stack beside the one that is rehearsed.
 *
 * @returns the stack, or why it could not be read; undefined for the rehearsed stack itself, which
 * exists already
 */
export const readReferenced = async (
  { place, names }: OpenStack,
  name: string,
): Promise<ReferencedStack | { readonly problem: string } | undefined> => {
  try {
    const { deployment } = await exportStack({ ...place, stack: name }, "clear");
    const root = deployment.resources?.find(({ type }) => type === rootType);
    const [project, stack] = namesIn(root?.urn ?? "") ?? [];
    if (!root || !project || !stack) return { problem: `The stack ${name} has no outputs yet.` };
    const isOwn = project === names.project && stack === names.stack;
    return isOwn ? undefined : { project, stack, root };
  } catch (error) {
    return { problem: `Cannot read the outputs of the stack ${name}: ${messageOf(error)}` };
  }
};

/** Where the ownership of an object stands in a state: in a resource, or in the plugin's provider. */
const ownershipOf = ({ urn, owner }: Holding): JsonObject | undefined => {
  if (owner === undefined) return undefined;
  const { project, stack, type } = urnParts(urn);
  const { ownership } = ownerParts(owner);
  const of = (token: string) =>
    `urn:pulumi:${stack}::${project}::${token}::${hash("sha1", ownership)}`;
  if (tokenParts(type)?.door === "dynamic") {
    const token = typeToken(ownershipKind);
    return { urn: of(token), custom: true, id: ownership, type: token };
  }
  const provider = { urn: of(providerToken), custom: true, id: "copied", type: providerToken };
  return { ...provider, inputs: { ownership } };
};

const copiedHoldings = (holdings: readonly Holding[]): readonly JsonObject[] => {
  const ownerships = holdings.map(ownershipOf).filter((made) => made !== undefined);
  const resources = holdings.map((held): JsonObject => {
    const { urn, id, owner, serial } = held;
    const made = ownershipOf(held);
    const { type } = urnParts(urn);
    return {
      ...{ urn, custom: true, id, type },
      ...(made?.type === providerToken ? { provider: `${made.urn}::${made.id}` } : {}),
      inputs: owner ? { owner } : {},
      outputs: { ...(owner ? { owner } : {}), ...(serial ? { serial } : {}) },
    };
  });
  const once = new Map(ownerships.map((each): [unknown, JsonObject] => [each.urn, each]));
  return [...once.values(), ...resources];
};

/** A stack in a file backend: its state is in `latest`. */
const writeCheckpoint = (
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

/** A resource as a component, which has no provider. */
const asComponent = ({ id: _, provider: __, ...resource }: JsonObject): JsonObject => ({
  ...resource,
  custom: false,
});

/** Changes the resources of a stack in a file backend. */
const changeResources = (file: string, change: (resource: JsonObject) => JsonObject): void => {
  const document = jsonIn(readFileSync(file, "utf8"));
  const { checkpoint } = isObject(document) ? document : {};
  const { latest } = isObject(checkpoint) ? checkpoint : {};
  if (!isObject(document) || !isObject(checkpoint) || !isObject(latest)) return;
  const { resources } = latest;
  if (!Array.isArray(resources)) return;
  const changed = resources.map((each: unknown) => (isObject(each) ? change(each) : each));
  const after = { ...checkpoint, latest: { ...latest, resources: changed } };
  writeFileSync(file, JSON.stringify({ ...document, checkpoint: after }), { mode: 0o600 });
};

/** A state as it is written: secrets encrypted with the copy's passphrase. */
const sealedState = (deployment: JsonObject, { encrypt, salt }: PassphraseCrypter): JsonObject => {
  const sealed = encryptedValue(deployment, encrypt);
  return {
    // Pulumi warns if a state names no Pulumi version.
    manifest: { time: new Date().toISOString(), magic: "", version: "" },
    ...(isObject(sealed) ? sealed : {}),
    secrets_providers: { type: "passphrase", state: { salt } },
  };
};

/**
 * Puts a stack beside the copied one, with nothing but the objects that it holds, as their owner
 * decides what a run may do with them, and its outputs, if the program refers to it.
 */
const copyOther = (
  backend: string,
  names: readonly [project: string, stack: string],
  held: readonly Holding[],
  root: JsonObject | undefined,
  crypter: PassphraseCrypter,
): void => {
  const resources = [...(root ? [root] : []), ...copiedHoldings(held)];
  writeCheckpoint(backend, names, 3, sealedState({ resources }, crypter));
};

/**
 * A stack in a private folder, with its own backend, passphrase, and settings; the program stays
 * where it is.
 */
export interface CopiedStack {
  /** Where engine events are written. */
  readonly eventFile: string;
  /** Runs Pulumi on the copy, in the folder of the program. */
  readonly pulumi: (args: readonly string[]) => Promise<Ended>;
  /** Puts a stack beside it to which the program refers. */
  readonly addStack: (referenced: ReferencedStack) => void;
  /**
   * Makes the copy's deletion of these resources call nobody, as that of a component. Their places
   * in the order of deletions stay.
   */
  readonly detach: (urns: readonly string[]) => void;
  /** Whether a run has asked whether it is a dry run and got the answer that it is. */
  readonly hasSeenDryRun: () => boolean;
  /** The current content of its state. */
  readonly state: () => StackState;
  /** Other packages whose providers its last run started, such as `aws`. */
  readonly otherPackages: () => readonly string[];
  /** Removes the folder with its content. */
  readonly remove: () => void;
}

interface CopyOptions {
  /**
   * Variables that point every profile at its emulator; all other settings of these profiles are
   * removed.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** The run calls no other. */
  readonly addresses: EmulatedAddresses;
  /** The same as entries of the configuration. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether the program gets the answer that this is no dry run, as in a real update. */
  readonly runEffects: boolean;
  readonly signal: AbortSignal;
}

/** The paths in the folder of a copied stack. */
const placesIn = (folder: string) => ({
  backend: join(folder, "backend"),
  config: join(folder, "stack.yaml"),
  events: join(folder, "events.json"),
  cache: join(folder, "cache"),
  dryRun: join(folder, "dry-run"),
});

/** Makes the program see a dry run, whatever Pulumi does. */
const dryRunEnvironment = (nodeOptions: string, seenFile: string) => ({
  NODE_OPTIONS: preloading(join(__dirname, "dry-run.js"), nodeOptions),
  [dryRunVariable]: seenFile,
});

const environmentOf = (
  original: OriginalStack,
  { variables, addresses, runEffects }: CopyOptions,
  { backend, cache, dryRun }: ReturnType<typeof placesIn>,
  { passphrase }: PassphraseCrypter,
): NodeJS.ProcessEnv => {
  const { env } = original.stack;
  const frugal = frugalRuns(env);
  const direct = ["127.0.0.1", env.NO_PROXY ?? env.no_proxy].filter(Boolean).join(",");
  return {
    ...withoutWaysOut(original),
    ...frugal,
    ...(runEffects ? {} : dryRunEnvironment(frugal.NODE_OPTIONS, dryRun)),
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
    // Without it the CLI does not accept --event-log.
    PULUMI_DEBUG_COMMANDS: "true",
    XDG_CACHE_HOME: cache,
    // Later runs reuse what the first one compiled.
    NODE_COMPILE_CACHE: join(cache, "node"),
    NO_PROXY: direct,
    no_proxy: direct,
    ...variables,
    [addressesVariable]: JSON.stringify(addresses),
  };
};

/** The configuration with all secrets encrypted anew. Every JSON document is a YAML document, too. */
const configText = (
  original: OriginalStack,
  { settings }: CopyOptions,
  crypter: PassphraseCrypter,
): string =>
  JSON.stringify({
    encryptionsalt: crypter.salt,
    config: Object.fromEntries(
      [...configWith(original, settings)].map(([key, { text = "", secret }]) => [
        key,
        secret ? { secure: crypter.encrypt(text) } : text,
      ]),
    ),
  });

const providerType = "pulumi:providers:";
/** They run the resources of this package: its plugin, and what runs all dynamic resources. */
const ownProviders: readonly string[] = [providerToken, `${providerType}pulumi-nodejs`];

const packagesIn = (state: StackExport | undefined): readonly string[] => {
  const types = resourcesOf(state).map(({ type }) => type);
  const others = types.filter(
    (type) => type.startsWith(providerType) && !ownProviders.includes(type),
  );
  return [...new Set(others.map((type) => type.slice(providerType.length)))];
};

/**
 * Copies a stack into a folder that only this user can read. It is removed by `remove` and at the
 * end of this process; after SIGKILL, by the next copy.
 */
export const copyStack = async (
  original: OriginalStack,
  options: CopyOptions,
): Promise<CopiedStack> => {
  const crypter = await createCrypter();
  const { folder, remove } = privateFolder("pulumi-conversation-rehearsal-");
  const places = placesIn(folder);
  for (const path of [places.backend, places.cache]) mkdirSync(path, { mode: 0o700 });
  const { document, states, stack } = original;
  writeCheckpoint(
    places.backend,
    [stack.names.project, stack.names.stack],
    document.version,
    sealedState(document.deployment, crypter),
  );
  const others = Map.groupBy(
    states.holdings.filter(({ own }) => !own),
    ({ urn }) => namesIn(urn)?.join("/"),
  );
  for (const held of others.values()) {
    const names = namesIn(held[0]?.urn ?? "");
    if (names) copyOther(places.backend, names, held, undefined, crypter);
  }
  writeFileSync(places.config, configText(original, options, crypter), { mode: 0o600 });
  const { place, names } = stack;
  const env = environmentOf(original, options, places, crypter);
  const cwd = resolve(place.folder, stack.env.PULUMI_OPTION_CWD ?? ".");
  const stackFile = join(places.backend, ".pulumi", "stacks", names.project, `${names.stack}.json`);
  return {
    eventFile: places.events,
    pulumi: (args) =>
      runCommand(
        place.command,
        [...args, "--stack", names.stack, "--config-file", places.config, "--non-interactive"],
        { cwd, stops: pulumiStops, signal: options.signal, env },
      ),
    addStack: ({ project, stack: name, root }) =>
      copyOther(
        places.backend,
        [project, name],
        others.get(`${project}/${name}`) ?? [],
        root,
        crypter,
      ),
    detach: (urns) => {
      const detached = new Set<unknown>(urns);
      changeResources(stackFile, (each) => (detached.has(each.urn) ? asComponent(each) : each));
    },
    hasSeenDryRun: () => existsSync(places.dryRun),
    state: () => {
      const kept = checkpointIn(readFileSync(stackFile, "utf8"));
      return kept ? stackStateOf(kept, true) : { holdings: [], lookUps: [], pending: [] };
    },
    otherPackages: () => packagesIn(checkpointIn(readFileSync(stackFile, "utf8"))),
    remove,
  };
};
