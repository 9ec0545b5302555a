import { afterAll, beforeAll, expect, test } from "vitest";
import { SearchedProject } from "../security/support/searched-project.js";
import { marker } from "../support/forms.js";
import { filesBelow } from "../support/left-behind.js";

const first = "first-hush & + é 100%";
const rotated = "second-hush";

let shop: SearchedProject;

beforeAll(async () => {
  shop = await SearchedProject.open(first, {}, [rotated]);
});

afterAll(async () => {
  await shop?.[Symbol.asyncDispose]();
});

test("a first up writes every secret to the service and leaves none behind", async () => {
  await shop.succeed(["up", "--yes", "--diff"], "first");
  const held = await shop.control("GET", "/snapshot");
  expect(held.split(`"${marker} first `).length).toBeGreaterThan(5);
  expect(shop.tokens().length).toBeGreaterThan(0);
  const files = [...filesBelow(shop.project.folder).keys()].join("\n");
  expect(files).toContain("cache/pulumi-conversation/buckets.sqlite");
  expect(files).toContain("backend/.pulumi/stacks/shop/prod.json");
  expect(files).toContain("Pulumi.prod.yaml");
  expect(await shop.leaks()).toEqual([]);
});

test.each([
  ["echo", "first"],
  ["mask", "echo"],
  ["omit", "mask"],
])(
  "secrets that come back by %s are no drift, and a changed one is written",
  async (way, before) => {
    await shop.control("PUT", "/switches", { secrets: way });
    await shop.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], before);
    await shop.succeed(["up", "--yes", "--skip-preview", "--diff"], way);
    const held = await shop.control("GET", "/snapshot");
    expect(held).toContain(`"${marker} ${way} `);
    expect(held).not.toContain(`"${marker} ${before} `);
    expect(await shop.leaks()).toEqual([]);
  },
);

test("a failed up shows no secret, though the service repeats them all", async () => {
  for (const on of new Set(shop.wire.arrived.filter((call) => call.startsWith("PUT"))))
    shop.wire.add({
      on,
      do: "answer",
      times: 1000,
      with: (_, { body, authorization }) => ({
        status: 400,
        text: JSON.stringify({ code: "400-100", developerMessage: `no: ${authorization} ${body}` }),
      }),
    });
  const { code, output } = await shop.pulumi(["up", "--yes", "--skip-preview", "--diff"], "failed");
  shop.wire.clear();
  expect(code).not.toBe(0);
  expect(output).toContain("no: ");
  expect(await shop.leaks()).toEqual([]);
});

test("a client secret that was rotated reaches refresh and destroy of old state through the environment", async () => {
  await shop.setClientSecret(rotated);
  const refused = await shop.pulumi(["refresh", "--yes", "--skip-preview"], "omit");
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("CONVERSATION_CLIENT_SECRET");
  for (const command of ["refresh", "destroy"])
    await shop.succeed([command, "--yes", "--skip-preview"], "omit", {
      CONVERSATION_CLIENT_SECRET: rotated,
    });
  const { objects } = JSON.parse(await shop.control("GET", "/snapshot"));
  expect(Object.values(objects).flat()).toEqual([]);
  expect(await shop.leaks()).toEqual([]);
});
