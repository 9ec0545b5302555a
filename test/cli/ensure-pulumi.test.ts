import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensurePulumi, release, type Way } from "../../cli/get-pulumi/get-pulumi.js";
import { goEnvironment } from "../../cli/get-pulumi/go-modules.js";
import { tryLock } from "../../cli/pulumi/own-folders.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { fakePulumi, temporaryFolder } from "../support/temporary-folder.js";

const quiet = progressOn({ write: () => {} });

const making: Way = {
  origin: "Go modules",
  get: async (root) => {
    fakePulumi(join(root, "bin"), release.version);
    return undefined;
  },
};

const refusing = (reason: string): Way => ({
  origin: "official installer",
  get: async () => reason,
});

const never: Way = { origin: "Go modules", get: () => Promise.reject(new Error("not wanted")) };

const environment = (path = "/nowhere") => {
  const cache = temporaryFolder();
  const folder = join(cache, "pulumi-conversation", "pulumi");
  return { folder, env: { PATH: `${path}:/bin:/usr/bin`, XDG_CACHE_HOME: cache } };
};

/** What a folder holds, but for the empty files of locks that nobody holds. */
const madeIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => {
    const unlock = name.endsWith(".lock") ? tryLock(join(folder, name)) : undefined;
    unlock?.();
    return unlock === undefined;
  });

test("the CLI on PATH comes first", async () => {
  const bin = temporaryFolder();
  fakePulumi(bin, "3.300.0");
  const { env, folder } = environment(bin);
  const cli = await ensurePulumi({ progress: quiet, env, ways: [never] });
  expect(cli).toMatchObject({ bin, version: "3.300.0", origin: "PATH" });
  expect(existsSync(folder)).toBe(false);
});

test("an old CLI on PATH is passed over for the cache", async () => {
  const bin = temporaryFolder();
  fakePulumi(bin, "3.200.0");
  const { env, folder } = environment(bin);
  fakePulumi(join(folder, release.version, "bin"), release.version);
  const cli = await ensurePulumi({ progress: quiet, env, ways: [never] });
  expect(cli).toMatchObject({ origin: "cache", bin: join(folder, release.version, "bin") });
});

test("a missing CLI is made once and kept", async () => {
  const { env, folder } = environment();
  const first = await ensurePulumi({
    progress: quiet,
    env,
    ways: [refusing("no network"), making],
  });
  expect(first.origin).toBe("Go modules");
  expect(madeIn(folder)).toEqual([release.version]);
  const second = await ensurePulumi({ progress: quiet, env, ways: [never] });
  expect(second).toEqual({ ...first, origin: "cache" });
});

test("what fetches a CLI sees no secret of an account or a stack", async () => {
  const { env } = environment();
  const secrets = {
    CONVERSATION_CLIENT_SECRET: "canary-secret",
    CONVERSATION_STAGING_CLIENT_SECRET: "canary-secret",
    PULUMI_ACCESS_TOKEN: "canary-secret",
    PULUMI_CONFIG_PASSPHRASE: "canary-secret",
  };
  let seen: NodeJS.ProcessEnv = secrets;
  const looking: Way = {
    origin: "Go modules",
    get: (root, options) => {
      seen = options.env;
      return making.get(root, options);
    },
  };
  await ensurePulumi({ progress: quiet, env: { ...env, ...secrets }, ways: [looking] });
  expect(seen).toEqual(env);
});

test("a broken cache is made anew", async () => {
  const { env, folder } = environment();
  const command = fakePulumi(join(folder, release.version, "bin"), release.version);
  writeFileSync(command, "not a program");
  const cli = await ensurePulumi({ progress: quiet, env, ways: [making] });
  expect(cli.origin).toBe("Go modules");
});

test("where no way works, the message names every way and what to do", async () => {
  const { env, folder } = environment();
  const attempt = ensurePulumi({ progress: quiet, env, ways: [refusing("no network")] });
  await expect(attempt).rejects.toThrow(
    /PATH: no pulumi[\s\S]*installer: no network[\s\S]*install Go 1\.26/,
  );
  expect(madeIn(folder)).toEqual([]);
});

test("an interruption leaves no half-made CLI, and nothing locked", async () => {
  const { env, folder } = environment();
  const controller = new AbortController();
  const interrupting: Way = {
    origin: "Go modules",
    get: async (root, { signal }) => {
      fakePulumi(join(root, "bin"), release.version);
      controller.abort();
      return signal?.aborted ? "aborted" : undefined;
    },
  };
  const attempt = ensurePulumi({
    progress: quiet,
    env,
    signal: controller.signal,
    ways: [interrupting],
  });
  await expect(attempt).rejects.toMatchObject({ exitCode: 130 });
  expect(madeIn(folder)).toEqual([]);
});

test("all that Go keeps while it builds lies in the folder that goes with the build", () => {
  const own = {
    GOCACHE: "/home/ann/go-cache",
    GOMODCACHE: "/home/ann/go/mod",
    GOPATH: "/home/ann/go",
  };
  const env = goEnvironment("/cache/build", {
    ...own,
    HOME: "/home/ann",
    GOPROXY: "https://go.example",
  });
  for (const name of ["GOCACHE", "GOMODCACHE", "GOPATH", "GOTMPDIR"])
    expect(env[name]).toMatch(/^\/cache\/build(\/|$)/);
  expect(env.GOPROXY).toBe("https://go.example");
});

test("two at once make it once", async () => {
  const { env } = environment();
  let made = 0;
  const counted: Way = {
    origin: "Go modules",
    get: (...args) => {
      made += 1;
      return making.get(...args);
    },
  };
  const both = [1, 2].map(() => ensurePulumi({ progress: quiet, env, ways: [counted] }));
  expect((await Promise.all(both)).map(({ version }) => version)).toEqual([
    release.version,
    release.version,
  ]);
  expect(made).toBe(1);
});
