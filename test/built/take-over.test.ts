import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { guideCommands, guidePrograms } from "../support/guide-commands.js";
import { leakingFiles } from "../support/left-behind.js";
import { type OddAccount, oddAccount, oddCanary, oddId } from "../support/odd-account.js";
import {
  type ShownSecrets,
  type StrictService,
  startStrictService,
} from "../support/strict-service.js";
import { shellScript } from "../support/temporary-folder.js";
import { toolLine } from "../support/tool-process.js";

/**
 * A program as a person writes it who knows an account: every object of `account.json` under a name of its
 * own, what it refers to as variables, and nothing of what only the service knows. It adopts all of them.
 */
const adoptingProgram = `
const { readFileSync } = require("node:fs");
const hub = require("pulumi-conversation");

const account = JSON.parse(readFileSync("account.json", "utf8"));
const made = new Map();
const at = (reference) => reference && made.get(reference.id);
const map = (list) => list && Object.fromEntries(list.map(({ name, value }) => [name, value]));

const declare = (collection, Kind, argsOf) =>
  account[collection].forEach((object, place) => {
    const args = { ...argsOf(object), active: object.active, adopt: object.id };
    made.set(object.id, new Kind(collection + "-" + place, args));
  });

declare("authentications", hub.Authentication, ({ name, basicAuth, oauth2 }) => ({
  name,
  ...(basicAuth ? { basicAuth } : { oauth2: { ...oauth2, headers: map(oauth2.headers) } }),
}));
declare("clientapplications", hub.ClientApplication, ({ name, roles }) => ({
  name,
  roles: roles.map(({ queue, authentication, headers, ...role }) => ({
    ...role,
    authentication: at(authentication),
    headers: map(headers),
  })),
}));
declare("participants", hub.Participant, ({ name, type, application, intents, options }) => ({
  ...{ name, type, application: at(application) },
  intents: intents && intents.intent,
  options: map(options),
}));
declare("channels", hub.Channel, ({ type, displayName, icon }) => ({ type, displayName, icon }));
declare("orchestrations", hub.Orchestration, ({ name, applications }) => {
  const { customerConfiguration, botConfiguration, agentConfiguration } = applications;
  const bots = botConfiguration && botConfiguration.bots.map((bot) => ({
    application: at(bot),
    participant: at(bot.participant),
    onEscalation: { agent: at(bot.onEscalation.agent) },
  }));
  return {
    name,
    applications: {
      customerConfiguration: { customer: at(customerConfiguration.customer) },
      ...(bots ? { botConfiguration: { ...botConfiguration, bots } } : {}),
      agentConfiguration: { agents: agentConfiguration.agents.map(at) },
    },
  };
});
declare("accounts", hub.Account, ({ name, address, channel, chatConfigurations, attributes }) => ({
  ...{ name, address, channel: at(channel), attributes: map(attributes) },
  chatConfigurations: {
    timeout: chatConfigurations.timeout,
    entryPoint: chatConfigurations.entryPoint.id,
    orchestration: at(chatConfigurations.orchestration),
  },
}));
`;

const root = join(__dirname, "..", "..");

let project: CliProject;
let service: StrictService;
afterEach(async () => {
  project?.remove();
  await service?.close();
});

/** 60 objects that others made in a service that shares no code with the emulator, and a project before it. */
const account = async (secrets: ShownSecrets, program = ""): Promise<OddAccount> => {
  service = await startStrictService(secrets);
  const objects = oddAccount();
  for (const [collection, list] of Object.entries(objects))
    for (const object of list) service.plant(collection, { ...object, id: String(object.id) });
  const free = { CONVERSATION_PLAN: "enterprise", ...withoutPace };
  project = await cliProject(program, { ...service.environment, ...free }, { stack: "own" });
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

/** That the compiler takes such programs is shown by those of many accounts. */
const showsNoSecret = (): void =>
  expect(leakingFiles(join(project.folder, "shop"), [oddCanary])).toEqual([]);

/** Exports, and sets the secrets. */
const prepared = async (): Promise<void> => {
  const exported = await project.tool(["export", "--out", "shop", "--json"]);
  expect(exported.code, exported.errors).toBe(0);
  const { secrets } = JSON.parse(exported.output) as { secrets: readonly { key: string }[] };
  await succeeds(["stack", "init", "prod"]);
  await succeeds(["config", "set-all", ...set(secrets.map(({ key }) => key))]);
};

const set = (keys: readonly string[]) => keys.flatMap((key) => ["--secret", `${key}=any-value`]);

/** Nothing changes, nothing was written, nothing is in clear. */
const isTakenOver = async (): Promise<void> => {
  await succeeds(["up", "--yes", "--skip-preview", "--refresh", "--expect-no-changes"]);
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
  await account("mask");
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
  showsNoSecret();
  const source = readFileSync(join(project.folder, "shop", "index.ts"), "utf8");
  for (const declaration of guidePrograms("take-over")
    .join("\n")
    .split(/\n(?=\/\/ )/))
    expect(source).toContain(declaration.replace(/^\/\/ .*\n/, "").trim());
  expect(source).not.toMatch(/-0000-4000-8000-/);
  // Without its secrets a program makes no call.
  const calls = service.calls.length;
  const unset = await inFolder("shop")(["up", "--yes", "--skip-preview"]);
  expect(unset.output).toContain("Missing required configuration variable");
  expect([unset.code === 0, service.calls.length]).toEqual([false, calls]);
  const keys = [...source.matchAll(/requireSecret\(\s*"([^"]+)"/g)].map(([, key = ""]) => key);
  await succeeds(["config", "set-all", ...set(keys)]);
  await run(filled.slice(at), "shop");
  await isTakenOver();
  await deletesOneAlone();
});

test("echoed secrets, through the command import, which shows first", async () => {
  await account("echo");
  await prepared();
  const shown = await project.tool(["import"], {}, "shop");
  expect(shown.output).toContain("Nothing was imported");
  expect(await succeeds(["stack", "export"])).not.toContain("dynamic/conversation");
  const passphrase = { PULUMI_CONFIG_PASSPHRASE: "another" };
  const locked = await project.tool(["import", "--apply"], passphrase, "shop");
  expect([locked.code, locked.errors]).toEqual([1, expect.stringContaining("passphrase")]);
  showsNoSecret();
  expect(await succeeds(["stack", "export"])).not.toContain("dynamic/conversation");
  expect((await project.tool(["import", "--apply"], {}, "shop")).errors).toContain(
    "Imported 60 objects",
  );
  await succeeds(["preview", "--expect-no-changes"]);
  const again = await project.tool(["import", "--apply"], {}, "shop");
  expect([again.code, again.output]).toEqual([0, expect.stringContaining("Nothing is left")]);
  expect(writes()).toEqual([]);
});

/** Members of odd objects that the schema does not have: no PUT writes them back. */
const unknown = ["region", "tags", "later", "vendorKey", "queue", "shade"];

/** Entries of lists of names and values in one order: it means nothing. */
const byName = (object: unknown): unknown =>
  JSON.parse(JSON.stringify(object), (key, value) => {
    if (unknown.includes(key)) return undefined;
    return key === "options" && Array.isArray(value)
      ? value.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      : value;
  });

test("a program written by hand adopts all of it: nothing is made, what it does not say stays", async () => {
  const objects = await account("mask", adoptingProgram);
  writeFileSync(join(project.folder, "account.json"), JSON.stringify(objects));
  await project.succeed(["up", "--yes", "--skip-preview"]);
  expect(writes().filter(({ method }) => method !== "PUT")).toEqual([]);
  await project.succeed(["preview", "--expect-no-changes"]);
  for (const [collection, list] of Object.entries(objects)) {
    const now = service.objects(collection);
    expect(now.map(({ id }) => id)).toEqual(list.map(({ id }) => id));
    for (const [place, { description, modified: _, ...before }] of list.entries()) {
      expect(byName(now[place])).toMatchObject(Object(byName(before)));
      expect(now[place]?.description).toContain(String(description ?? ""));
    }
  }
});
