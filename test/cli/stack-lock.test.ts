import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { backendFolder, lockReader } from "../../provider/pulumi-cli/pulumi-queries.js";
import { shellScript, temporaryFolder } from "./temporary-folder.js";

/** Asks a CLI that is logged in to a backend. */
const reader = (url: string, stacks: unknown = [], stack?: string) => {
  const folder = temporaryFolder();
  const command = shellScript(
    join(folder, "pulumi"),
    `case "$1" in whoami) echo '{"user":"me","url":"${url}"}';; *) echo '${JSON.stringify(stacks)}';; esac`,
  );
  const place = { command, folder, env: { PATH: process.env.PATH }, ...(stack ? { stack } : {}) };
  return lockReader(place, "shop", "prod");
};

const backend = (): string => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, ".pulumi", "stacks", "shop"), { recursive: true });
  return folder;
};

const lock = (folder: string, ...path: string[]): void => {
  const place = join(folder, ".pulumi", "locks", ...path);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "1.json"),
    '{"pid":7,"username":"me","hostname":"here","timestamp":"2026-01-01T10:00:00.5Z"}',
  );
};

test("the lock of a file backend is looked at anew each time, and told with who holds it", async () => {
  const folder = backend();
  const look = await reader(`file://${folder}`);
  expect(await look()).toEqual({ state: "free" });
  lock(folder, "organization", "shop", "prod");
  expect(await look()).toEqual({
    state: "locked",
    by: "me@here, process 7, since 2026-01-01T10:00:00Z",
  });
});

test("locks of other stacks, projects and backends are none of ours", async () => {
  const folder = backend();
  lock(folder, "organization", "shop", "dev");
  lock(folder, "organization", "site", "prod");
  expect(await (await reader(`file://${folder}`))()).toEqual({ state: "free" });
  lock(folder, "prod");
  expect(await (await reader(`file://${folder}`))()).toMatchObject({ state: "locked" });
});

test.each([
  [true, { state: "locked" }],
  [false, { state: "free" }],
])("Pulumi Cloud: update in progress %s", async (updateInProgress, expected) => {
  const stacks = [
    { name: "dev", current: false, updateInProgress: true },
    { name: "prod", current: true, updateInProgress },
  ];
  for (const stack of [undefined, "prod", "acme/shop/prod"])
    expect(await (await reader("https://api.pulumi.com", stacks, stack))()).toEqual(expected);
});

test("what cannot be seen is unknown, with the reason", async () => {
  expect(await (await reader("s3://states"))()).toEqual({
    state: "unknown",
    why: "the backend s3 does not show its locks",
  });
  expect(await (await reader("https://api.pulumi.com", []))()).toMatchObject({ state: "unknown" });
  const nowhere = join(temporaryFolder(), "none");
  expect(await (await reader(`file://${nowhere}`))()).toEqual({
    state: "unknown",
    why: `${nowhere} holds no state of Pulumi`,
  });
});

test.each([
  ["file:///var/states", "/var/states"],
  ["file:///var/states?no_tmp_dir=true", "/var/states"],
  ["file://~", "/home/me"],
  ["file://~/states", "/home/me/states"],
  ["file://./states", "/project/states"],
])("the folder of %s", (url, folder) => {
  expect(backendFolder(url, "/project", "/home/me")).toBe(folder);
});
