import { expect, test } from "vitest";
import {
  checkConfigKeys,
  checkConfigSecrets,
  meantKey,
  settingFor,
} from "../../cli/doctor/setting-checks.js";
import { stackAdvice } from "../../provider/pulumi-cli/project-files.js";
import { proxyFailure } from "../../provider/service/http/transport.js";
import { type SettingKey, settingTable } from "../../provider/service/setting-table.js";

const keys = Object.keys(settingTable) as SettingKey[];

const entries = (values: Readonly<Record<string, string | { secure: string }>>) =>
  new Map(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "string"
        ? { text: value, secret: false }
        : { text: value.secure, secret: true },
    ]),
  );

test.each(keys)("%s is known, in a profile too, and no other key is meant by it", (key) => {
  for (const full of [`conversation:${key}`, `conversation:staging.${key}`]) {
    expect(settingFor(full)).toBe(key);
    expect(meantKey(full)).toBeUndefined();
  }
});

test.each(keys)("%s in another case, or with a character too few, is meant", (key) => {
  for (const start of ["conversation:", "conversation:staging."]) {
    const wrong = [key.toUpperCase(), key.slice(1)].filter((text) => text !== key);
    for (const typo of wrong) expect(meantKey(start + typo)).toBe(start + key);
  }
});

test.each(["conversation:greeting", "conversation:staging", "conversation:x", "aws:baseurl"])(
  "%s is nobody's typo",
  (key) => {
    expect(meantKey(key)).toBeUndefined();
  },
);

test("a key that is nearly a setting is a warning with the right one", () => {
  const check = checkConfigKeys(
    entries({ "conversation:baseurl": "x", "conversation:eu.scop": "y" }),
    "dev",
  );
  expect(check).toMatchObject({
    status: "warn",
    message:
      "conversation:baseurl is no setting: did you mean conversation:baseUrl? " +
      "conversation:eu.scop is no setting: did you mean conversation:eu.scope?",
  });
  expect(check.advice).toContain("pulumi config rm conversation:baseurl --stack dev");
});

test("values that a program keeps in our namespace are named, not judged", () => {
  const check = checkConfigKeys(
    entries({ "conversation:greeting": "hello", "conversation:plan": "basic" }),
  );
  expect(check).toMatchObject({
    status: "ok",
    message: "not ours, not read: conversation:greeting",
  });
  expect(checkConfigKeys(entries({ "aws:region": "x" }))).toMatchObject({ message: "all known" });
});

test("secrets in clear text are a warning with the command, without the secret", () => {
  const check = checkConfigSecrets(
    entries({ "conversation:clientSecret": "canary", "conversation:eu.clientsecret": "canary" }),
  );
  expect(check.status).toBe("warn");
  expect(check.message).toContain("conversation:clientSecret, conversation:eu.clientsecret");
  expect(check.advice).toContain("pulumi config set --secret conversation:clientSecret");
  expect(JSON.stringify(check)).not.toContain("canary");
});

test.each([
  [{ "conversation:clientSecret": { secure: "s" } }],
  [{ "conversation:clientSecret": " " }],
  [{ "conversation:clientId": "open" }],
  [{ "conversation:redisUrl": "redis://localhost:6379" }],
  [{ "aws:clientSecret": "x" }],
])("no warning for %j", (values) => {
  expect(checkConfigSecrets(entries(values)).status).toBe("ok");
});

test("an address of Redis with a password is a secret", () => {
  const check = checkConfigSecrets(
    entries({ "conversation:redisUrl": "rediss://me:canary@r.example" }),
  );
  expect(check.status).toBe("warn");
  expect(JSON.stringify(check)).not.toContain("canary");
});

test.each([
  ["PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions", "Log in"],
  ["could not unmarshal '/p/Pulumi.yaml': invalid YAML file: yaml: line 1", "Correct Pulumi.yaml"],
  ["invalid YAML file: yaml: line 1: did not find expected ',' or ']'", "stack's own file"],
  [
    "no Pulumi.yaml project file found (searching upwards from /p). If you have not created a project yet, use `pulumi new` to do so: no project file found",
    "Run this in the folder of a Pulumi project.",
  ],
  [
    "if you're using the --stack flag, pass the fully qualified name (organization/project/stack)",
    "name the stack as organization/project/stack",
  ],
  ["no stack selected; please use `pulumi stack select`", "Select a stack"],
  ["no stack named 'nope' found", "Name a stack"],
  ["incorrect passphrase", "PULUMI_CONFIG_PASSPHRASE"],
  ['unable to open state directory "file:///nowhere"', "PULUMI_BACKEND_URL"],
  ["something else", "Correct that first."],
])("Pulumi says %j: %s", (said, advice) => {
  expect(stackAdvice(said)).toContain(advice);
  if (!said.includes("no stack selected"))
    expect(stackAdvice(said)).not.toContain("Select a stack");
});

const refused = (more: object): Error => Object.assign(new Error("connect"), more);

const env = { HTTPS_PROXY: "http://me:canary@proxy.example:3128" };
const url = "https://service.example/v3";

test.each([
  [
    refused({ code: "ECONNREFUSED", address: "10.0.0.1", port: 3128 }),
    "cannot be reached (ECONNREFUSED)",
  ],
  [refused({ code: "ENOTFOUND", hostname: "proxy.example" }), "cannot be reached (ENOTFOUND)"],
  [new AggregateError([refused({ code: "ECONNREFUSED", port: 3128 })]), "cannot be reached"],
  [
    new Error("Connect Timeout Error (attempted address: proxy.example:3128, timeout: 10000ms)"),
    "cannot be reached",
  ],
  [
    new Error("x", { cause: new Error("Proxy response (407) !== 200 when HTTP Tunneling") }),
    "refused to connect to service.example (407)",
  ],
])("%s: the proxy's failure", (error, text) => {
  const told = proxyFailure(new Error("no answer", { cause: error }), new URL(url), env);
  expect(told).toContain(`the proxy proxy.example:3128 (HTTPS_PROXY) ${text}`);
  expect(told).not.toContain("canary");
});

test.each([
  [refused({ code: "ENOTFOUND", hostname: "service.example" }), env, url],
  [refused({ code: "ECONNREFUSED", port: 443 }), env, url],
  [refused({ code: "ECONNREFUSED", port: 3128 }), {}, url],
  [refused({ code: "ECONNREFUSED", port: 3128 }), env, "http://127.0.0.1:3128/v3"],
])("%s with %j at %s: not the proxy's", (error, environment, target) => {
  expect(proxyFailure(error, new URL(target), environment)).toBeUndefined();
});

test.each([
  ["shop:deskPassword", "hunter2-and-more", true],
  ["shop:apiKey", "0123456789ab", true],
  ["shop:tokenUrl", "https://login.example.com", false],
  ["shop:deskPassword", "x", false],
  ["shop:address", "kiosk-berlin-01", false],
])("a value of the program that looks like a secret: %s = %s is told: %s", (key, text, isTold) => {
  const { status, message } = checkConfigSecrets(new Map([[key, { text, secret: false }]]));
  expect([status, message.includes(key)]).toEqual(isTold ? ["warn", true] : ["ok", false]);
  expect(message).not.toContain("hunter2");
});
