import * as pulumi from "@pulumi/pulumi";
import {
  Authentication,
  Channel,
  ClientApplication,
  type ClientApplicationArgs,
  Orchestration,
} from "pulumi-conversation";
import { startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { withoutPace } from "../support/cli-project.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { type TestStack, testStack } from "../support/stack.js";

const agents = ["1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10"];

let emulator: Awaited<ReturnType<typeof startEmulator>>;
let control: EmulatorControl;
let shop: TestStack;

beforeAll(async () => {
  emulator = await startEmulator({ switches: { unknownReference: "accept" } });
  control = new EmulatorControl(emulator);
  shop = await testStack({ ...emulatorEnvironment(emulator), ...withoutPace });
});
afterAll(async () => {
  await shop?.remove();
  await emulator?.close();
});

/** An orchestration with an `onError` hook that has the engine repeat so often. */
const flow = (name: string, repeats: number) => async () => {
  const again = new pulumi.ErrorHook("again", ({ errors }) => errors.length <= repeats);
  const applications = { agentConfiguration: { agents } };
  new Orchestration(name, { name, applications }, { hooks: { onError: [again] } });
};

const kiosk =
  (hooks: pulumi.ResourceHookBinding, displayName = "Kiosk") =>
  async () => {
    new Channel("kiosk", { type: "custom.kiosk", displayName, icon: "aVZC" }, { hooks });
  };

const broken = () => {
  throw new Error("not today");
};

/** The POST is acted on, its answer is lost, and the list is forbidden so often after that. */
const lostAndForbidden = (times: number): Promise<void> =>
  control.faults(
    { on: "POST /orchestrations", kind: "drop-after-commit" },
    { on: "GET /orchestrations", kind: "forbidden-list", after: 1, times },
  );

const flows = async (name: string) =>
  (await control.objects("orchestrations")).filter((object) => object.name === name);

const posts = async (): Promise<number> =>
  (await control.writes()).filter((call) => call === "POST /orchestrations").length;

// The tests share a stack, whose resources are those of the last program.
test("an onError hook that repeats a creation of unknown effect sends no second POST, and ends well once the list can be read", async () => {
  await lostAndForbidden(3);
  await shop.up(flow("first", 5));
  const [made, ...others] = await flows("first");
  expect(others).toEqual([]);
  expect(shop.state()).toContain(made?.id);
  expect(await posts()).toBe(1);
});

test("repeated by a hook, and in the next up, nothing is made twice while the list is forbidden", async () => {
  const before = await posts();
  await lostAndForbidden(1000);
  await expect(shop.up(flow("second", 3))).rejects.toThrow(
    /It is unknown whether the call created the orchestration/,
  );
  await expect(shop.up(flow("second", 3))).rejects.toThrow(
    /Allow the client to list orchestrations/,
  );
  expect(await posts()).toBe(before + 1);
  await control.control("DELETE", "/faults");
  await shop.up(flow("second", 3));
  const [made, ...others] = await flows("second");
  expect(others).toEqual([]);
  expect(shop.state()).toContain(made?.id);
});

test("a hook before a creation that fails keeps it from being sent; one after it that fails leaves the object in the state", async () => {
  await expect(shop.up(kiosk({ beforeCreate: [broken] }))).rejects.toThrow(/not today/);
  expect(await control.objects("channels")).toEqual([]);
  await expect(shop.up(kiosk({ afterCreate: [broken] }))).rejects.toThrow(/not today/);
  const [made] = await control.objects("channels");
  expect(shop.state()).toContain(made?.id);
  await expect(shop.up(kiosk({ beforeUpdate: [broken] }, "New"))).rejects.toThrow(/not today/);
  expect(await control.objects("channels")).toEqual([made]);
  await shop.up(kiosk({}, "New"));
  expect(await control.objects("channels")).toMatchObject([{ id: made?.id, displayName: "New" }]);
});

test("a creation that leaves its object incomplete is repeated by a hook on the same object", async () => {
  const [made] = await control.objects("channels");
  const urn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Channel::kiosk";
  await control.faults({ on: "PUT /channels/{id}", kind: "status", status: 400 });
  const program = async () => {
    const again = new pulumi.ErrorHook("again", ({ errors }) => errors.length <= 1);
    await kiosk({ onError: [again] }, "Newer")();
  };
  await shop.up(program, urn);
  expect(await control.objects("channels")).toMatchObject([{ id: made?.id, displayName: "Newer" }]);
});

test("resources that stand for their ids arrive through a transform, in a preview of what is not made yet, too", async () => {
  const program = async () => {
    const authentication = new Authentication("desk", {
      basicAuth: { username: "hub", password: "not-a-real-secret" },
    });
    const roles: ClientApplicationArgs["roles"] = [
      {
        name: "customer",
        version: "v3",
        callback: "https://desk.example.com/messages",
        notificationEmail: "ops@example.com",
        authentication,
      },
    ];
    const transforms: pulumi.ResourceTransform[] = [({ props, opts }) => ({ props, opts })];
    new ClientApplication("desk", { name: "desk", roles }, { transforms });
  };
  await shop.preview(program);
  await shop.up(program);
  const [login] = await control.objects("authentications");
  const [application] = await control.objects("clientapplications");
  expect(application).toMatchObject({ roles: [{ authentication: { id: login?.id } }] });
});

test("a secret that the SDK of an inline program drops at a transform is encrypted in the state", async () => {
  await shop.up(async () => {
    const transforms: pulumi.ResourceTransform[] = [({ props, opts }) => ({ props, opts })];
    const displayName = pulumi.secret("hushed-by-program");
    new Channel("hushed", { type: "custom.hushed", displayName, icon: "aVZC" }, { transforms });
  });
  const channels = await control.objects("channels");
  expect(channels).toMatchObject([{ displayName: "hushed-by-program" }]);
  expect(shop.state()).not.toContain("hushed-by-program");
});

test("a renamed resource that ignores every change has a new owner, and so another one gets its old name", async () => {
  const channel = (name: string, type: string, options?: pulumi.CustomResourceOptions) =>
    new Channel(name, { type, displayName: "Kiosk", icon: "aVZC" }, options);
  const ignoreChanges = ["*"];
  const renamed = () =>
    channel("new", "custom.first", { aliases: [{ name: "old" }], ignoreChanges });
  await shop.up(async () => void channel("old", "custom.first"));
  const [first] = await control.objects("channels");
  await shop.up(async () => void renamed());
  await shop.up(async () => void [channel("old", "custom.second"), renamed()]);
  expect(await control.objects("channels")).toMatchObject([
    { id: first?.id, type: "custom.first", description: expect.stringContaining("prod new #") },
    { type: "custom.second", description: expect.stringContaining("prod old #") },
  ]);
});
