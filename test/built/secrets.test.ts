import { afterAll, beforeAll, expect, test } from "vitest";
import { SearchedProject } from "../security/support/searched-project.js";
import { marker } from "../support/forms.js";
import { filesBelow } from "../support/left-behind.js";

/** Every way in which a program can hand over a value that it says is secret, in every place that takes one. */
const ways = `
const pulumi = require("@pulumi/pulumi");
const { Authentication, ClientApplication, fromEnv } = conversation;
const word = process.env.WORD;
// The program itself is searched, too.
const hush = (place) => "${marker.slice(0, 3)}" + "${marker.slice(3)} " + word + " " + place;
const placeholder = fromEnv("HUSHED", { version: word });
const secretly = (place) => pulumi.secret(hush(place));

const basic = new Authentication("basic", { name: "basic", basicAuth: { username: "hub", password: hush("password") } });
new Authentication("form", { name: "form", oauth2: {
  tokenRequestUrl: "https://id.example.com/token", method: "POST", accessTokenPath: "$.token",
  payload: "client_secret=" + encodeURIComponent(hush("payload")), headers: { "X-Key": "Bearer " + hush("header") },
} });
new Authentication("environment", { name: "environment", basicAuth: { username: "hub", password: pulumi.interpolate\`\${placeholder}\` } });
new ClientApplication("bot", { name: "bot", roles: [{
  name: "custom_bot", version: "v3", callback: "https://bot.example.com/in", notificationEmail: "ops@example.com",
  authentication: basic, headers: { "X-Key": secretly("role"), "X-Environment": placeholder },
}] });

const signIn = (payload, headers) => ({
  tokenRequestUrl: "https://id.example.com/token", method: "POST", accessTokenPath: "$.token", payload, headers,
});
const ways = {
  plain: () => placeholder,
  output: () => pulumi.output(placeholder),
  interpolated: () => pulumi.interpolate\`Bearer \${placeholder} \${pulumi.output("end")}\`,
  applied: () => pulumi.output({ a: 1 }).apply(() => placeholder),
  promised: async () => placeholder,
  secret: () => secretly("way"),
  text: () => pulumi.jsonStringify({ inner: [secretly("text"), placeholder] }),
};
for (const [way, value] of Object.entries(ways))
  new Authentication(way, { name: way, oauth2: signIn(value(), { "X-Key": value(), "X-Applied": pulumi.output(value()).apply((of) => of) }) });
new Authentication("whole", { name: "whole", oauth2: pulumi.secret(signIn(hush("whole"), { "X-Key": hush("within") })) });

if (word === "refused") new Authentication("added", { name: "added", oauth2: signIn(secretly("added"), { "X-Key": placeholder }) });

class Desk extends pulumi.ComponentResource {
  constructor(name, options) {
    super("shop:Desk", name, {}, options);
    new Authentication(name + "-inner", { name, basicAuth: { username: "hub", password: "replaced" } }, { parent: this });
    this.registerOutputs({});
  }
}
new Desk("desk", { transformations: [({ type, props, opts }) =>
  type.endsWith("Authentication") ? { props: { ...props, basicAuth: { username: "hub", password: secretly("transformed") } }, opts } : undefined] });
exports.seen = pulumi.interpolate\`\${basic.id} \${secretly("output")}\`;
`;

const first = "first-hush & + é 100%";
const rotated = "second-hush";

let shop: SearchedProject;

beforeAll(async () => {
  shop = await SearchedProject.open(first, {}, [rotated], ways);
});

afterAll(async () => {
  await shop?.[Symbol.asyncDispose]();
});

test("a preview and the first up show no secret, and the service has every one", async () => {
  await shop.succeed(["preview", "--json"], "first");
  await shop.succeed(["up", "--yes", "--skip-preview", "--diff"], "first");
  const held = await shop.control("GET", "/snapshot");
  expect(held.split(`${marker} first `).length).toBeGreaterThan(30);
  expect(shop.tokens().length).toBeGreaterThan(0);
  const files = [...filesBelow(shop.project.folder).keys()].join("\n");
  expect(files).toContain("cache/pulumi-conversation/buckets.sqlite");
  expect(files).toContain("backend/.pulumi/stacks/shop/prod.json");
  expect(files).toContain("Pulumi.prod.yaml");
  expect(await shop.leaks()).toEqual([]);
});

test.each([
  // Shows the preview, too.
  ["mask", "first", []],
  ["omit", "mask", ["--skip-preview"]],
  ["echo", "omit", ["--skip-preview"]],
] as const)(
  "secrets that come back by %s are no drift, and a changed one is written",
  async (way, before, options) => {
    await shop.control("PUT", "/switches", { secrets: way });
    await shop.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], before);
    await shop.succeed(["up", "--yes", "--diff", ...options], way);
    const held = await shop.control("GET", "/snapshot");
    expect(held).toContain(`${marker} ${way} `);
    expect(held).not.toContain(`${marker} ${before} `);
    expect(await shop.leaks()).toEqual([]);
  },
);

/** What shows the program's values, the state's, or those of the service. */
const commands = [
  ["compare", "stack:prod", "live", "--json"],
  ["export", "--out", "exported", "--json"],
  // Of this all its other reports are made.
  ["rehearse", "--json"],
  ["drift", "--json"],
  ["explain"],
];

test("no operation and no command shows one where the service answers with them", async () => {
  await shop.succeed(["stack", "export"], "echo");
  await shop.succeed(["stack", "output", "--json"], "echo");
  for (const args of commands) {
    const { code, errors } = await shop.command(args, "echo");
    expect({ args, errors: [0, 2, 4].includes(code) ? "" : errors }).toEqual({ args, errors: "" });
  }
  expect(await shop.leaks()).toEqual([]);
});

/** How a service names what it was sent: all of it, each value in a sentence, the places of values. */
const refusals: readonly ((body: string, authorization: string) => unknown)[] = [
  (body, authorization) => ({ code: "400-100", developerMessage: `no: ${authorization} ${body}` }),
  (body) => ({
    code: "400-100",
    details: [...body.matchAll(/"([^"]{8,})"/g)].map(([, value]) => ({ key: value, value })),
  }),
  (body) => ({
    code: "400-196",
    details: [...body.matchAll(/"([^"]{1,40})":/g)].map(([, key]) => ({ key, value: "wrong" })),
  }),
];

test("a refusal that names what it refuses shows no secret, in an update nor a creation", async () => {
  let answered = 0;
  for (const on of new Set(shop.wire.arrived.filter((call) => /^(PUT|POST)/.test(call))))
    shop.wire.add({
      on,
      do: "answer",
      times: 1000,
      with: (_, { body, authorization }) => {
        const refusal = refusals[answered++ % refusals.length];
        return { status: 400, text: JSON.stringify(refusal?.(body, authorization)) };
      },
    });
  const words = ["up", "--yes", "--skip-preview", "--diff", "--continue-on-error"];
  const { code, output } = await shop.pulumi(words, "refused");
  shop.wire.clear();
  expect(code).not.toBe(0);
  expect(output).toMatch(/400/);
  expect(answered).toBeGreaterThan(2 * refusals.length);
  expect(await shop.leaks()).toEqual([]);
});

test("a client secret that was rotated reaches refresh and destroy of old state through the environment", async () => {
  await shop.setClientSecret(rotated);
  const refused = await shop.pulumi(["refresh", "--yes", "--skip-preview"], "echo");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("CONVERSATION_CLIENT_SECRET");
  for (const command of ["refresh", "destroy"])
    await shop.succeed([command, "--yes", "--skip-preview", "--diff"], "echo", {
      CONVERSATION_CLIENT_SECRET: rotated,
    });
  const { objects } = JSON.parse(await shop.control("GET", "/snapshot"));
  // What was made and yet refused is in no state.
  expect(Object.values(objects).flat()).toMatchObject([{ name: "added" }]);
  expect(await shop.leaks()).toEqual([]);
});
