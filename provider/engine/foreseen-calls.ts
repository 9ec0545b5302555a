import { lstatSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Definition } from "../definition/define.js";
import { makeOwnFolder, readOwnFile, writeOwnFile } from "../kernel/files.js";
import { isObject } from "../kernel/json.js";
import type { ForeseenAction, ForeseenResource } from "../lifecycle/run.js";
import { bucketFilePath } from "../pacing/shared-buckets.js";
import { type ProcessFacts, parentPulumi } from "../pulumi-cli/pulumi-queries.js";
import {
  type Endpoint,
  endpointName,
  endpointNames,
  type SetUpAction,
} from "../service/http/operations.js";

/** The calls of the lifecycle for an object, in order; a list serves all objects of a kind. */
const sequences = {
  create: ["create"],
  adopt: ["get", "update"],
  update: ["get", "update"],
  delete: ["delete"],
} as const satisfies Readonly<Record<ForeseenAction, readonly SetUpAction[]>>;

/** Passes the expected calls of a preview to the run that follows it. */
interface PreviewMemory {
  /** The calls that the preview of this run expected; empty if there was none. */
  readonly foreseen: Readonly<Record<string, number>>;
  keep(counts: Readonly<Record<string, number>>): void;
}

/**
 * The calls expected so far in a run, based on the engine's requests, the preview and, for a
 * destroy, the state. For display only; nothing may depend on them.
 */
export class ForeseenCalls {
  readonly #memory: () => PreviewMemory;
  readonly #times = new Map<string, number>();
  #opened: PreviewMemory | undefined;
  #isWhole = false;
  /** The owner of the first recorded resource; identifies the run's state. */
  owner: string | undefined;

  constructor(memory: () => PreviewMemory) {
    this.#memory = memory;
  }

  /**
   * Whether all of the run's calls are known, from its preview or from the state that it destroys.
   */
  get isWhole(): boolean {
    return this.#isWhole || Object.keys(this.#previewed.foreseen).length > 0;
  }

  get #previewed(): PreviewMemory {
    this.#opened ??= this.#memory();
    return this.#opened;
  }

  /** Returns the number of calls to an endpoint that are expected so far for the entire run. */
  times(endpoint: Endpoint, profile: string | undefined): number {
    const key = `${profile ?? ""} ${endpointName(endpoint)}`;
    return Math.max(this.#times.get(key) ?? 0, this.#previewed.foreseen[key] ?? 0);
  }

  /** Records the calls that an engine request leads to, except for a deletion. */
  note({ definition, properties: { owner, profile } }: ForeseenResource, action: ForeseenAction) {
    this.owner ??= owner;
    // The engine deletes without checking first: the state shows what will be deleted.
    if (action !== "delete") this.foresee(definition, profile, action);
  }

  foresee(definition: Definition, profile: string | undefined, action: ForeseenAction): void {
    for (const name of endpointNames(definition, sequences[action])) {
      const key = `${profile ?? ""} ${name}`;
      this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
    }
    this.#previewed.keep(Object.fromEntries(this.#times));
  }

  /** Records that all of the run's calls are now known. */
  complete(): void {
    this.#isWhole = true;
  }
}

/** Preview and run are separate processes; both run under the same command. */
type Cli = Pick<ProcessFacts, "args"> & { readonly pid: number };

const nothing: PreviewMemory = { foreseen: {}, keep: () => undefined };

/** A file is useless after its command has ended, in milliseconds. */
const longestMs = 3_600_000;

/** `pulumi up` and its other name. */
const upWords = ["up", "update"];

const withoutPreview = ["--skip-preview", "-f"];

/** Best effort: a file that cannot be read or written must not disturb the run. */
const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const removeOld = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const facts = lstatSync(path);
    if (facts.isFile() && Date.now() - facts.mtimeMs > longestMs) rmSync(path, { force: true });
  }
};

const countsIn = (text: string): Readonly<Record<string, number>> => {
  const parsed: unknown = JSON.parse(text);
  const entries = isObject(parsed) ? Object.entries(parsed) : [];
  return Object.fromEntries(
    entries.flatMap(([key, count]) => (typeof count === "number" ? [[key, count] as const] : [])),
  );
};

/** Writes once for all checks that the engine requests together. */
const keeper = (path: string): PreviewMemory["keep"] => {
  let latest: Readonly<Record<string, number>> | undefined;
  return (counts) => {
    const isDue = latest === undefined;
    latest = counts;
    if (!isDue) return;
    setImmediate(() => {
      attempt(() => writeOwnFile(path, JSON.stringify(latest)));
      latest = undefined;
    });
  };
};

/**
 * Returns the store through which the preview in `pulumi up` passes its expected calls to the run
 * that follows. The store is a file in the cache folder, named after the command's process and
 * removed after it is read. The store does nothing if that process is unknown, the command makes no
 * preview, or the folder cannot be created.
 */
export const previewMemory = (
  cli: Cli | undefined = parentPulumi(),
  environment: NodeJS.ProcessEnv = process.env,
): PreviewMemory => {
  const isUp = cli?.args.some((word) => upWords.includes(word));
  if (!cli || !isUp || cli.args.some((word) => withoutPreview.includes(word))) return nothing;
  const cache = dirname(bucketFilePath(environment));
  const folder = join(cache, "previews");
  const path = join(folder, `${cli.pid}.json`);
  const isMade = attempt(() => {
    for (const each of [cache, folder]) makeOwnFolder(each);
    return true;
  });
  if (!isMade) return nothing;
  const text = readOwnFile(path);
  if (text !== undefined) {
    attempt(() => rmSync(path, { force: true }));
    return { foreseen: attempt(() => countsIn(text)) ?? {}, keep: () => undefined };
  }
  attempt(() => removeOld(folder));
  return { foreseen: {}, keep: keeper(path) };
};
