import { spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { normaliseFields } from "../../provider/definition/fields.js";
import { pointerTo, unknownValue } from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";
import { handedBack } from "../support/door.js";
import { bound } from "../support/forms.js";
import {
  type Properties,
  type ProviderServer,
  startProviderServer,
} from "../support/provider-server.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

const properties = (kind: string, name: string, values: Properties): Properties => ({
  ...values,
  owner: `shop/prod/0123456789abcdef/${name}`,
  __provider: pointerTo(kind),
});

const channelInputs = (type: string, more: Properties = {}) =>
  properties("Channel", type, { type, displayName: "Kiosk", icon: "aVZC", ...more });

let service: StrictService;
let provider: ProviderServer;

const checked = async (inputs: Properties, olds: Properties = {}): Promise<Properties> => {
  const { inputs: result, failures } = await provider.check(olds, inputs);
  expect(failures).toEqual([]);
  return handedBack(result);
};

const made = async (inputs: Properties): Promise<{ id: string; state: Properties }> => {
  const answer = await provider.create(await checked(inputs));
  expect(answer.error).toBeUndefined();
  return { id: answer.id ?? "", state: handedBack(answer.properties) };
};

beforeAll(async () => {
  service = await startStrictService();
  provider = await startProviderServer({ environment: service.environment });
});

afterAll(async () => {
  provider?.stop();
  await service?.close();
});

/** One object of each kind, in setup order, from the examples in the definitions. */
const ids = new Map<string, string>();
const exampleOf = (kind: string, example: Readonly<Record<string, unknown>>): Properties =>
  properties(kind, `example-${kind}`, bound(example, (other) => ids.get(other)) as Properties);

test.each(resources)(
  "the life of one $kind: check, create, read, update, read",
  async (definition) => {
    const { kind, example } = definition;
    const { id, state } = await made(exampleOf(kind, example));
    ids.set(kind, id);
    const inputs = await checked(exampleOf(kind, example));
    expect((await provider.diff(id, state, inputs)).changes).toBe(false);
    const read = await provider.read(id, state);
    expect(handedBack(read.inputs)).toEqual(inputs);
    const changed = { ...inputs, description: "another" };
    expect((await provider.diff(id, state, changed)).changes).toBeUndefined();
    const updated = await provider.update(id, state, changed);
    expect(updated.error).toBeUndefined();
    const again = await provider.read(id, handedBack(updated.properties));
    expect(handedBack(again.inputs)).toEqual(changed);
    const fields = normaliseFields(definition, inputs);
    expect(handedBack(again.inputs)).toMatchObject({ active: fields.active });
  },
);

test("each refused deletion names who uses the object and whose that is", async () => {
  const refusals: [kind: string, user: RegExp][] = [
    [
      "Authentication",
      /in use by client application "orders-bot" \(ID [\w-]{36}, in this stack: shop\/prod example-ClientApplication\)/,
    ],
    ["ClientApplication", /in use by participant "orders-bot".*orchestration "orders"/],
    ["Participant", /in use by orchestration "orders"/],
    ["Channel", /in use by account "kiosk-berlin"/],
    ["Orchestration", /in use by account "kiosk-berlin"/],
  ];
  // Another process, in which the program did not ask for the objects.
  const other = await startProviderServer({ environment: service.environment });
  for (const [kind, user] of refusals) {
    const { error } = await other.delete(
      ids.get(kind) ?? "",
      properties(kind, `example-${kind}`, {}),
    );
    expect(error).toMatch(user);
  }
  other.stop();
});

test("an object is not deleted while the program still wants it", async () => {
  const { id, state } = await made(channelInputs("custom.wanted"));
  await provider.check({}, channelInputs("custom.wanted"));
  expect(await provider.delete(id, state)).toEqual({});
  expect(service.objects("channels").some((channel) => channel.id === id)).toBe(true);
});

test("parallel first calls of a process are all configured", async () => {
  const { CONVERSATION_CLIENT_SECRET: clientSecret, ...environment } = service.environment;
  const fresh = await startProviderServer({
    environment: { ...environment, CONVERSATION_CLIENT_SECRET: "" },
    config: { "conversation:clientSecret": clientSecret },
  });
  const before = service.tokens();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      fresh.create(channelInputs(`custom.parallel-${number}`)),
    ),
  );
  fresh.stop();
  expect(answers.filter(({ error }) => error)).toEqual([]);
  expect(service.tokens() - before).toBe(1);
});

test("missing settings are named, and nothing is sent", async () => {
  const fresh = await startProviderServer({
    environment: { CONVERSATION_BASE_URL: "", CONVERSATION_TOKEN_URL: "" },
  });
  const { error } = await fresh.create(channelInputs("custom.settings"));
  fresh.stop();
  expect(error).toContain("CONVERSATION_BASE_URL");
  expect(error).toContain("pulumi config set --secret conversation:clientSecret");
});

test("a wrong value is named with its path, without a property and without its value", async () => {
  const inputs = properties("Authentication", "wrong", {
    name: "wrong",
    basicAuth: { username: "u", password: 7_654_321 },
  });
  const { failures } = await provider.check({}, inputs);
  expect(failures).toEqual(["basicAuth.password must be a string, not a number"]);
});

test("unknown values pass the check", async () => {
  const { failures } = await provider.check(
    {},
    channelInputs(unknownValue, { icon: unknownValue, restrictions: unknownValue }),
  );
  expect(failures).toEqual([]);
});

test("a hostile id from an edited state is refused before anything is sent", async () => {
  const calls = service.calls.length;
  for (const id of ["..", "%2e%2e", "a/../b", "a\nb", "x".repeat(10_240)]) {
    const state = channelInputs("custom.hostile");
    expect((await provider.read(id, state)).error ?? "").toMatch(
      /^reading the channel "custom.hostile"/,
    );
    expect((await provider.update(id, state, state)).error).toBeDefined();
    expect((await provider.delete(id, properties("Channel", "other", {}))).error).toBeDefined();
  }
  expect(service.calls.slice(calls).filter(({ method }) => method !== "GET")).toEqual([]);
});

test("an error is one message, without a stack", async () => {
  const before = provider.stderr().length;
  await provider.read("0d9f6c11-7e22-4d8b-b6f4-91d0c3a7e5f6", { __provider: pointerTo("Account") });
  const printed = provider.stderr().slice(before);
  expect(printed).toContain("there is no account with this ID");
  expect(printed).not.toMatch(/\n\s+at /);
});

test("a kind that this release does not know says which release is needed", async () => {
  const { error } = await provider.create({ __provider: pointerTo("Hologram") });
  expect(error).toContain("has no resource Hologram");
});

test("importing the package loads neither the HTTP client nor the emulator", async () => {
  const script = `require("pulumi-conversation"); const loaded = Object.keys(require.cache); console.log(loaded.filter((file) => /node_modules.(undici|zod|hono|bottleneck|p-retry)|dist.(emulator|provider.service|provider.lifecycle)/.test(file)).join())`;
  const child = spawn(process.execPath, ["-e", script], { cwd: process.cwd() });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  await new Promise((ended) => child.once("close", ended));
  expect(printed.trim()).toBe("");
});
