import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { shellScript } from "../support/temporary-folder.js";
import { toolLine, toolMain } from "../support/tool-process.js";

const root = join(__dirname, "..", "..");
const run = promisify(execFile);

let emulator: Emulator;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  emulator = await startEmulator();
  folder = mkdtempSync(join(tmpdir(), "conversation-new-"));
  mkdirSync(join(folder, "backend"));
  env = {
    ...process.env,
    PATH: [process.env.PULUMI_CONVERSATION_TEST_PULUMI, process.env.PATH].join(delimiter),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_CONFIG_PASSPHRASE: "test",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
});
afterAll(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What `npm install` would put there, from this checkout. */
const installed = (project: string): void => {
  const [from, to] = [join(root, "node_modules"), join(project, "node_modules")];
  mkdirSync(to);
  for (const name of readdirSync(from)) symlinkSync(join(from, name), join(to, name));
  symlinkSync(root, join(to, "pulumi-conversation"));
};

const inProject = async (project: string, command: string, ...args: readonly string[]) => {
  const settings = { cwd: project, env: { ...env, ...emulatorEnvironment(emulator) } };
  return (await run(command, args, settings)).stdout;
};

/** The commands that AGENTS.md names, in its order, as a shell runs them. */
const agentCommands = (project: string): readonly string[] =>
  (/```sh\n([\s\S]*?)```/.exec(readFileSync(join(project, "AGENTS.md"), "utf8"))?.[1] ?? "")
    .split("\n")
    .filter((line) => line !== "");

/** Programs that npm and npx would find. */
const shims = (): string => {
  const bin = join(folder, "bin");
  shellScript(join(bin, "npx"), 'exec "$@"');
  shellScript(join(bin, "pulumi-conversation"), `exec ${toolLine} "$@"`);
  return [bin, dirname(process.execPath), join(root, "node_modules", ".bin")].join(delimiter);
};

test("a project of init is checked, tested and applied without an edit", async () => {
  const project = join(folder, "web chat");
  const args = ["init", project, "--no-install", "--pipeline", "github", "--json"];
  const { stdout } = await run(process.execPath, [toolMain, ...args], { env });
  expect(JSON.parse(stdout)).toMatchObject({ name: "web-chat" });
  installed(project);
  await inProject(project, "pulumi", "stack", "init", "dev");
  const secret = ["config", "set", "callbackSecret", "only-for-tests", "--secret"];
  await inProject(project, "pulumi", ...secret);
  const commands = agentCommands(project);
  expect(commands.length).toBeGreaterThan(5);
  const path = `export PATH="${shims()}:$PATH" && `;
  let said = "";
  for (const line of commands) said += await inProject(project, "sh", "-c", path + line);
  expect(said).toContain("2 passed");
  expect(said).toMatch(/\+ 1\d created/);
  const settings = ["callbackHost=http://127.0.0.1:9", "smokeTest=true"];
  const plainly = settings.flatMap((setting) => ["--plaintext", setting]);
  await inProject(project, "pulumi", "config", "set-all", ...plainly);
  expect(await inProject(project, "sh", "-c", `${path}ci/deploy.sh dev`)).toMatch(
    /^Smoke test: the service accepted the message of conversation \S+\.$/m,
  );
});

test("pulumi new with the same folder as its template makes the same project", async () => {
  const project = join(folder, "from-template");
  const template = join(root, "examples", "new-project");
  const flags = ["--dir", project, "--name", "shop", "--description", "Chat", "--generate-only"];
  await run("pulumi", ["new", template, ...flags, "--yes", "--non-interactive"], { env });
  installed(project);
  await inProject(project, "pulumi", "stack", "init", "dev");
  const secret = ["config", "set", "callbackSecret", "only-for-tests", "--secret"];
  await inProject(project, "pulumi", ...secret);
  expect(readFileSync(join(project, "Pulumi.yaml"), "utf8")).toMatch(/^name: shop$/m);
  // Its files are those of the other project, which is tested and applied.
  const preview = ["preview", "--non-interactive"];
  expect(await inProject(project, "pulumi", ...preview)).toMatch(/\+ 1\d to create/);
});
