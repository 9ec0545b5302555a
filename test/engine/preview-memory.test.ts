import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { previewMemory } from "../../provider/engine/foreseen-calls.js";
import { displayOfThisRun } from "../../provider/engine/status-line.js";
import { temporaryFolder } from "../cli/temporary-folder.js";

const cacheIn = (): { readonly XDG_CACHE_HOME: string } => ({ XDG_CACHE_HOME: temporaryFolder() });
const up = { pid: 77, args: ["pulumi", "up", "--yes"] };
const written = () => new Promise(setImmediate);
const filesIn = (cache: string): readonly string[] =>
  readdirSync(cache, { recursive: true, encoding: "utf8" }).filter((name) => /\.json$/.test(name));

test("the run of the same command gets what its preview has foreseen, once", async () => {
  const env = cacheIn();
  const preview = previewMemory(up, env);
  expect(preview.foreseen).toEqual({});
  preview.keep({ " POST /channels": 1 });
  preview.keep({ " POST /channels": 2 });
  await written();
  expect(previewMemory({ ...up, pid: 78 }, env).foreseen).toEqual({});
  expect(previewMemory(up, env).foreseen).toEqual({ " POST /channels": 2 });
  expect(previewMemory(up, env).foreseen).toEqual({});
});

test("only the user can read the file, and files of ended commands are removed", async () => {
  const env = cacheIn();
  const preview = previewMemory(up, env);
  preview.keep({ x: 1 });
  await written();
  const [name = ""] = filesIn(env.XDG_CACHE_HOME);
  const path = join(env.XDG_CACHE_HOME, name);
  expect(statSync(path).mode & 0o077).toBe(0);
  utimesSync(path, 0, 0);
  previewMemory({ ...up, pid: 5 }, env);
  expect(filesIn(env.XDG_CACHE_HOME)).toEqual([]);
});

test.each([
  ["pulumi", "preview"],
  ["pulumi", "up", "--skip-preview"],
  ["pulumi", "destroy"],
])("%s %s %s keeps nothing", async (...args) => {
  const env = cacheIn();
  previewMemory({ pid: 1, args }, env).keep({ x: 1 });
  await written();
  expect(filesIn(env.XDG_CACHE_HOME)).toEqual([]);
});

test("a file that was spoiled counts as none", async () => {
  const env = cacheIn();
  previewMemory(up, env).keep({ x: 1 });
  await written();
  const [name = ""] = filesIn(env.XDG_CACHE_HOME);
  writeFileSync(join(env.XDG_CACHE_HOME, name), "{");
  expect(previewMemory(up, env).foreseen).toEqual({});
});

const cli = { pid: 1, parent: 0, exe: "pulumi", folder: "/", args: ["pulumi", "up"], env: {} };

test.each([
  ["a terminal", { isTerminal: true }, { isLive: true, everyMs: 1000 }],
  ["a pipe", { isTerminal: false }, { isLive: false, everyMs: 30_000 }],
  ["a list of changes", { isTerminal: true, args: ["pulumi", "up", "--diff"] }, { isLive: false }],
  ["a terminal of a pipeline", { isTerminal: true, env: { CI: "true" } }, { isLive: false }],
  [
    "--non-interactive",
    { isTerminal: true, args: ["pulumi", "up", "--non-interactive"] },
    { isLive: false },
  ],
])("%s is shown what suits it", (_, facts, display) => {
  expect(displayOfThisRun({ ...cli, ...facts })).toMatchObject(display);
});
