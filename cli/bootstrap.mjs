/**
 * Makes a clean clone ready and runs one compiled entry of it:
 *
 *   node cli/bootstrap.mjs [<entry under dist> [arguments…]]
 *
 * Installs the dependencies if package-lock.json changed, and a newer Node if the running one is too
 * old. With an entry, builds if a source changed, then runs the entry. Plain JavaScript for Node 18
 * and newer, with no dependency: it runs before anything is installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const modules = join(root, "node_modules");
const installedHash = join(modules, ".package-lock-hash");
const builtHash = join(root, "dist", ".source-hash");
const sourceFolders = ["provider", "sdk", "emulator", "cli", "bench", "test"];
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const windows = process.platform === "win32";
const LEAST_NODE = [22, 19];
const ERROR_LINES = 15;

/** A failure that the person at the terminal can act on: shown without a stack trace. */
class Failure extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

const read = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
const say = (text) => process.stderr.write(`${text}\n`);

/** Starts a command and resolves when it has ended. Signals reach it and all its children. */
const run = (command, args, options, onOutput = () => {}) =>
  new Promise((done, failed) => {
    const { group = false, ...rest } = options;
    const child = spawn(command, args, { cwd: root, detached: group && !windows, ...rest });
    let received;
    const pass = (signal) => {
      received = signal;
      try {
        process.kill(group && !windows ? -child.pid : child.pid, signal);
      } catch {
        // It has ended in the meantime.
      }
    };
    const atExit = () => pass("SIGTERM");
    const parent = process.ppid;
    const orphaned = setInterval(() => process.ppid !== parent && pass("SIGTERM"), 1000);
    for (const signal of signals) process.on(signal, pass);
    process.on("exit", atExit);
    const settle = () => {
      clearInterval(orphaned);
      process.off("exit", atExit);
      for (const signal of signals) process.off(signal, pass);
    };
    child.stdout?.on("data", onOutput);
    child.stderr?.on("data", onOutput);
    child.on("error", (error) => {
      settle();
      failed(error);
    });
    child.on("close", (code, signal) => {
      settle();
      done({ code, signal, received });
    });
  });

const exitCodeOf = ({ code, signal }) =>
  code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 0);

/**
 * The npm that started this script, or the one on PATH: never one in a folder that it may delete.
 */
const npm = (args) => {
  const { npm_execpath: script = "", npm_node_execpath: node } = process.env;
  const own = /[\\/]npm-cli\.c?js$/.test(script) && existsSync(script) && node && existsSync(node);
  return own ? [node, [script, ...args], {}] : ["npm", args, { shell: windows }];
};

/**
 * The first and the last lines of a long text: npm gives its reason first, a compiler its summary
 * last.
 */
const shortened = (text) => {
  const lines = text.trimEnd().split("\n");
  if (lines.length <= 2 * ERROR_LINES) return lines.join("\n");
  const left = lines.length - 2 * ERROR_LINES;
  return [...lines.slice(0, ERROR_LINES), `  … ${left} lines …`, ...lines.slice(-ERROR_LINES)].join(
    "\n",
  );
};

/** Variables that install scripts of packages must not see. */
const secret = /^(CONVERSATION_|PULUMI_(ACCESS_TOKEN$|CONFIG_PASSPHRASE))/;

/** Runs npm quietly; shows that it is alive, and its output if it fails. */
const npmStep = async (doing, args) => {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  let output = "";
  const [command, commandArgs, options] = npm(args);
  const live = process.stderr.isTTY;
  say(`${doing} …`);
  const sign = () => process.stderr.write(live ? `\r\x1b[K  ${seconds()} s` : ".");
  // The longest silence is 2 seconds.
  const alive = setInterval(sign, live ? 1000 : 1900);
  const atEnd = () => {
    clearInterval(alive);
    if (live) process.stderr.write("\r\x1b[K");
    else if (seconds() >= 2) process.stderr.write("\n");
  };
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !secret.test(name)),
  );
  const spawned = { ...options, env, group: true, stdio: ["ignore", "pipe", "pipe"] };
  const ended = await run(command, commandArgs, spawned, (chunk) => {
    output += chunk;
  })
    .catch((error) => {
      throw new Failure(
        `${doing}: npm did not start (${error.message}). Install npm, and then try again.`,
      );
    })
    .finally(atEnd);
  if (ended.received)
    throw new Failure(`${doing}: interrupted.`, exitCodeOf({ signal: ended.received }));
  if (ended.code !== 0) {
    throw new Failure(
      `${shortened(output)}\n\nnpm ${args.join(" ")} failed after ${seconds()} s; see its output above.`,
    );
  }
  say(`  done in ${seconds()} s`);
};

const hash = (...parts) => {
  const sum = createHash("sha256");
  for (const part of parts) sum.update(part).update("\0");
  return sum.digest("hex");
};

/** Whether somebody ran `npm install` by hand: npm's own record is then newer than the lock file. */
const installedByHand = () => {
  const record = join(modules, ".package-lock.json");
  if (!existsSync(record)) return false;
  return statSync(record).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
};

const lockFiles = ["package-lock.json", join("cli", "node", "package-lock.json")];
const installing = ["ci", "--no-progress", "--loglevel=error"];

const ensureDependencies = async () => {
  const wanted = hash(...lockFiles.map((name) => readFileSync(join(root, name))));
  const installed = read(installedHash);
  if (installed === wanted) return;
  // The target of a link belongs to another checkout: npm would empty it.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  if (installed !== undefined || !installedByHand()) {
    await npmStep("Installing the dependencies (about a minute the first time)", installing);
  }
  writeFileSync(installedHash, wanted);
};

const sourcesIn = (folder) => {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(path);
    return /((?<!\.generated)\.ts|^tsconfig\.json)$/.test(entry.name) ? [path] : [];
  });
};

/** One number for everything the build reads. Generated sources are omitted: the build writes them. */
const sourceHash = () => {
  const settings = ["package.json", "package-lock.json", "tsconfig.base.json"];
  const files = sourceFolders.flatMap((folder) => sourcesIn(join(root, folder))).sort();
  const all = [...settings.map((name) => join(root, name)), ...files];
  return hash(...all.flatMap((path) => [path.slice(root.length), readFileSync(path)]));
};

const ensureBuild = async () => {
  const wanted = sourceHash();
  if (read(builtHash) === wanted) return;
  rmSync(builtHash, { force: true });
  await npmStep("Building (about a minute)", ["run", "build", "--silent"]);
  writeFileSync(builtHash, wanted);
};

/**
 * Installs the Node of cli/node for a running one that is too old, as the first `node` in `.bin`:
 * there npm's scripts and npx find it. npm installs the package for this platform, of several.
 *
 * @returns the Node to run the entry on
 */
const ensureNode = async () => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNewEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  // The running one can be the former `.bin/node`, which npm has just removed.
  if (isNewEnough && existsSync(process.execPath)) return process.execPath;
  const program = windows ? "node.exe" : "node";
  const own = join(modules, ".bin", program);
  if (existsSync(own)) return own;
  const folder = join(root, "cli", "node");
  const platform = `${windows ? "win" : process.platform}-${process.arch}`;
  await npmStep("Installing Node.js for this checkout", [...installing, `--prefix=${folder}`]);
  const found = ["node", "node-bin"]
    .map((name) => join(folder, "node_modules", `${name}-${platform}`, "bin", program))
    .find((path) => spawnSync(path, ["--version"], { stdio: "ignore" }).status === 0);
  if (!found) {
    throw new Failure(
      `Cannot find a suitable version of Node.js: none of those in cli/node runs here, and the current one, ` +
        `${process.versions.node}, is older than ${LEAST_NODE.join(".")}. Install Node.js 24, and then try again.`,
    );
  }
  mkdirSync(dirname(own), { recursive: true });
  linkSync(found, own);
  return own;
};

const main = async ([entry, ...args]) => {
  await ensureDependencies();
  const node = await ensureNode();
  if (!entry) return 0;
  await ensureBuild();
  const target = join(root, "dist", entry);
  if (!existsSync(target))
    throw new Failure(`dist/${entry} does not exist: the build does not produce it.`, 2);
  const path = [dirname(node), join(modules, ".bin"), process.env.PATH ?? ""].join(delimiter);
  const env = { ...process.env, PATH: path };
  return exitCodeOf(await run(node, [target, ...args], { env, stdio: "inherit" }));
};

// The reader is gone, as after `| head`.
process.stderr.on("error", () => process.exit(1));

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    say(error instanceof Failure ? error.message : String(error.stack ?? error));
    process.exit(error.exitCode ?? 1);
  },
);
