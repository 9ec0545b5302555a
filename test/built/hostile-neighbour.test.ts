import { chmodSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { type HostileEntry, hostileEntries, isRoot, plant } from "../support/hostile-neighbour.js";

const program = `
const { Channel } = require("pulumi-conversation");
new Channel("a", { type: "custom.a", displayName: "A", icon: "aVZC" });
`;

const prefixes = [
  "pulumi-conversation-rehearsal-",
  "conversation-proof-",
  "conversation-converter-",
  "conversation-test-",
];

const plain: readonly HostileEntry[] = ["changing", "a file of 10 GB"];
const foreign = hostileEntries.filter((entry) => isRoot || !plain.includes(entry));

/** Folders as those of the system for everybody, full of what a neighbour put there. */
const sharedPlaces = (project: EmulatedProject) => {
  const TMPDIR = mkdtempSync(join(project.folder, "t-"));
  chmodSync(TMPDIR, 0o1777);
  const left = prefixes.flatMap((prefix) =>
    foreign.map((entry, place) => plant(join(TMPDIR, `${prefix}${place}`), entry)),
  );
  const before = left.map(({ look }) => look());
  return {
    TMPDIR,
    expectUntouched: () => expect(left.map(({ look }) => look())).toEqual(before),
  };
};

const commands = (project: EmulatedProject): readonly (readonly [string[], number])[] => [
  [["rehearse"], 0],
  [["rehearse", "--from-empty"], 0],
  [["drift"], 0],
  [["import"], 1],
  [["export", "--out", join(project.folder, "exported"), "--prove"], 0],
  [["forecast"], 0],
  [["orphans", "--delete"], 0],
  [["repair", "--apply"], 0],
];

test("every command does its work beside a hostile neighbour, and touches nothing of that", async () => {
  const project = await emulatedProject(program);
  try {
    const { TMPDIR, expectUntouched } = sharedPlaces(project);
    await project.succeed(["up", "--yes", "--skip-preview"]);
    for (const [place, [args, expected]] of commands(project).entries()) {
      const XDG_CACHE_HOME = mkdtempSync(join(project.folder, "c-"));
      chmodSync(XDG_CACHE_HOME, 0o1777);
      const entry = foreign[place % foreign.length] ?? "fifo";
      const cache = plant(join(XDG_CACHE_HOME, "pulumi-conversation"), entry);
      const before = cache.look();
      const { code, output, errors } = await project.tool(args, { TMPDIR, XDG_CACHE_HOME });
      expect({ args, entry, code, said: code === expected ? "" : output + errors }).toEqual({
        ...{ args, entry, code: expected, said: "" },
      });
      expect(cache.look()).toEqual(before);
    }
    expectUntouched();
    const hers = foreign.flatMap((_, place) => prefixes.map((prefix) => `${prefix}${place}`));
    const ours = readdirSync(TMPDIR).filter((name) => !name.endsWith("-behind"));
    expect(ours.filter((name) => /conversation/.test(name)).sort()).toEqual(hers.sort());
  } finally {
    await project.close();
  }
});
