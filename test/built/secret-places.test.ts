import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { marker } from "../security/support/canaries.js";
import { SearchedProject } from "../security/support/searched-project.js";

const variable = "CANARY_OF_THE_ENVIRONMENT";

/** Every way in which a program can hand over a value that it says is secret, in every place that takes one. */
const program = `
const pulumi = require("@pulumi/pulumi");
const { Authentication, Channel, ClientApplication, fromEnv } = require("pulumi-conversation");
const word = process.env.WORD ?? "first";
// The program itself is searched, too.
const hush = (place) => "${marker.slice(0, 3)}" + "${marker.slice(3)} " + word + " " + place;
const placeholder = fromEnv("${variable}", { version: word === "first" ? 1 : 2 });
const secretly = (place) => pulumi.secret(hush(place));

const basic = new Authentication("basic", { name: "basic", basicAuth: { username: "hub", password: hush("password") } });
new Authentication("form", { name: "form", oauth2: {
  tokenRequestUrl: "https://id.example.com/token", method: "POST",
  payload: "client_secret=" + encodeURIComponent(hush("payload")), headers: { "X-Key": "Bearer " + hush("header") },
} });
new Authentication("environment", { name: "environment", basicAuth: { username: "hub", password: pulumi.interpolate\`\${placeholder}\` } });
new ClientApplication("bot", { name: "bot", roles: [{
  name: "custom_bot", version: "v3", callback: "https://bot.example.com/in", notificationEmail: "ops@example.com",
  authentication: basic, headers: { "X-Key": secretly("role"), "X-Environment": placeholder },
}] });

const ways = {
  plain: () => placeholder,
  output: () => pulumi.output(placeholder),
  interpolated: () => pulumi.interpolate\`Bearer \${placeholder} \${pulumi.output("end")}\`,
  applied: () => pulumi.output({ a: 1 }).apply(() => ({ deep: { key: placeholder } })),
  promised: async () => ({ list: ["shown", { value: placeholder }] }),
  secret: () => secretly("extra"),
  "secret inside": () => ({ deep: [{ key: secretly("deep"), vendorId: secretly("0123456789abcdef") }] }),
  "secret text": () => pulumi.jsonStringify({ inner: secretly("text") }),
  "secret whole": () => pulumi.secret({ deep: { key: hush("whole") } }),
};
Object.entries(ways).forEach(([way, value], place) =>
  new Channel("way" + place, {
    type: "custom.way" + place, displayName: way, icon: "aVZC",
    extra: { vendorKey: value(), "vendor.odd": { [way]: value() }, settings: pulumi.output(value()).apply((of) => ({ of })) },
  }));

class Desk extends pulumi.ComponentResource {
  constructor(name, options) {
    super("shop:Desk", name, {}, options);
    new Channel(name + "-inner", { type: "custom." + name, displayName: name, icon: "aVZC" }, { parent: this });
    this.registerOutputs({});
  }
}
new Desk("desk", { transformations: [({ type, props, opts }) =>
  type.endsWith("Channel") ? { props: { ...props, extra: { vendorKey: placeholder, other: secretly("transformed") } }, opts } : undefined] });
exports.seen = pulumi.interpolate\`\${basic.id} \${secretly("output")}\`;
`;

let shop: SearchedProject;

const withWord = (word: string) => ({ WORD: word, [variable]: `${marker} ${word} environment` });

beforeAll(async () => {
  shop = await SearchedProject.open("client-hush & + é", {}, [], program);
});

afterAll(async () => {
  await shop?.[Symbol.asyncDispose]();
});

const succeed = (args: readonly string[], word: string): Promise<void> =>
  shop.succeed(args, "", withWord(word));

test("a preview and the first up show no secret, and the service has every one", async () => {
  await succeed(["preview", "--json"], "first");
  await succeed(["up", "--yes", "--diff"], "first");
  const held = await shop.control("GET", "/snapshot");
  expect(held.split(`${marker} first `).length).toBeGreaterThan(20);
  expect(await shop.leaks()).toEqual([]);
});

/** What shows objects of the service beside those of the state. */
const commands = [
  ["drift", "--json"],
  ["compare", "stack:prod", "live", "--json"],
  ["export", "--out", "exported", "--managed", "--json"],
];

/** What shows the program's own values, the state's, or none at all: they are the same however a service answers. */
const otherCommands = [
  ["rehearse", "--markdown"],
  ["rehearse", "--json", "--destroy"],
  ["forecast"],
  ["repair"],
  ["orphans"],
  ["doctor"],
  ["explain"],
];

test.each(["mask", "omit", "echo"])(
  "where the service stores them and answers by %s, no operation and no command shows one",
  async (way) => {
    await shop.control("PUT", "/switches", { secrets: way });
    await shop.pulumi(["refresh", "--yes", "--diff"], "", withWord("first"));
    await shop.pulumi(["preview", "--json", "--refresh"], "", withWord(way));
    // Shows the preview, and then what is done.
    await succeed(["up", "--yes", "--diff", "--refresh"], way);
    await succeed(["stack", "export"], way);
    await succeed(["stack", "output", "--json"], way);
    for (const args of way === "echo" ? [...commands, ...otherCommands] : commands) {
      const { code, errors } = await shop.command(args, withWord(way));
      expect({ args, errors: [0, 2, 4].includes(code) ? "" : errors }).toEqual({
        args,
        errors: "",
      });
    }
    expect(await shop.leaks()).toEqual([]);
  },
);

/** How a service names what it was sent: all of it, each value in a sentence, the places of values. */
const refusals: Readonly<Record<string, (body: string) => unknown>> = {
  "all of it": (body) => ({ code: "400-100", developerMessage: `no: ${body}` }),
  "each value": (body) => ({
    code: "400-100",
    details: [...body.matchAll(/"([^"]{8,})"/g)].map(([, value]) => ({ key: value, value })),
  }),
  "the places": (body) => ({
    code: "400-152",
    details: [...body.matchAll(/"([^"]{1,40})":/g)].map(([, key]) => ({ key, value: "wrong" })),
  }),
};

test.each(Object.entries(refusals))(
  "a refusal that names %s shows no secret, in an update nor a creation",
  async (name, answer) => {
    for (const method of ["PUT", "POST"])
      for (const on of new Set(shop.wire.arrived.filter((call) => call.startsWith(method))))
        if (!on.includes("token"))
          shop.wire.add({
            on,
            do: "answer",
            times: 1000,
            with: (_, { body }) => ({ status: 400, text: JSON.stringify(answer(`${body}`)) }),
          });
    const word = name.replaceAll(" ", "-");
    const { code, output } = await shop.pulumi(
      ["up", "--yes", "--skip-preview", "--diff"],
      "",
      withWord(word),
    );
    shop.wire.clear();
    expect(code).not.toBe(0);
    expect(output).toMatch(/400/);
    expect(await shop.leaks()).toEqual([]);
  },
);

test("a destroy shows no secret, and nothing is left", async () => {
  await succeed(["destroy", "--yes", "--diff"], "omit");
  const { objects } = JSON.parse(await shop.control("GET", "/snapshot"));
  expect(Object.values(objects).flat()).toEqual([]);
  expect(await shop.leaks()).toEqual([]);
});

test("the search finds a secret that lies in a file of the project", async () => {
  mkdirSync(join(shop.project.folder, "left"));
  writeFileSync(join(shop.project.folder, "left", "behind.txt"), `x${marker} first password`);
  expect(await shop.leaks()).toEqual(["left/behind.txt"]);
});
