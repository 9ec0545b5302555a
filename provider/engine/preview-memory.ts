import { lstatSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../kernel/json.js";
import { makeOwnFolder, readOwnFile, writeOwnFile } from "../kernel/own-files.js";
import { bucketFilePath } from "../pacing/file-buckets.js";
import { cliOfThisRun, type ProcessFacts } from "../stacks/pulumi-process.js";
import type { PreviewMemory } from "./foreseen-calls.js";

/** Preview and run are processes of their own; both run under the same command. */
type Cli = Pick<ProcessFacts, "args"> & { readonly pid: number };

const nothing: PreviewMemory = { foreseen: {}, keep: () => undefined };

/** A file of an ended command is of no use to anybody, in milliseconds. */
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

/** Written once for all checks that the engine asks for together. */
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
 * Where the preview of `pulumi up` leaves how many calls it has foreseen for the run that follows:
 * a file in the user's cache folder, named after the process of the command and removed when it is
 * read. Nothing where that process cannot be seen, or where the command makes no preview.
 */
export const previewMemory = (
  cli: Cli | undefined = cliOfThisRun(),
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
