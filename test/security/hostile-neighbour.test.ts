import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensurePulumi, release } from "../../cli/get-pulumi/get-pulumi.js";
import { whileAlone } from "../../cli/inventory/open-stack.js";
import { privateFolder } from "../../cli/pulumi/own-folders.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { bucketFilePath, fileBuckets } from "../../provider/pacing/bucket-store.js";
import {
  freeAfter,
  type HostileEntry,
  hostileEntries,
  isRoot,
  plant,
} from "../support/hostile-neighbour.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const longestMs = 5000;
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
