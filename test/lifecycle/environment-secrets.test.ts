import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { fromEnv } from "../../sdk/index.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { roleOf } from "../support/forms.js";
import { basicInputs, kiosk, stepsOn } from "./steps.js";

const variables = ["FROM_ENV_ONE", "FROM_ENV_TWO"] as const;
const one = fromEnv("FROM_ENV_ONE", { version: 1 });
const two = fromEnv("FROM_ENV_TWO", { version: "2026-11" });

let hub: Emulated;
const { checked, make, change } = stepsOn(() => hub);

beforeEach(() => {
  process.env.FROM_ENV_ONE = 'one "quoted" \\ value';
  process.env.FROM_ENV_TWO = "two-value";
});

afterEach(async () => {
  for (const name of variables) delete process.env[name];
  await hub.stop();
});

const start = async (secrets: "mask" | "echo" | "omit" = "echo") => {
  hub = await emulated({ switches: { secrets } });
};

/** A state in which no value of a variable stands, in no spelling of JSON. */
const expectNoValue = (state: unknown): void => {
  const text = JSON.stringify(state);
  for (const value of variables.map((name) => process.env[name] ?? "")) {
    expect(text).not.toContain(value);
    expect(text).not.toContain(JSON.stringify(value).slice(1, -1));
  }
};

const oauth = (): Json =>
  owned("bot", {
    name: "bot",
    oauth2: {
      tokenRequestUrl: "https://bot.example.com/token",
      method: "POST",
      headers: { Authorization: `Basic ${two}`, "Content-Type": "application/json" },
      payload: { clientId: "hub", clientSecret: one },
      accessTokenPath: "$.token",
    },
  });

const application = (): Json =>
  owned("app", { name: "app", roles: [roleOf("custom_bot", { headers: { "X-Key": two } })] });

test.each<[string, string, () => Json, (object: Json) => unknown, unknown]>([
  [
    "a password",
    "Authentication",
    () => basicInputs(one),
    ({ basicAuth }) => (basicAuth as Json).password,
    'one "quoted" \\ value',
  ],
  [
    "a part of a header",
    "Authentication",
    oauth,
    ({ oauth2 }) => ((oauth2 as Json).headers as readonly Json[])[0],
    { name: "Authorization", value: "Basic two-value" },
  ],
  [
    "a member of JSON",
    "Authentication",
    oauth,
    ({ oauth2 }) => JSON.parse(String((oauth2 as Json).payload)),
    { clientId: "hub", clientSecret: 'one "quoted" \\ value' },
  ],
  [
    "a header of a callback",
    "ClientApplication",
    application,
    ({ roles }) => (roles as readonly Json[])[0]?.headers,
    [{ name: "X-Key", value: "two-value" }],
  ],
])(
  "%s comes from the environment; the state holds name and version",
  async (_, kind, inputs, found, expected) => {
    await start();
    const { id, state } = await make(kind, inputs());
    const collection = kind === "Authentication" ? "authentications" : "clientapplications";
    const [object] = await hub.objects(collection);
    expect(found(object ?? {})).toEqual(expected);
    expectNoValue(state);
    hub.nextRun();
    const read = await hub.of(kind).read(id, state as Json);
    expectNoValue(read);
    expect(await hub.of(kind).diff(id, state, await checked(kind, inputs()))).toEqual({
      changes: false,
    });
  },
);

test("a new version that only a page confirms is not written", async () => {
  await start();
  const { id, state } = await make("Authentication", basicInputs(one));
  process.env.FROM_ENV_ONE = "rotated";
  const page = { kind: "status", status: 200, body: "<html>", times: 9 };
  await hub.faults({ on: "PUT /authentications/{id}", ...page });
  const next = basicInputs(fromEnv("FROM_ENV_ONE", { version: 2 }));
  await expect(change("Authentication", id, state, next)).rejects.toThrow("not JSON");
});

test("a new version is an update that writes the new value; the old one is no change", async () => {
  await start();
  const { id, state } = await make("Authentication", basicInputs(one));
  process.env.FROM_ENV_ONE = "rotated";
  const same = await checked("Authentication", basicInputs(one));
  expect(await hub.of("Authentication").diff(id, state, same)).toEqual({ changes: false });
  const next = basicInputs(fromEnv("FROM_ENV_ONE", { version: 2 }));
  const diff = await hub
    .of("Authentication")
    .diff(id, state, await checked("Authentication", next));
  expect(diff.changes).not.toBe(false);
  const after = await change("Authentication", id, state, next);
  expect(await hub.objects("authentications")).toMatchObject([
    { basicAuth: { password: "rotated" } },
  ]);
  expectNoValue(after);
});

test.each(["mask", "echo", "omit"] as const)(
  "preview, refresh and destroy do without the variable, where secrets are shown as %s",
  async (secrets) => {
    await start(secrets);
    const { id, state } = await make("Authentication", basicInputs(one));
    delete process.env.FROM_ENV_ONE;
    hub.nextRun();
    const same = await checked("Authentication", basicInputs(one));
    expect(await hub.of("Authentication").diff(id, state, same)).toEqual({ changes: false });
    expect(await hub.of("Authentication").read(id, state)).toMatchObject({ id });
    hub.nextRun();
    await hub.of("Authentication").delete(id, state);
    expect(await hub.objects("authentications")).toEqual([]);
  },
);

test("where the variable is missing a preview warns, and the creation writes nothing", async () => {
  await start();
  delete process.env.FROM_ENV_ONE;
  const inputs = await checked("Authentication", basicInputs(one));
  expect(hub.reported).toEqual([
    'Authentication "web": one of its secrets comes from the environment variable FROM_ENV_ONE (version 1), which is not set. The preview continues without it; pulumi up will fail.',
  ]);
  await expect(hub.of("Authentication").create(inputs)).rejects.toThrow(
    /creating the authentication "web".* failed: .*FROM_ENV_ONE \(version 1\), which is not set. Nothing was changed. Set FROM_ENV_ONE where Pulumi runs/,
  );
  expect(await hub.objects("authentications")).toEqual([]);
});

test("a preview that sees the variable checks its value", async () => {
  await start();
  process.env.FROM_ENV_TWO = "x".repeat(5000);
  const { failures } = await hub.of("ClientApplication").check({}, application());
  const reasons = failures.map(({ reason }) => reason).join();
  expect(reasons === "" || reasons.includes("headers")).toBe(true);
  expect(reasons).not.toContain("xxx");
});

test.each([
  ["", []],
  [", even if the program marks it", ["displayName"]],
])("what is no secret is refused by name%s", async (_, markedSecrets) => {
  await start();
  const inputs = kiosk({ displayName: one, markedSecrets });
  const { failures } = await hub.of("Channel").check({}, inputs);
  expect(failures).toEqual([
    {
      property: "",
      reason: expect.stringMatching(
        /^displayName is not a secret, but fromEnv is only for secrets/,
      ),
    },
  ]);
});

test.each([
  ["A-B", 1, "the name must consist of letters"],
  ["", 1, "the name must consist of letters"],
  ["A", "a b", "must be 1 to 64 letters"],
  ["A", "", "must be 1 to 64 letters"],
])("fromEnv(%j, %j) is refused", async (name, version, reason) => {
  await start();
  expect(() => fromEnv(name, { version })).toThrow(reason);
});
