import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { lockFolder, makeFolder } from "../../../cli/get-pulumi/cached-folder.js";
import { progressOn } from "../../../cli/terminal/progress.js";
import { lowPort } from "../../support/low-port.js";

const run = promisify(execFile);

/** What runs Redis: the program, and where its libraries are if not in the system. */
export interface RedisProgram {
  readonly command: string;
  readonly libraries?: string;
}

/** The server is a link to the checker of the tools package; the rest are its libraries. */
const packages = ["redis-server", "redis-tools", "liblzf1", "libjemalloc2", "libatomic1"];
const libraryFolders = ["lib", "usr/lib"];
const stepMs = 120_000;

const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pulumi-conversation", "redis");

const onPath = (): RedisProgram | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "redis-server"))
    .filter((command) => existsSync(command))
    .map((command) => ({ command }))[0];

const inCache = (folder: string): RedisProgram | undefined => {
  const command = join(folder, "usr/bin/redis-check-rdb");
  const server = join(folder, "usr/bin/redis-server");
  if (!existsSync(command) && !existsSync(server)) return undefined;
  const libraries = libraryFolders.flatMap((lib) => {
    const path = join(folder, lib);
    if (!existsSync(path)) return [];
    return [path, ...readdirSync(path).map((name) => join(path, name))];
  });
  return { command: server, libraries: libraries.join(":") };
};

const download = async (folder: string): Promise<void> => {
  const fetch = () => run("apt-get", ["download", ...packages], { cwd: folder, timeout: stepMs });
  try {
    await fetch();
  } catch {
    // The lists of packages are missing or old.
    await run("apt-get", ["update"], { timeout: stepMs });
    await fetch();
  }
};

/** Unpacks Debian's packages into a folder, beside the system. */
const unpack = async (folder: string): Promise<undefined> => {
  await download(folder);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".deb"))) {
    await run("dpkg", ["-x", join(folder, file), folder], { timeout: stepMs });
    rmSync(join(folder, file));
  }
};

/** Redis in the cache folder of the user: one process fetches it, the others wait. */
const fetched = async (): Promise<RedisProgram | undefined> => {
  const target = cacheFolder();
  const progress = progressOn({ write: () => undefined });
  const unlock = await lockFolder(target, { what: "Redis", progress });
  try {
    if (!inCache(target)) await makeFolder(target, unpack, progress);
    return inCache(target);
  } finally {
    unlock();
  }
};

/**
 * The Redis server of the machine, of the cache folder, or of Debian's packages.
 *
 * @throws Error that says what to install where there is none
 */
export const ensureRedisServer = async (): Promise<RedisProgram> => {
  const found = onPath() ?? inCache(cacheFolder());
  if (found) return found;
  let reason = "its packages hold no server";
  try {
    const program = await fetched();
    if (program) return program;
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  throw new Error(
    `The tests of shared rate limits need a Redis server. None is on PATH, and Debian's package could not be unpacked into ${cacheFolder()}: ${reason}. Install one, such as with: apt-get install redis-server`,
  );
};

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a Redis that keeps nothing, on a port of the loopback interface that it can have again. */
export const startRedis = async (
  given?: number,
  ...settings: readonly string[]
): Promise<RedisServer> => {
  const { command, libraries } = await ensureRedisServer();
  const port = given ?? (await lowPort());
  const folder = mkdtempSync(join(tmpdir(), "pulumi-conversation-redis-"));
  const options = [
    "--port",
    `${port}`,
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--dir",
    folder,
    ...settings,
  ];
  const child = spawn(command, options, {
    env: { ...process.env, ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: unknown): void => {
      output += String(chunk);
      if (output.includes("Ready to accept connections")) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`Redis did not start: ${output}`)));
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
