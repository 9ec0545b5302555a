import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

/** A Chromium that comes as an npm package, for machines without a browser. */
const packaged = { name: "@sparticuz/chromium", version: "153.0.0" };

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const installed = (): readonly string[] => {
  const given = process.env.PULUMI_CONVERSATION_TEST_BROWSER;
  if (given) return [given];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, chromium.executablePath()].filter((path) => existsSync(path));
};

const cacheFolder = (): string =>
  join(
    process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
    "pulumi-conversation",
    `chromium-${packaged.version}`,
  );

/** Unpacks the browser, and the libraries that a bare machine lacks. */
const unpack = `
  const { default: packed, inflate } = await import("${packaged.name}");
  const { join } = await import("node:path");
  const bin = join(process.cwd(), "node_modules/${packaged.name}/bin");
  await inflate(join(bin, "al2023.tar.br"));
  console.log(await packed.executablePath(bin));
`;

const run = promisify(execFile);

const install = async (folder: string): Promise<void> => {
  const options = { cwd: folder, timeout: 180_000, env: { ...process.env, TMPDIR: folder } };
  const quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts"];
  const what = `${packaged.name}@${packaged.version}`;
  await run("npm", ["install", "--prefix", folder, ...quiet, what], options);
  await run(process.execPath, ["--input-type=module", "-e", unpack], options);
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
};

/** The path of the packaged browser, in the cache of this user; it is fetched once. */
const fetched = async (): Promise<string> => {
  const folder = cacheFolder();
  const path = join(folder, "chromium");
  if (existsSync(path)) return path;
  mkdirSync(dirname(folder), { recursive: true });
  // Whole or not at all, also where several processes begin at once.
  const draft = mkdtempSync(`${folder}-`);
  try {
    await install(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(path)) throw error;
  }
  return path;
};

const launch = (executablePath: string, env: NodeJS.ProcessEnv = process.env): Promise<Browser> =>
  chromium.launch({
    executablePath,
    timeout: 120_000,
    // A container gives the browser no sandbox of its own, and little shared memory.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  });

/**
 * A browser to test with: Chromium of this machine, else one from the npm registry.
 *
 * @returns undefined where none can be had; why, is said on the error output
 */
const startBrowser = async (): Promise<Browser | undefined> => {
  const failures: string[] = [];
  const note = (error: unknown): undefined => void failures.push(String(error).slice(0, 300));
  for (const path of installed()) {
    const browser = await launch(path).catch(note);
    if (browser) return browser;
  }
  const path = await fetched().catch(note);
  const libraries = { ...process.env, LD_LIBRARY_PATH: join(cacheFolder(), "al2023", "lib") };
  const browser =
    path && ((await launch(path).catch(note)) ?? (await launch(path, libraries).catch(note)));
  if (browser) return browser;
  console.error(
    `No browser can be had, so the page is not tested in one. Install Chromium, or name one in PULUMI_CONVERSATION_TEST_BROWSER.\n${failures.join("\n")}`,
  );
  return undefined;
};

/**
 * Tests of a file in one browser, which starts with the first and ends with the last. They are
 * skipped, with a word on the error output, where none can be had.
 */
export const browserTests = () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return (name: string, work: (started: Browser) => Promise<void>): void =>
    test(name, async ({ skip }) => {
      if (!browser) return skip("no browser can be had");
      await work(browser);
    });
};
