import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { buildGoPrograms, type GoProgram } from "../../cli/get-pulumi/go-modules.js";
import { type Progress, progressOn } from "../../cli/terminal/progress.js";
import { ensureLanguageHosts } from "../support/language-hosts.js";
import { fakePulumi, shellScript, temporaryFolder } from "../support/temporary-folder.js";

const quiet = progressOn({ write: () => {} });

/** Progress that notes what only shows that it is alive. */
const noting = (alive: string[]): Progress => ({
  ...quiet,
  alive: (doing) => {
    alive.push(doing);
    return quiet.alive(doing);
  },
});

/** A machine with a Pulumi of Go modules and, unless it has another, Python 3.12. */
const machine = (python: readonly string[] = ["echo 3.12"]) => {
  const [bin, cache] = [temporaryFolder(), temporaryFolder()];
  const command = fakePulumi(bin, "3.259.0");
  if (python.length > 0) shellScript(join(bin, "python3"), ...python);
  const env = { PATH: `${bin}:/nowhere`, XDG_CACHE_HOME: cache };
  const folder = join(cache, "pulumi-conversation");
  const made = (): readonly string[] =>
    ["language-hosts", "python-packages"].flatMap((name) =>
      existsSync(join(folder, name)) ? readdirSync(join(folder, name)) : [],
    );
  return { cli: { command, bin }, env, made };
};

const counted = () => {
  const count = { hosts: 0, packages: 0 };
  const ways = {
    hosts: async (root: string) => {
      count.hosts += 1;
      for (const language of ["yaml", "python"])
        shellScript(join(root, "bin", `pulumi-language-${language}`), "exit 0");
      return undefined;
    },
    packages: async (_python: string, root: string) => {
      count.packages += 1;
      mkdirSync(join(root, "packages"));
      return undefined;
    },
  };
  return { count, ways };
};

test("missing hosts and packages are made once and kept", async () => {
  const { cli, env, made } = machine();
  const { count, ways } = counted();
  const first = await ensureLanguageHosts(cli, { progress: quiet, env, ways });
  expect(first.yaml).toHaveProperty("path");
  expect(first.python).toMatchObject({ environment: { PIP_NO_INDEX: "1" } });
  expect(made()).toHaveLength(2);
  expect(await ensureLanguageHosts(cli, { progress: quiet, env, ways })).toEqual(first);
  expect(count).toEqual({ hosts: 1, packages: 1 });
});

test("a host is found on the PATH of its programs, before Pulumi", async () => {
  const { cli, env } = machine();
  const { yaml } = await ensureLanguageHosts(cli, { progress: quiet, env, ...counted() });
  if ("reason" in yaml) throw new Error(yaml.reason);
  const [first = "", second] = yaml.environment.PATH?.split(":") ?? [];
  expect([join(first, "pulumi-language-yaml"), second]).toEqual([yaml.path, cli.bin]);
});

test("the hosts of Pulumi's own release are used as they are", async () => {
  const { cli, env } = machine();
  for (const language of ["yaml", "python"])
    shellScript(join(cli.bin, `pulumi-language-${language}`), "exit 0");
  const { count, ways } = counted();
  const hosts = await ensureLanguageHosts(cli, { progress: quiet, env, ways });
  expect(hosts.yaml).toMatchObject({ path: join(cli.bin, "pulumi-language-yaml") });
  expect(hosts.python).toMatchObject({ path: join(cli.bin, "pulumi-language-python") });
  expect(count).toEqual({ hosts: 0, packages: 1 });
});

test("two at once make them once", async () => {
  const { cli, env } = machine();
  const { count, ways } = counted();
  await Promise.all([1, 2].map(() => ensureLanguageHosts(cli, { progress: quiet, env, ways })));
  expect(count).toEqual({ hosts: 1, packages: 1 });
});

test("what cannot be built is a reason, and nothing half-made is kept", async () => {
  const { cli, env, made } = machine();
  const ways = { ...counted().ways, hosts: async () => "Go is not installed" };
  const { yaml, python } = await ensureLanguageHosts(cli, { progress: quiet, env, ways });
  expect([yaml, python]).toEqual([
    { reason: "Go is not installed" },
    { reason: "Go is not installed" },
  ]);
  expect(made()).toEqual([expect.stringContaining("pulumi-3.259.0-python-3.12")]);
});

test("a full disk is a reason, too", async () => {
  const { cli, env, made } = machine();
  const ways = {
    ...counted().ways,
    hosts: async (root: string) => {
      writeFileSync(join(root, "bin", "half"), "");
      throw new Error("ENOSPC: no space left on device, write");
    },
  };
  const { yaml } = await ensureLanguageHosts(cli, { progress: quiet, env, ways });
  expect(yaml).toEqual({ reason: expect.stringContaining("no space left on device") });
  expect(made()).toHaveLength(1);
});

test.each([
  ["no Python", [], /no python3 on PATH/],
  ["an old one", ["echo 3.9"], /3\.9, older than 3\.10/],
  ["one without venv", ["echo No module named ensurepip >&2; exit 1"], /No module named ensurepip/],
])("with %s there are programs in YAML alone", async (_which, python, reason) => {
  const { cli, env } = machine(python);
  const { count, ways } = counted();
  const hosts = await ensureLanguageHosts(cli, { progress: quiet, env, ways });
  expect(hosts.yaml).toHaveProperty("path");
  expect(hosts.python).toEqual({ reason: expect.stringMatching(reason) });
  expect(count.packages).toBe(0);
});

test("an interruption ends it and leaves nothing; what a killed run left goes with the next one", async () => {
  const { cli, env, made } = machine();
  const controller = new AbortController();
  const { ways } = counted();
  const interrupting = {
    ...ways,
    hosts: async (root: string) => {
      controller.abort();
      return ways.hosts(root);
    },
  };
  const { signal } = controller;
  await expect(
    ensureLanguageHosts(cli, { progress: quiet, env, signal, ways: interrupting }),
  ).rejects.toMatchObject({ exitCode: 130 });
  expect(made()).toEqual([]);

  let draft = "";
  const notNow = async (root: string) => {
    draft = root;
    return "not now";
  };
  await ensureLanguageHosts(cli, { progress: quiet, env, ways: { ...ways, hosts: notNow } });
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, "half"), "");
  const watching = {
    ...ways,
    hosts: async (root: string) => (existsSync(join(root, "half")) ? "half" : ways.hosts(root)),
  };
  const shown: string[] = [];
  const { yaml } = await ensureLanguageHosts(cli, { progress: noting(shown), env, ways: watching });
  expect(yaml).toHaveProperty("path");
  expect(existsSync(draft)).toBe(false);
  expect(shown).toEqual(["Removing incomplete files from an earlier run"]);
});

/** A Go that says what it was asked, and writes something where its program is to be. */
const fakeGo = (bin: string): string => {
  const log = join(bin, "log");
  shellScript(
    join(bin, "go"),
    `PATH=/usr/bin:/bin`,
    `[ "$1" = version ] && { echo "go version go1.26.8 linux/amd64"; exit; }`,
    `[ "$1" = list ] && { echo some/package; exit; }`,
    `{ echo "$@"; cat go.mod; ls; } >> ${log}`,
    `mkdir -p "$GOMODCACHE/example.com/parts@v1.2.3/scripts"`,
    `echo script > "$GOMODCACHE/example.com/parts@v1.2.3/scripts/run"`,
    `while [ "$1" != -o ]; do shift; done; echo built > "$2"`,
  );
  return log;
};

test("a program of this project's own is built from published modules, with the script that it needs", async () => {
  const [bin, root, source] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const log = fakeGo(bin);
  mkdirSync(join(root, "bin"));
  writeFileSync(join(source, "main.go"), "package main");
  const program: GoProgram = {
    name: "host",
    modules: { "example.com/parts": "v1.2.3", "example.com/other": "v4.5.6" },
    package: { source },
    flags: ["-tags", "small"],
    beside: { module: "example.com/parts", file: "scripts/run" },
  };
  const means = { progress: quiet, signal: undefined, env: { PATH: bin }, note: "a minute" };
  expect(await buildGoPrograms([program], root, means)).toBeUndefined();
  const asked = readFileSync(log, "utf8");
  expect(asked).toContain("-tags small");
  expect(asked).toContain("\texample.com/parts v1.2.3\n\texample.com/other v4.5.6\n");
  expect(asked).toContain("main.go");
  expect(readdirSync(root)).toEqual(["bin"]);
  expect(readFileSync(join(root, "bin", "run"), "utf8")).toBe("script\n");
  expect(readFileSync(join(root, "bin", "host"), "utf8")).toBe("built\n");
});

/** A build whose compilation lasts until the file `compiled` exists, or it is ended. */
const compiling = (signal?: AbortSignal) => {
  const [bin, root] = [temporaryFolder(), temporaryFolder()];
  const compiled = join(bin, "compiled");
  shellScript(
    join(bin, "go"),
    "PATH=/usr/bin:/bin",
    `[ "$1" = version ] && { echo "go version go1.26.8 linux/amd64"; exit; }`,
    `[ "$1" = list ] && { echo some/package 1; exit; }`,
    "echo some/package",
    `until [ -e ${compiled} ]; do sleep 0.05; done`,
  );
  const program: GoProgram = { name: "host", modules: {}, package: "some/package", flags: [] };
  const begun = Promise.withResolvers<void>();
  const step = { ...quiet.step(""), detail: () => begun.resolve() };
  const alive: string[] = [];
  const progress = { ...noting(alive), step: () => step };
  const means = { progress, signal, env: { PATH: bin }, note: "a minute" };
  const built = buildGoPrograms([program], root, means);
  return { built, begun: begun.promise, compiled, alive, root };
};

test.for([
  [1, undefined],
  [3, "go build of host took too long:\n  some/package"],
] as const)("a compilation of %i hours: %s", async ([hours, reason]) => {
  vi.useFakeTimers({ toFake: ["setTimeout"], shouldAdvanceTime: true });
  try {
    const { built, begun, compiled, alive, root } = compiling();
    await begun;
    await vi.advanceTimersByTimeAsync(hours * 3_600_000);
    if (reason === undefined) writeFileSync(compiled, "");
    expect(await built).toBe(reason);
    expect(existsSync(join(root, "build"))).toBe(false);
    expect(alive).toEqual(["Removing files that only the build needed"]);
  } finally {
    vi.useRealTimers();
  }
});

test("an interrupted compilation ends at once, and leaves its files to whoever made the folder", async () => {
  const interruption = new AbortController();
  const { built, begun, alive, root } = compiling(interruption.signal);
  await begun;
  interruption.abort();
  expect(await built).toBe("go build of host failed:\n  some/package");
  expect(existsSync(join(root, "build"))).toBe(true);
  expect(alive).toEqual([]);
});
