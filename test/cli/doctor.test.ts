import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { diagnose, doctorReport } from "../../cli/doctor/diagnose.js";
import { checkClock, checkProxy, checkScopes } from "../../cli/doctor/service-checks.js";

import { checkConfigSecrets, checkNames, checkSetting } from "../../cli/doctor/setting-checks.js";

import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { stackAdvice } from "../../cli/pulumi/project-files.js";
import { startEmulator } from "../../emulator/index.js";
import { resources } from "../../provider/resources/index.js";
import { defaultScopes, scopes } from "../../provider/service/operations.js";
import { describeSettings, settingKeys } from "../../provider/service/settings.js";
import { FakeHub, json, raw } from "../service/support/fake-hub.js";
import { fakePulumi, shellScript, temporaryFolder } from "../support/temporary-folder.js";

const settingCheck = (
  key: string,
  environment: Record<string, string>,
  config: Record<string, string> = {},
  stack?: string,
) => {
  const setting = describeSettings().find((candidate) => candidate.key === key);
  if (!setting) throw new Error(key);
  return checkSetting(setting, { environment, config: (name) => config[name], stack });
};

test("a setting says where it comes from, the environment first", () => {
  const config = { "conversation:clientId": "from-config" };
  expect(settingCheck("clientId", {}, config).message).toBe(
    "from-config (from the stack's conversation:clientId)",
  );
  const check = settingCheck("clientId", { CONVERSATION_CLIENT_ID: "from-env" }, config);
  expect(check).toMatchObject({ status: "ok", message: "from-env (from CONVERSATION_CLIENT_ID)" });
});

test("a missing setting says how to set it in both places", () => {
  expect(settingCheck("clientSecret", {})).toEqual({
    name: "setting:clientSecret",
    status: "fail",
    message: "missing",
    advice:
      "Set CONVERSATION_CLIENT_SECRET, or run: pulumi config set --secret conversation:clientSecret <value>",
  });
  const named = settingCheck("clientId", {}, {}, "prod").advice;
  expect(named).toMatch(/run: pulumi config set conversation:clientId <value> --stack prod$/);
});

test("missing scopes are reported by the operations that would be refused, and by name", () => {
  const check = checkScopes([scopes.read, scopes.interactionManage]);
  expect(check.status).toBe("warn");
  // Per kind create, update and delete, and the list of authentications, which reading does not cover.
  const refused = 3 * resources.length + 1;
  expect(check.message.split(":")[0]).toBe(`the service would refuse ${refused} operations`);
  expect(check.message).toMatch(new RegExp(` and ${refused - 5} more$`));
  expect(check.advice).toMatch(/: app\.conversation\.conversationmgr\.manage$/);
});

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  [0, "ok", "the same time as the service"],
  [20, "ok", "20 s behind the service's clock"],
  [-600, "warn", "this machine's clock is 600 s ahead of the service's clock"],
  [undefined, "skipped", "the service sends no Date header"],
])("clock, service ahead by %s s: %s", (ahead, status, message) => {
  const theirs = ahead === undefined ? undefined : now + ahead * 1000;
  expect(checkClock(theirs, now)).toMatchObject({ status, message });
});

test("the address of a proxy is shown without its credentials", () => {
  const check = checkProxy({
    HTTPS_PROXY: "http://me:hidden@proxy.example.com:8080",
    NO_PROXY: "a",
  });
  expect(check.message).toBe("calls use the proxy proxy.example.com:8080, except calls to a");
});

test("the report counts what needs attention and shows the advice below", () => {
  const report = doctorReport(
    {
      ok: false,
      checks: [
        { name: "node", status: "ok", message: "Node.js 24", advice: "" },
        { name: "token", status: "fail", message: "refused", advice: "Check it." },
      ],
    },
    false,
  );
  expect(report).toBe("✓ node   Node.js 24\n✗ token  refused\n         → Check it.\n\n1 failed.\n");
});

const entries = (values: Readonly<Record<string, string | { secure: string }>>) =>
  new Map(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "string"
        ? { text: value, secret: false }
        : { text: value.secure, secret: true },
    ]),
  );

test.each(settingKeys)(
  "%s is known, in a profile too, and meant in another case or cut short",
  (key) => {
    for (const start of ["conversation:", "conversation:staging."]) {
      expect(checkNames({}, entries({ [start + key]: "x" })).status).toBe("ok");
      const wrong = [key.toUpperCase(), key.slice(1)].filter((text) => text !== key);
      for (const typo of wrong)
        expect(checkNames({}, entries({ [start + typo]: "x" }))).toMatchObject({
          status: "warn",
          message: `${start + typo} is not a setting: did you mean ${start + key}?`,
        });
    }
  },
);

test.each(["conversation:greeting", "conversation:staging", "conversation:x", "aws:baseurl"])(
  "%s is nobody's typo",
  (key) => {
    expect(checkNames({}, entries({ [key]: "x" })).status).toBe("ok");
  },
);

test("secrets in clear text are a warning with the command, without the secret", () => {
  const check = checkConfigSecrets(
    entries({
      "conversation:clientSecret": "canary",
      "conversation:eu.clientSecret": "canary",
      "conversation:redisUrl": "rediss://me:canary@r.example",
    }),
  );
  expect(check.status).toBe("warn");
  for (const key of ["clientSecret", "eu.clientSecret", "redisUrl"])
    expect(check.advice).toContain(`pulumi config set --secret conversation:${key}`);
  expect(JSON.stringify(check)).not.toContain("canary");
});

test.each([
  [{ "conversation:clientSecret": { secure: "s" } }],
  [{ "conversation:clientId": "open" }],
  [{ "conversation:redisUrl": "redis://localhost:6379" }],
  [{ "aws:clientSecret": "x" }],
])("no warning for %j", (values) => {
  expect(checkConfigSecrets(entries(values)).status).toBe("ok");
});

test.each([
  ["PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions", "Log in"],
  [
    "no Pulumi.yaml project file found (searching upwards from /p). If you have not created a project yet, use `pulumi new` to do so: no project file found",
    "Run the command in a Pulumi project folder.",
  ],
  ["no stack selected; please use `pulumi stack select`", "Select a stack"],
  ["no stack named 'nope' found", "Specify an existing stack"],
  ["incorrect passphrase", "PULUMI_CONFIG_PASSPHRASE"],
  ["something else", "Correct this problem first."],
])("Pulumi says %j: %s", (said, advice) => {
  expect(stackAdvice(said)).toContain(advice);
  if (!said.includes("no stack selected"))
    expect(stackAdvice(said)).not.toContain("Select a stack");
});

const grantingScope = (scope: string) =>
  json(200, { access_token: "the-token", expires_in: 300, scope });

const granting = grantingScope(defaultScopes.join(" "));

/** A service that gives tokens and answers every list with a status. */
const service = async ({ token = granting, listStatus = 200 } = {}) => {
  const hub = await FakeHub.start(({ headers }, response) => {
    response.statusCode = listStatus;
    response.end(headers.authorization === "Bearer the-token" ? "[]" : "");
  });
  hub.handleToken = token;
  onTestFinished(() => hub[Symbol.asyncDispose]());
  const { baseUrl, tokenUrl } = hub.settings();
  const clientSecret = "very-secret";
  const access = { baseUrl, tokenUrl, clientId: "doctor", clientSecret };
  const env: Record<string, string> = { PATH: "", ...emulatorEnvironment(access) };
  return { hub, env };
};

const pulumiOn = (path: string): string => {
  fakePulumi(path, "3.259.0");
  return path;
};

/** A folder with a Node of this version, or with what is said in its place. */
const nodeOn = (path: string, said: string): string => {
  shellScript(join(path, "node"), `echo ${said}`);
  return path;
};

const shares = "with Node.js 24 or later, processes share their rate limits";

test.each([
  ["v22.18.0", "warn", "Node.js 22.18.0 (NODE) on your PATH is older than 22.19"],
  ["v22.19.0", "ok", `Node.js 22.19.0 (NODE); ${shares}`],
  ["v24.1.0", "ok", "Node.js 24.1.0 (NODE)"],
  ["broken", "warn", "NODE on your PATH does not run"],
])("on the Node of PATH, %s: %s, whatever doctor runs on", async (version, status, message) => {
  const bin = nodeOn(temporaryFolder(), version);
  const { checks } = await diagnose({ folder: temporaryFolder(), env: { PATH: `${bin}:/bin` } });
  const install = "Install Node.js 22.19 or later: https://nodejs.org";
  expect(checks[0]).toEqual({
    name: "node",
    status,
    message: message.replace("NODE", join(bin, "node")),
    advice: status === "ok" ? "" : install,
  });
});

test("no Node on PATH, but only one that npx puts there, is none for programs", async () => {
  const brought = join(temporaryFolder(), "node_modules", ".bin");
  mkdirSync(brought, { recursive: true });
  const env = { PATH: nodeOn(brought, "v24.1.0") };
  const { checks } = await diagnose({ folder: temporaryFolder(), env });
  expect(checks[0]).toMatchObject({ status: "warn", message: "Node.js is not on your PATH" });
});

const statusOf = (checks: readonly { name: string; status: string }[], name: string) =>
  checks.find((check) => check.name === name)?.status;

test("where everything is right, every check passes with two calls", async () => {
  const { env, hub } = await service();
  const path = `${nodeOn(pulumiOn(temporaryFolder()), "v24.1.0")}:/bin`;
  const { ok, checks } = await diagnose({ folder: process.cwd(), env: { ...env, PATH: path } });
  const wrong = checks.filter(({ name, status }) => status !== "ok" && name !== "stack-config");
  expect(wrong).toEqual([]);
  expect(checks.find(({ name }) => name === "setting:scope")?.message).toBe(
    `not set; default: ${defaultScopes[0]} and ${defaultScopes.length - 1} more`,
  );
  expect(ok).toBe(true);
  expect([hub.tokenCalls.length, hub.log]).toEqual([1, ["GET /authentications"]]);
});

test("refused credentials fail the token, and the secret stays hidden", async () => {
  const { env } = await service({
    token: json(401, { error: "invalid_client", error_description: "very-secret is wrong" }),
  });
  const { ok, checks } = await diagnose({ folder: temporaryFolder(), env });
  expect(ok).toBe(false);
  expect(statusOf(checks, "token")).toBe("fail");
  expect(checks).toContainEqual(expect.objectContaining({ name: "service", message: "no token" }));
  expect(checks.find(({ name }) => name === "token")).toMatchObject({
    message: expect.stringContaining("Check conversation:clientId"),
    advice: "",
  });
  expect(JSON.stringify(checks)).not.toContain("very-secret");
});

test("a token URL that refuses calls for now is not reported as a wrong setting", async () => {
  const { env } = await service({ token: raw(429, "") });
  const { checks } = await diagnose({ folder: temporaryFolder(), env });
  expect(checks.find(({ name }) => name === "token")).toMatchObject({
    status: "fail",
    message: "The token request failed (429). Try again later.",
  });
});

test.each([
  [401, "fail"],
  [403, "warn"],
  [404, "fail"],
  [429, "warn"],
  [503, "fail"],
])("a service that answers %s: %s", async (listStatus, status) => {
  const { env } = await service({ listStatus });
  const { checks } = await diagnose({ folder: temporaryFolder(), env });
  expect(statusOf(checks, "service")).toBe(status);
});

test("a service that does not answer is reported with its address", async () => {
  const { env } = await service();
  const gone = { ...env, CONVERSATION_BASE_URL: "http://127.0.0.1:1/v3" };
  const { checks } = await diagnose({ folder: temporaryFolder(), env: gone });
  const check = checks.find(({ name }) => name === "service");
  expect(check).toMatchObject({ status: "fail" });
  expect(check?.message).toContain("127.0.0.1:1");
});

test("settings come from the named stack where the environment has none", async () => {
  const { env, hub } = await service();
  const { CONVERSATION_CLIENT_ID: _, ...rest } = env;
  const [bin, folder] = [pulumiOn(temporaryFolder()), temporaryFolder()];
  writeFileSync(join(folder, "Pulumi.yaml"), "name: x\nruntime: nodejs\n");
  const config = '{"conversation:clientId":{"value":"from-stack","secret":false}}';
  shellScript(
    join(bin, "pulumi"),
    `case "$*" in version) echo v3.259.0;; *"--stack dev"*) echo '${config}';; *) exit 1;; esac`,
  );
  const { checks } = await diagnose({ folder, env: { ...rest, PATH: bin }, stack: "dev" });
  const check = checks.find(({ name }) => name === "setting:clientId");
  expect(check?.message).toBe("from-stack (from the stack's conversation:clientId)");
  expect(statusOf(checks, "token")).toBe("ok");
  expect([hub.tokenCalls.length, hub.log.length]).toEqual([1, 1]);
});

test.each([
  [undefined, "warn"],
  ["nope", "fail"],
])(
  "a configuration that cannot be read, of the stack %s: %s, with the reason",
  async (stack, status) => {
    const [bin, folder] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(folder, "Pulumi.yaml"), "name: x\nruntime: nodejs\n");
    shellScript(join(bin, "pulumi"), "echo error: no stack selected >&2", "exit 255");
    const { checks } = await diagnose({ folder, env: { PATH: bin }, ...(stack ? { stack } : {}) });
    const check = checks.find(({ name }) => name === "stack-config");
    expect(check).toMatchObject({ status, message: expect.stringContaining("no stack selected") });
  },
);

test("where a bot runs, neither a project nor Pulumi is missed", async () => {
  const live = await service();
  const env = { ...live.env, PATH: nodeOn(temporaryFolder(), "v24.1.0") };
  const inBotFolder = await diagnose({ folder: temporaryFolder(), env });
  expect([inBotFolder.ok, statusOf(inBotFolder.checks, "pulumi-cli")]).toEqual([true, "warn"]);
  const inProject = await diagnose({ folder: process.cwd(), env });
  expect([inProject.ok, statusOf(inProject.checks, "pulumi-cli")]).toEqual([false, "fail"]);
});

test("a stack that is named and cannot be looked at is a failure, not a check left out", async () => {
  const folder = temporaryFolder();
  const { checks } = await diagnose({ folder, env: { PATH: "" }, stack: "dev" });
  const check = checks.find(({ name }) => name === "stack-config");
  expect(check).toMatchObject({
    status: "fail",
    message: expect.stringContaining("no Pulumi project in this folder"),
  });
});

test.each([
  [{ CONVERSATION_CLIENT_SECRET: "with a line end\n" }, "setting:clientSecret"],
  [{ CONVERSATION_BASE_URL: "http://127.0.0.1:1/conversation/v2" }, "setting:baseUrl"],
])(
  "a setting that a run would refuse is one failed check among the others: %j",
  async (set, name) => {
    const { env, hub } = await service();
    const { ok, checks } = await diagnose({ folder: temporaryFolder(), env: { ...env, ...set } });
    expect(ok).toBe(false);
    expect(statusOf(checks, name)).toBe("fail");
    expect(statusOf(checks, "token")).toBe("skipped");
    expect([...hub.tokenCalls, ...hub.calls]).toEqual([]);
  },
);

test.each([
  ["CONVERSATION_BASEURL", "CONVERSATION_BASE_URL"],
  ["CONVERSATON_PLAN", "CONVERSATION_PLAN"],
  ["CONVERSATION_EU_PLAN", undefined],
  ["CONVERSATION_CONTROL_SECRET", undefined],
  ["CONVERSATION_CONTROL_URL", undefined],
  ["PATH", undefined],
])("the variable %s: %s is meant", (name, meant) => {
  const { status, message } = checkNames({ [name]: "x" });
  expect(status).toBe(meant === undefined ? "ok" : "warn");
  if (meant) expect(message).toBe(`${name} is not a setting: did you mean ${meant}?`);
});

test.each(["", "https://hub.example.com/.default"])(
  "a token URL that names none of the service's scopes (%j) says nothing of them, and the service is called",
  async (scope) => {
    const { env, hub } = await service({ token: grantingScope(scope) });
    const { checks } = await diagnose({ folder: process.cwd(), env });
    expect(statusOf(checks, "scopes")).toBe("skipped");
    expect(statusOf(checks, "service")).toBe("ok");
    expect([hub.tokenCalls.length, hub.log.length]).toEqual([1, 1]);
  },
);

test("a commercial tenant: the scope that doctor names is the one that its token URL knows", async () => {
  await using emulator = await startEmulator();
  const { host } = new URL(emulator.baseUrl);
  const env = emulatorEnvironment(emulator);
  const body = { error: "invalid_scope", error_description: "no such scope" };
  await emulator.control.faults({ on: "TOKEN", kind: "status", status: 400, body });
  const scope = `https://${host}/auth/.default`;
  const refused = await diagnose({ folder: process.cwd(), env });
  expect(refused.checks.find(({ name }) => name === "token")).toMatchObject({
    status: "fail",
    message: expect.stringMatching(/invalid_scope.* commercial tenant .* one scope, https:/),
  });
  expect(JSON.stringify(refused.checks)).toContain(`one scope, ${scope};`);
  const { checks } = await diagnose({
    folder: process.cwd(),
    env: { ...env, CONVERSATION_SCOPE: scope },
  });
  expect(["token", "scopes", "service"].map((name) => statusOf(checks, name))).toEqual([
    "ok",
    "ok",
    "ok",
  ]);
});
