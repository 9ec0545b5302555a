import { expect, test } from "vitest";
import { checkNode, checkSdk, doctorReport } from "../../cli/doctor/diagnose.js";
import {
  checkCertificates,
  checkClock,
  checkProxy,
  checkScopes,
} from "../../cli/doctor/service-checks.js";
import { checkSetting } from "../../cli/doctor/setting-checks.js";
import { configEntries } from "../../provider/pulumi-cli/project-files.js";
import { resources } from "../../provider/resources/index.js";
import { defaultScopes, scopes } from "../../provider/service/http/operations.js";
import { describeSettings } from "../../provider/service/settings.js";
import { temporaryFolder } from "./temporary-folder.js";

test.each([
  ["22.18.0", "fail"],
  ["22.19.0", "ok"],
  ["20.20.2", "fail"],
  ["24.1.0", "ok"],
])("Node %s: %s", (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

test("a folder without the SDK is told how to install it", () => {
  const check = checkSdk(temporaryFolder());
  expect(check).toMatchObject({ status: "warn", advice: 'Run: npm install "@pulumi/pulumi@^3"' });
});

const settingCheck = (
  key: string,
  environment: Record<string, string>,
  config: Record<string, string> = {},
) => {
  const setting = describeSettings().find((candidate) => candidate.key === key);
  if (!setting) throw new Error(key);
  return checkSetting(setting, { environment, config: (name) => config[name] });
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
});

test("a secret is never shown", () => {
  const check = settingCheck("clientSecret", { CONVERSATION_CLIENT_SECRET: "very-secret" });
  expect(check.status).toBe("ok");
  expect(JSON.stringify(check)).not.toContain("very-secret");
});

test("a broken setting names the rule", () => {
  const check = settingCheck("plan", { CONVERSATION_PLAN: "gold" });
  expect(check).toMatchObject({ status: "fail" });
  expect(check.message).toContain("developer, basic, enterprise");
});

test("all scopes granted: every operation is allowed", () => {
  expect(checkScopes(defaultScopes).status).toBe("ok");
});

test("missing scopes are told by the operations that would be refused, and by name", () => {
  const check = checkScopes([scopes.read, scopes.interactionManage]);
  expect(check.status).toBe("warn");
  // Per kind create, update and delete, and the list of authentications, which reading does not cover.
  const refused = 3 * resources.length + 1;
  expect(check.message.split(":")[0]).toBe(`${refused} operations would be refused`);
  expect(check.message).toMatch(new RegExp(` and ${refused - 5} more$`));
  expect(check.advice).toMatch(/: app\.conversation\.conversationmgr\.manage$/);
});

test("scopes that the token address does not tell are not judged", () => {
  expect(checkScopes(undefined).status).toBe("skipped");
});

const now = Date.parse("2026-01-01T00:00:00Z");

test.each([
  ["Thu, 01 Jan 2026 00:00:00 GMT", "ok", "the same as the service's"],
  ["Thu, 01 Jan 2026 00:00:20 GMT", "ok", "20 s behind the service"],
  ["Wed, 31 Dec 2025 23:50:00 GMT", "warn", "this machine's clock is 600 s ahead of the service"],
  ["soon", "skipped", "the service sends no Date"],
  [undefined, "skipped", "the service sends no Date"],
])("clock, service at %s: %s", (date, status, message) => {
  expect(checkClock(date, now)).toMatchObject({ status, message });
});

test("the address of a proxy is shown without its credentials", () => {
  const check = checkProxy({
    HTTPS_PROXY: "http://me:hidden@proxy.example.com:8080",
    NO_PROXY: "a",
  });
  expect(check.message).toBe("calls go through proxy.example.com:8080, except for a");
});

test("certificates that are not checked are a warning", () => {
  expect(checkCertificates({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }).status).toBe("warn");
});

test("a file of certificates that is missing is a failure", () => {
  expect(checkCertificates({ NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" }).status).toBe("fail");
});

test("the stack's configuration is read with what is encrypted, other shapes passed over", () => {
  const json = JSON.stringify({
    "conversation:a": { value: "1", secret: true },
    b: { objectValue: {} },
  });
  expect(configEntries(json)).toEqual(
    new Map<string, unknown>([
      ["conversation:a", { text: "1", secret: true }],
      ["b", { secret: false }],
    ]),
  );
  expect(configEntries("no JSON")).toBeUndefined();
});

test("the report counts what needs attention and shows the advice below", () => {
  const report = doctorReport(
    {
      ok: false,
      checks: [
        { name: "node", status: "ok", message: "Node 24", advice: "" },
        { name: "token", status: "fail", message: "refused", advice: "Check it." },
      ],
    },
    false,
  );
  expect(report).toBe("✓ node   Node 24\n✗ token  refused\n         → Check it.\n\n1 failed.\n");
});
