import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject } from "../../../provider/kernel/json.js";
import { type StackState, stateIn } from "../../../provider/stacks/stack-states.js";
import { privateFolder } from "../../process/private-folder.js";
import { type Ended, runCommand, type Stops } from "../../process/run-command.js";
import { frugalRuns, preloading } from "../../pulumi-cli/pulumi-cli.js";
import type { ConfigEntry } from "../../pulumi-cli/stack-config.js";
import { configWith, withoutWaysOut } from "./copied-settings.js";
import { dryRunVariable } from "./dry-run.js";
import type { OriginalStack } from "./original-stack.js";
import { copyHoldings, copyReferenced, sealedState, writeCheckpoint } from "./other-stacks.js";
import { createCrypter, type PassphraseCrypter } from "./passphrase-crypter.js";
import type { ReferencedStack } from "./referenced-stacks.js";

/** A stack in a private folder: own backend, own passphrase, own settings; the program stays where it is. */
export interface CopiedStack {
  /** Where engine events are written. */
  readonly eventFile: string;
  /** Runs Pulumi on the copy, in the folder of the program. */
  readonly pulumi: (args: readonly string[]) => Promise<Ended>;
  /** Puts a stack beside it to which the program refers. */
  readonly addStack: (referenced: ReferencedStack) => void;
  /** Whether a run has asked for a dry run and was answered that it is one. */
  readonly hasSeenDryRun: () => boolean;
  /** What its state holds now. */
  readonly state: () => StackState;
  /** Other packages whose providers its last run started, such as `aws`. */
  readonly otherPackages: () => readonly string[];
  /** Removes the folder and all that is in it. */
  readonly remove: () => void;
}

export interface CopyOptions {
  /** Variables that point every profile at its emulator; all other settings of these profiles are taken away. */
  readonly variables: Readonly<Record<string, string>>;
  /** The same as entries of the configuration. */
  readonly settings: Readonly<Record<string, string>>;
  /** Whether the program is answered that this is no dry run, as in a real update. */
  readonly runsEffects: boolean;
  readonly signal: AbortSignal;
}

/** Once: what is under way is finished. Twice: it is given up. */
const stops: Stops = [
  { signal: "SIGINT", afterMs: 0 },
  { signal: "SIGINT", afterMs: 1000 },
  { signal: "SIGKILL", afterMs: 4000 },
];

/** Where a copied stack keeps its things. */
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
  { variables, runsEffects }: CopyOptions,
  { backend, cache, dryRun }: ReturnType<typeof placesIn>,
  { passphrase }: PassphraseCrypter,
): NodeJS.ProcessEnv => {
  const { env } = original.stack;
  const frugal = frugalRuns(env);
  const direct = ["127.0.0.1", env.NO_PROXY ?? env.no_proxy].filter(Boolean).join(",");
  return {
    ...withoutWaysOut(original),
    ...frugal,
    ...(runsEffects ? {} : dryRunEnvironment(frugal.NODE_OPTIONS, dryRun)),
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
    // Without it the CLI does not take --event-log.
    PULUMI_DEBUG_COMMANDS: "true",
    XDG_CACHE_HOME: cache,
    NO_PROXY: direct,
    no_proxy: direct,
    ...variables,
  };
};

const configValue = (
  { text = "", secret }: ConfigEntry,
  { encrypt }: PassphraseCrypter,
): unknown => (secret ? { secure: encrypt(text) } : text);

/** The configuration with all secrets encrypted anew. Every JSON document is a YAML document, too. */
const configText = (
  original: OriginalStack,
  { settings }: CopyOptions,
  crypter: PassphraseCrypter,
): string =>
  JSON.stringify({
    encryptionsalt: crypter.salt,
    config: Object.fromEntries(
      [...configWith(original, settings)].map(([key, entry]) => [key, configValue(entry, crypter)]),
    ),
  });

const copyState = (
  { document, stack }: OriginalStack,
  backend: string,
  crypter: PassphraseCrypter,
): void => {
  const { project, stack: name } = stack.names;
  const { version, deployment } = document;
  writeCheckpoint(backend, [project, name], version, sealedState(deployment, crypter));
};

/** What a file backend keeps as the latest state of a stack. */
const latestIn = (file: string): unknown => {
  const document: unknown = JSON.parse(readFileSync(file, "utf8"));
  const checkpoint = isObject(document) ? document.checkpoint : undefined;
  return isObject(checkpoint) ? checkpoint.latest : undefined;
};

const providerType = "pulumi:providers:";
/** Runs all dynamic resources, those of this package among them. */
const dynamicProvider = `${providerType}pulumi-nodejs`;

const packagesIn = (latest: unknown): readonly string[] => {
  const resources = isObject(latest) && Array.isArray(latest.resources) ? latest.resources : [];
  const types = resources.flatMap((each: unknown) =>
    isObject(each) && typeof each.type === "string" ? [each.type] : [],
  );
  const others = types.filter((type) => type.startsWith(providerType) && type !== dynamicProvider);
  return [...new Set(others.map((type) => type.slice(providerType.length)))];
};

/**
 * Copies a stack into a folder that only this user can read. It is gone when `remove` is called, and
 * when this process ends; after SIGKILL with the next copy.
 */
export const copyStack = async (
  original: OriginalStack,
  options: CopyOptions,
): Promise<CopiedStack> => {
  const crypter = await createCrypter();
  const { folder, remove } = privateFolder("pulumi-conversation-rehearsal-");
  const places = placesIn(folder);
  for (const path of [places.backend, places.cache]) mkdirSync(path, { mode: 0o700 });
  copyState(original, places.backend, crypter);
  copyHoldings(original.states, places.backend, crypter);
  writeFileSync(places.config, configText(original, options, crypter), { mode: 0o600 });
  const { place, names } = original.stack;
  const env = environmentOf(original, options, places, crypter);
  const cwd = resolve(place.folder, original.stack.env.PULUMI_OPTION_CWD ?? ".");
  const stackFile = join(places.backend, ".pulumi", "stacks", names.project, `${names.stack}.json`);
  return {
    eventFile: places.events,
    pulumi: (args) =>
      runCommand(
        place.command,
        [...args, "--stack", names.stack, "--config-file", places.config, "--non-interactive"],
        {
          ...{ cwd, stops, signal: options.signal, env },
        },
      ),
    addStack: (referenced) => copyReferenced(referenced, original.states, places.backend, crypter),
    hasSeenDryRun: () => existsSync(places.dryRun),
    state: () =>
      stateIn(JSON.stringify({ deployment: latestIn(stackFile) }), true) ?? {
        ...{ holdings: [], lookUps: [], pending: [] },
      },
    otherPackages: () => packagesIn(latestIn(stackFile)),
    remove,
  };
};
