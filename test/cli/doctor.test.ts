import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { diagnose, doctorReport } from "../../cli/doctor/diagnose.js";
import { checkEnvironmentNames } from "../../cli/doctor/setting-checks.js";
import { defaultScopes } from "../../provider/service/http/operations.js";
import { listenHere } from "../support/loopback-server.js";
import { fakePulumi, shellScript, temporaryFolder } from "./temporary-folder.js";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const grantingScope =
  (scope: string): Answer =>
  (_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ access_token: "the-token", expires_in: 300, scope }));
  };

const granting = grantingScope(defaultScopes.join(" "));

/** A service that gives tokens and answers every list with a status. */
const service = async ({ token = granting, listStatus = 200 } = {}) => {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    if (request.url === "/token") return token(request, response);
    response.statusCode = listStatus;
    response.end(request.headers.authorization === "Bearer the-token" ? "[]" : "");
  });
  await listenHere(server);
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const origin = `http://127.0.0.1:${address.port}`;
  const env = {
    PATH: "",
    CONVERSATION_BASE_URL: `${origin}/conversation/v3`,
    CONVERSATION_TOKEN_URL: `${origin}/token`,
    CONVERSATION_CLIENT_ID: "doctor",
    CONVERSATION_CLIENT_SECRET: "very-secret",
  };
  return { calls, env };
};

const pulumiOn = (path: string): string => {
  fakePulumi(path, "3.259.0");
  return path;
};

const statusOf = (checks: readonly { name: string; status: string }[], name: string) =>
  checks.find((check) => check.name === name)?.status;

test("where everything is right, every check passes with two calls", async () => {
  const { env, calls } = await service();
  const path = `${pulumiOn(temporaryFolder())}:/bin`;
  const { ok, checks } = await diagnose({ folder: process.cwd(), env: { ...env, PATH: path } });
  const wrong = checks.filter(({ name, status }) => status !== "ok" && name !== "stack-config");
  expect(wrong).toEqual([]);
  expect(ok).toBe(true);
  expect(calls).toEqual(["POST /token", "GET /conversation/v3/authentications"]);
});

test("settings that cannot be used: nothing is sent", async () => {
  const { env, calls } = await service();
  const broken = { ...env, CONVERSATION_BASE_URL: env.CONVERSATION_BASE_URL.replace("v3", "v2") };
  const { ok, checks } = await diagnose({ folder: temporaryFolder(), env: broken });
  expect(ok).toBe(false);
  expect(statusOf(checks, "version-segment")).toBe("fail");
  expect(statusOf(checks, "token")).toBe("skipped");
  expect(calls).toEqual([]);
});

test("refused credentials fail the token, and the secret stays hidden", async () => {
  const { env } = await service({
    token: (_, response) => {
      response.statusCode = 401;
      response.end('{"error":"invalid_client","error_description":"very-secret is wrong"}');
    },
  });
  const { ok, checks } = await diagnose({ folder: temporaryFolder(), env });
  expect(ok).toBe(false);
  expect(statusOf(checks, "token")).toBe("fail");
  expect(statusOf(checks, "service")).toBe("skipped");
  expect(JSON.stringify(checks)).not.toContain("very-secret");
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

test("a service that does not answer is told with its setting", async () => {
  const { env } = await service();
  const gone = { ...env, CONVERSATION_BASE_URL: "http://127.0.0.1:1/v3" };
  const { checks } = await diagnose({ folder: temporaryFolder(), env: gone });
  const check = checks.find(({ name }) => name === "service");
  expect(check).toMatchObject({ status: "fail" });
  expect(check?.advice).toContain("CONVERSATION_BASE_URL");
});

test("settings come from the named stack where the environment has none", async () => {
  const { env, calls } = await service();
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
  expect(calls).toHaveLength(2);
});

test.each([
  [undefined, "warn"],
  ["nope", "fail"],
])(
  "a configuration that cannot be read, of the stack %s: %s, with the reason",
  async (stack, status) => {
    const [bin, folder] = [pulumiOn(temporaryFolder()), temporaryFolder()];
    writeFileSync(join(folder, "Pulumi.yaml"), "name: x\nruntime: nodejs\n");
    shellScript(
      join(bin, "pulumi"),
      `[ "$1" = version ] && echo v3.259.0 && exit 0`,
      "echo error: no stack selected >&2",
      "exit 255",
    );
    const named = stack === undefined ? {} : { stack };
    const { checks } = await diagnose({ folder, env: { PATH: bin }, ...named });
    const check = checks.find(({ name }) => name === "stack-config");
    expect(check).toMatchObject({ status });
    expect(check?.message).toContain("no stack selected");
  },
);

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
  [{ CONVERSATION_FINDINGS: "/not/there.json" }, "settings"],
])(
  "a setting that a run would refuse is one failed check among the others: %j",
  async (set, name) => {
    const { env, calls } = await service();
    const { ok, checks } = await diagnose({ folder: temporaryFolder(), env: { ...env, ...set } });
    expect(ok).toBe(false);
    expect(statusOf(checks, name)).toBe("fail");
    expect(statusOf(checks, "token")).toBe("skipped");
    expect(calls).toEqual([]);
  },
);

test.each([
  ["CONVERSATION_BASEURL", "CONVERSATION_BASE_URL"],
  ["CONVERSATON_PLAN", "CONVERSATION_PLAN"],
  ["CONVERSATION_EU_CLIENTSECRET", "CONVERSATION_EU_CLIENT_SECRET"],
  ["CONVERSATION_EU_PLAN", undefined],
  ["CONVERSATION_CONTROL_SECRET", undefined],
  ["CONVERSATION_CONTROL_URL", undefined],
  ["PATH", undefined],
])("the variable %s: %s is meant", (name, meant) => {
  const { status, message } = checkEnvironmentNames({ [name]: "x" });
  expect(status).toBe(meant === undefined ? "ok" : "warn");
  if (meant) expect(message).toBe(`${name} is no setting: did you mean ${meant}?`);
});

test("the report keeps to 80 columns, and cuts nothing that is to be copied", () => {
  const address = `https://${"a".repeat(70)}.example.com/conversation/v3`;
  const check = { name: "setting:ownershipMark", status: "fail", advice: "" } as const;
  const advice = `Set ${"it ".repeat(40)}or run: pulumi config set conversation:baseUrl`;
  const checks = [{ ...check, message: `${address} ${"is wrong ".repeat(20)}`, advice }];
  const lines = doctorReport({ ok: false, checks }, false).split("\n");
  const wide = lines.filter((line) => line.length > 80);
  expect(wide).toHaveLength(1);
  expect(wide[0]).toContain(address);
});

test.each(["", " ", "https://hub.example.com/.default", "openid profile"])(
  "a token address that names none of the service's scopes (%j) says nothing of them, and the service is called",
  async (scope) => {
    const { env, calls } = await service({ token: grantingScope(scope) });
    const { checks } = await diagnose({ folder: process.cwd(), env });
    expect(statusOf(checks, "scopes")).toBe("skipped");
    expect(statusOf(checks, "service")).toBe("ok");
    expect(calls).toHaveLength(2);
  },
);
