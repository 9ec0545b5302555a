import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { guideCommands, guidePrograms } from "../support/guide-commands.js";
import { leakingFiles } from "../support/left-behind.js";
import { type OddAccount, oddAccount, oddCanary, oddId } from "../support/odd-account.js";
import { killTree } from "../support/processes.js";
import {
  type ShownSecrets,
  type StrictService,
  startStrictService,
} from "../support/strict-service.js";
import { shellScript } from "../support/temporary-folder.js";
import { toolLine } from "../support/tool-process.js";

const root = join(__dirname, "..", "..");

let project: CliProject;
let service: StrictService;
afterEach(async () => {
  project?.remove();
  await service?.close();
});

/** 18 objects that others made in a service that shares no code with the emulator, and a project before it. */
const account = async (secrets: ShownSecrets, stack: string): Promise<OddAccount> => {
  service = await startStrictService(secrets);
  const objects = oddAccount(3);
  for (const [collection, list] of Object.entries(objects))
    for (const object of list) service.plant(collection, { ...object, id: String(object.id) });
  const free = { CONVERSATION_PLAN: "enterprise", ...withoutPace };
  project = await cliProject("", { ...service.environment, ...free }, { stack });
  const compiler = join("node_modules", "typescript");
  symlinkSync(join(root, compiler), join(project.folder, compiler));
  return objects;
};

const writes = () => service.calls.filter(({ method }) => method !== "GET");

const inFolder =
  (below: string) =>
  (args: readonly string[], environment = {}) =>
    project.pulumi(["--cwd", join(project.folder, below), ...args], environment);

const succeeds = async (args: readonly string[], environment = {}): Promise<string> => {
  const { code, output } = await inFolder("shop")(args, environment);
  expect(code, output).toBe(0);
  return output;
};

/** Nothing changes, nothing was written, nothing is in clear. */
const isTakenOver = async (): Promise<void> => {
  expect(writes()).toEqual([]);
  expect(await succeeds(["stack", "export"])).not.toContain(oddCanary);
};

/** A deletion takes what it is asked for. */
const deletesOneAlone = async (): Promise<void> => {
  const urn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Account::orders-bot";
  await succeeds(["destroy", "--yes", "--skip-preview", "--target", urn]);
  expect(writes().map(({ method, path }) => `${method} ${path}`)).toEqual([
    `DELETE /accounts/${oddId(6, 2)}`,
  ]);
};

/** Programs under the names that a reader types, without a network and without a terminal. */
const readersPrograms = (): string => {
  const bin = join(project.folder, "bin");
  mkdirSync(bin);
  const pulumi = join(process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "", "pulumi");
  // What a reader would type when asked for a value.
  shellScript(join(bin, "pulumi"), `printf any-value | "${pulumi}" "$@"`);
  shellScript(join(bin, "npx"), "shift", `exec ${toolLine} "$@"`);
  shellScript(join(bin, "npm"), "exit 0");
  return bin;
};

test("masked secrets: the guide, command by command as it stands, and nothing changes", async () => {
  await account("mask", "own");
  const login = { id: oddId(1, 90), name: "Desk login", type: "basic" };
  const basicAuth = { username: "hub", password: `${oddCanary}-desk` };
  service.plant("authentications", { ...login, basicAuth });
  const role = { name: "customer", version: "v3", authentication: { id: login.id } };
  const where = {
    callback: "https://desk.example.com/messages",
    notificationEmail: "ops@example.com",
  };
  const roles = [{ ...role, ...where }];
  service.plant("clientapplications", { id: oddId(2, 90), name: "Desk", roles });
  const bot = { name: "Desk bot", type: "custom_bot", application: { id: oddId(2, 90) } };
  service.plant("participants", { id: oddId(3, 90), ...bot });
  const { environment } = service;
  const filled = guideCommands("take-over").map((line) =>
    line
      .replace("https://<host>/conversation/v3", environment.CONVERSATION_BASE_URL ?? "")
      .replace(
        "https://<host>/system/auth/<tenant>-U/oauth2/token",
        environment.CONVERSATION_TOKEN_URL ?? "",
      )
      .replace("<id>", environment.CONVERSATION_CLIENT_ID ?? "")
      .replace("<secret>", environment.CONVERSATION_CLIENT_SECRET ?? ""),
  );
  const bin = readersPrograms();
  const env = { ...project.environment, PATH: [bin, process.env.PATH].join(delimiter) };
  const run = async (lines: readonly string[], below = "."): Promise<string> => {
    const options = {
      cwd: join(project.folder, below),
      // The emulator of a proof serves what this account has, which breaks the vendor's description.
      env: { ...env, PULUMI_SKIP_CONFIRMATIONS: "true", TEST_VIOLATIONS_FILE: "" },
    };
    // The service lives in this process, which must not wait.
    const { stdout } = await promisify(execFile)("sh", ["-euc", lines.join("\n")], options);
    return stdout;
  };
  const at = filled.findIndex((line) => line.startsWith("pulumi import"));
  const first = await run(filled.slice(0, at));
  expect(first.replaceAll(/\s+/g, " ")).toContain("same account: 0 changes");
  expect(leakingFiles(join(project.folder, "shop"), [oddCanary])).toEqual([]);
  const source = readFileSync(join(project.folder, "shop", "index.ts"), "utf8");
  for (const declaration of guidePrograms("take-over").join("\n").split("\n\n"))
    expect(source).toContain(declaration.replace(/^\/\/ .*\n/, "").trim());
  expect(source).not.toMatch(/-0000-4000-8000-/);
  // Without its secrets a program makes no call.
  const calls = service.calls.length;
  const unset = await inFolder("shop")(["up", "--yes", "--skip-preview"]);
  expect(unset.output).toContain("Missing required configuration variable");
  expect([unset.code === 0, service.calls.length]).toEqual([false, calls]);
  const keys = [...source.matchAll(/requireSecret\(\s*"([^"]+)"/g)].map(([, key = ""]) => key);
  const values = keys.flatMap((key) => ["--secret", `${key}=any-value`]);
  await succeeds(["config", "set-all", ...values]);
  await run(filled.slice(at), "shop");
  await isTakenOver();
  await deletesOneAlone();
});

/** What the state holds of the service, and what it notes as under way. */
const held = (known: readonly string[]) => {
  const { resources, pending } = project.held();
  const ids = resources.flatMap(({ id }) => id ?? []);
  return { ids: ids.filter((id) => known.includes(id)).sort(), pending };
};

const apply = ["import", "--apply"];

/** An import that is killed, with all that it started, when Pulumi has the lock. */
const killImport = async (): Promise<void> => {
  const locks = join(project.folder, "backend", ".pulumi", "locks", "organization", "shop", "prod");
  const child = project.startTool(apply);
  const ended = once(child, "exit");
  while (!existsSync(locks) || readdirSync(locks).length === 0) await pause(3);
  killTree(child);
  await ended;
};

test("echoed secrets, through the command import, which shows first; killed, it goes on after a repair: nothing is lost, nothing is there twice", async () => {
  const objects = await account("echo", "prod");
  const ids = Object.values(objects).flatMap((list) => list.map(({ id }) => String(id)));
  const shown = await project.tool(["import"]);
  expect(shown.output).toContain("Nothing was imported");
  const locked = await project.tool(apply, { PULUMI_CONFIG_PASSPHRASE: "another" });
  expect([locked.code, locked.errors]).toEqual([1, expect.stringContaining("passphrase")]);
  expect(held(ids)).toEqual({ ids: [], pending: [] });

  await killImport();
  let next = await project.tool(apply);
  if (next.code !== 0) {
    expect(next.errors).toMatch(/pulumi cancel|conversation repair/);
    await project.release();
    expect(await project.tool(["repair", "--apply"])).toMatchObject({ code: 0 });
    next = await project.tool(apply);
  }
  expect(next.code, next.errors).toBe(0);
  expect(held(ids)).toEqual({ ids: ids.toSorted(), pending: [] });
  const again = await project.tool(apply);
  expect([again.code, again.output]).toEqual([0, expect.stringContaining("Nothing is left")]);
  const drift = await project.tool(["drift"]);
  expect(drift.code, drift.output).toBe(0);
  expect(leakingFiles(project.folder, [oddCanary])).toEqual([]);
  expect(writes()).toEqual([]);
});
