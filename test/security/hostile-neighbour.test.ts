import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensurePulumi, release } from "../../cli/get-pulumi/get-pulumi.js";
import { whileAlone } from "../../cli/inventory/open-stack.js";
import { privateFolder } from "../../cli/pulumi/own-folders.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { bucketFilePath, fileBuckets } from "../../provider/pacing/bucket-store.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The tests of some machines run as root: only there somebody else can be played. */
const isRoot = process.getuid?.() === 0;
const somebodyElse = 65_534;

const fifo = (path: string): void => {
  execFileSync("mkfifo", [path]);
};

const openFolder = (path: string): void => {
  mkdirSync(path);
  for (const name of ["owner", "buckets.sqlite", "x.json"]) fifo(join(path, name));
  chmodSync(path, 0o777);
};

/** Its other end is gone, as with a server that was killed. */
const socket = (path: string): void => {
  const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  try {
    execFileSync(process.execPath, ["-e", script], { stdio: "ignore" });
  } catch {
    // It ends by a signal.
  }
};

const ended = (child: ChildProcess) => void child.kill("SIGKILL");

/** Grows while it is read. */
const changing = (path: string): void => {
  writeFileSync(path, "{");
  const child = spawn("/bin/sh", ["-c", 'yes | head -c 50000000 >> "$0"', path]);
  onTestFinished(() => ended(child));
};

/** Gives something a new owner, with all that is in it. */
const give = (path: string): void => {
  if (lstatSync(path).isDirectory())
    for (const name of readdirSync(path)) lchownSync(join(path, name), somebodyElse, somebodyElse);
  lchownSync(path, somebodyElse, somebodyElse);
};

/** What a neighbour may put where a command looks for something by its name. */
const entries = {
  fifo,
  socket,
  changing,
  "a link to a file": (path: string) => {
    writeFileSync(`${path}-behind`, "behind");
    symlinkSync(`${path}-behind`, path);
  },
  "a link to a folder": (path: string) => {
    openFolder(`${path}-behind`);
    symlinkSync(`${path}-behind`, path);
  },
  "a link to itself": (path: string) => symlinkSync(path, path),
  "a link to nothing": (path: string) => symlinkSync(join(path, "nothing"), path),
  "a folder that is open to all": openFolder,
  "a file of 10 GB": (path: string) => {
    closeSync(openSync(path, "wx"));
    truncateSync(path, 10 * 1024 ** 3);
  },
} as const;

type HostileEntry = keyof typeof entries;
const hostileEntries = Object.keys(entries).filter((name): name is HostileEntry => name in entries);

const looks = (path: string): unknown => {
  const facts = lstatSync(path);
  return {
    ...{ path, ino: facts.ino, mode: facts.mode, uid: facts.uid },
    ...(facts.isSymbolicLink() ? { link: readlinkSync(path) } : {}),
    ...(facts.isDirectory()
      ? {
          holds: readdirSync(path)
            .sort()
            .map((name) => looks(join(path, name))),
        }
      : {}),
  };
};

/** Puts something hostile into a place; somebody else's where this process is root and it is so asked. */
const plant = (path: string, entry: HostileEntry, isForeign = isRoot) => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  entries[entry](path);
  const all = () =>
    readdirSync(dirname(path))
      .map((name) => join(dirname(path), name))
      .filter((each) => each === path || each === `${path}-behind`);
  if (isForeign) for (const each of all()) give(each);
  return { look: () => all().map(looks) };
};

/**
 * Frees, after this time, whoever waits for the other end of a pipe below a folder: so a test that
 * stands still in a synchronous call fails instead of standing still itself.
 */
const freeAfter = (folder: string, ms: number): void => {
  const script = `
    const { readdirSync, lstatSync, openSync, closeSync, constants } = require("node:fs");
    setTimeout(() => setInterval(() => {
      for (const name of readdirSync(process.argv[1], { recursive: true })) {
        const path = process.argv[1] + "/" + name;
        try { if (lstatSync(path).isFIFO()) closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK)); } catch {}
      }
    }, 500), ${ms});
    setTimeout(() => process.exit(), ${ms + 60_000});`;
  const child = spawn(process.execPath, ["-e", script, folder], { stdio: "ignore" });
  onTestFinished(() => ended(child));
};

const longestMs = 60_000;
const prefix = "pulumi-conversation-rehearsal-";
const stack = { project: "shop", stack: "prod" };

interface Shared {
  /** Where others may write, too. */
  readonly folder: string;
  readonly env: { readonly XDG_CACHE_HOME: string; readonly PATH: string };
}

/** Whoever looks for files by their names. */
const lookers = {
  privateFolder: ({ folder }: Shared) => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = folder;
    try {
      privateFolder(prefix).remove();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  },
  buckets: async ({ env }: Shared) => {
    const store = fileBuckets(bucketFilePath(env));
    try {
      await store.change("key", (_, at) => ({ at, dueMs: 0 }));
    } finally {
      await store.close();
    }
  },
  whileAlone: ({ env }: Shared) =>
    whileAlone({ names: stack, env, readBackend: async () => ({ text: "" }) }, async () => {}),
  pulumi: ({ env }: Shared) =>
    ensurePulumi({ progress: progressOn({ write: () => {} }), env, ways: [] }),
} as const;

type Looker = keyof typeof lookers;

/** The names that are looked for, from the shared folder, and by whom. */
const places: readonly (readonly [string, Looker])[] = [
  [`${prefix}x`, "privateFolder"],
  ["pulumi-conversation", "buckets"],
  ["pulumi-conversation", "whileAlone"],
  ["pulumi-conversation", "pulumi"],
  ["pulumi-conversation/buckets.sqlite", "buckets"],
  ["pulumi-conversation/buckets.sqlite-journal", "buckets"],
  [`pulumi-conversation/pulumi/${release.version}.lock`, "pulumi"],
];

const sharedFolder = (parent: string = temporaryFolder()): Shared => {
  const folder = mkdtempSync(join(parent, "shared-"));
  return { folder, env: { XDG_CACHE_HOME: folder, PATH: "/nowhere" } };
};

/** A plain file of this very user may be read and replaced where it is looked for. */
const plain: readonly HostileEntry[] = ["changing", "a file of 10 GB"];
const foreign = hostileEntries.filter((entry) => isRoot || !plain.includes(entry));

/** Ends in time, well or with a sentence. */
const ends = async (look: (shared: Shared) => unknown, shared: Shared): Promise<void> => {
  const start = performance.now();
  try {
    await look(shared);
  } catch (error) {
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /was not used|Could not|cannot be|File exists|EEXIST|ELOOP|ENOENT|ENOTDIR/,
      ),
    });
  }
  expect(performance.now() - start).toBeLessThan(longestMs);
};

test.each(foreign)(
  "nobody waits for, reads or changes what a neighbour put there: %s",
  async (entry) => {
    const parent = temporaryFolder();
    freeAfter(parent, longestMs);
    for (const [place, looker] of places) {
      const shared = sharedFolder(parent);
      const { look } = plant(join(shared.folder, place), entry);
      const before = look();
      await ends(lookers[looker], shared);
      expect({ place, looker, after: look() }).toEqual({ place, looker, after: before });
    }
  },
);
