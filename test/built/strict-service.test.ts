import type * as pulumi from "@pulumi/pulumi";
import * as conversation from "pulumi-conversation";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { resources } from "../../provider/resources/index.js";
import { bound, formsOf, marker } from "../support/forms.js";
import { listKeys } from "../support/specification.js";
import { type TestStack, testStack } from "../support/stack.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

type ResourceClass = new (name: string, args: pulumi.Inputs) => pulumi.CustomResource;

/** A program that declares every form of every kind; the number is a change of the channel. */
const program =
  (maxTextLength = 500) =>
  async () => {
    const made = new Map<string, pulumi.CustomResource>();
    for (const { definition, name, values } of setUpOrder(resources).flatMap(formsOf)) {
      const args = JSON.parse(JSON.stringify(values), (member, value) =>
        member === "maxTextLength" ? maxTextLength : value,
      );
      const Kind = Reflect.get(conversation, definition.kind) as ResourceClass;
      const inputs = bound(args, (kind) => made.get(kind)) as pulumi.Inputs;
      made.set(definition.kind, new Kind(name, inputs));
    }
  };

const count = resources.flatMap(formsOf).length;

let service: StrictService;
let shop: TestStack;

const during = async <T>(
  work: () => Promise<T>,
): Promise<{ result: T; calls: string[]; tokens: number }> => {
  const [from, tokens] = [service.calls.length, service.tokens()];
  const result = await work();
  const calls = service.calls
    .slice(from)
    .map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}`);
  return { result, calls, tokens: service.tokens() - tokens };
};

beforeAll(async () => {
  service = await startStrictService();
  shop = await testStack(service.environment);
});

afterAll(async () => {
  await shop?.remove();
  await service?.close();
});

test("the first preview makes no call", async () => {
  const { result, calls, tokens } = await during(() => shop.preview(program()));
  expect(result.changeSummary.create).toBe(count + 2);
  expect([calls, tokens]).toEqual([[], 0]);
});

test("up makes every object with one list for each collection", async () => {
  const { calls } = await during(() => shop.up(program()));
  expect(calls.filter((call) => call.startsWith("POST"))).toHaveLength(count);
  expect(calls.filter((call) => call.startsWith("GET")).sort()).toEqual([
    "GET /accounts",
    "GET /authentications",
    "GET /channels",
    "GET /clientapplications",
    "GET /orchestrations",
    "GET /participants",
  ]);
  expect(service.objects("accounts")[0]).toMatchObject({
    name: "kiosk-berlin",
    channel: { id: service.objects("channels")[0]?.id },
    attributes: [{ name: "X-Key", value: expect.stringContaining(marker) }],
    chatConfigurations: {
      entryPoint: { id: "1007" },
      orchestration: { id: service.objects("orchestrations")[0]?.id },
    },
  });
});

test("refresh and up without changes change nothing; up makes no call", async () => {
  const refresh = await during(() => shop.stack.refresh());
  expect(refresh.result.summary.resourceChanges).toEqual({ same: count + 2 });
  expect(refresh.calls.every((call) => call.startsWith("GET") && !call.includes("{id}"))).toBe(
    true,
  );
  const up = await during(() => shop.up(program()));
  expect(up.result.summary.resourceChanges).toEqual({ same: count + 2 });
  expect([up.calls, up.tokens]).toEqual([[], 0]);
});

test("one changed field is one read and one PUT without what the definitions do not know; dependents stay", async () => {
  service.change("channels", "custom.kiosk", {
    region: "eu",
    restrictions: { ...(service.objects("channels")[0]?.restrictions as object), quota: 7 },
  });
  const { result, calls } = await during(() => shop.up(program(600)));
  expect(result.summary.resourceChanges).toEqual({ same: count + 1, update: 1 });
  expect(calls).toEqual(["GET /channels/{id}", "PUT /channels/{id}"]);
  const { body } = service.calls.at(-1) ?? {};
  expect(body).toMatchObject({ restrictions: { inbound: { maxTextLength: 600 } } });
  expect(JSON.stringify(body)).not.toMatch(/region|quota/);
});

test("drift is seen by a refresh and repaired by up, and what was deleted behind us is made again", async () => {
  service.change("channels", "custom.kiosk", { displayName: "Elsewhere" });
  service.remove("accounts", "kiosk-berlin");
  const refresh = await shop.stack.refresh();
  expect(refresh.summary.resourceChanges).toMatchObject({ update: 1, delete: 1 });
  const up = await shop.up(program());
  expect(up.summary.resourceChanges).toMatchObject({ update: 1, create: 1 });
  expect(service.objects("channels")[0]?.displayName).not.toBe("Elsewhere");
  expect(service.objects("accounts")).toHaveLength(1);
});

test("a second state with the same names refuses and touches nothing", async () => {
  const other = await testStack(service.environment);
  const { calls } = await during(() =>
    other.up(program()).catch((error: Error) => {
      expect(error.message).toContain("belongs to another Pulumi resource or state: shop/prod");
    }),
  );
  expect(calls.filter((call) => !call.startsWith("GET"))).toEqual([]);
  await other.stack.destroy();
  expect(service.objects("authentications")).toHaveLength(2);
  await other.remove();
});

test("destroy leaves nothing", async () => {
  await shop.stack.destroy();
  for (const collection of Object.keys(listKeys)) expect(service.objects(collection)).toEqual([]);
});
