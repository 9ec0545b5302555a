import fc from "fast-check";
import { expect, test } from "vitest";
import { runOrphans } from "../../../cli/repair/orphans.js";
import { repairReport } from "../../../cli/repair/repair.js";
import { whileAlone } from "../../../cli/stack/open-stack.js";
import { isObject } from "../../../provider/kernel/json.js";
import { typeToken } from "../../../provider/pointer.js";
import { pending, type StackSandbox, stackSandbox } from "../stack/stack-sandbox.js";
import { temporaryFolder } from "../temporary-folder.js";

const web = { type: "custom.web", displayName: "Web", icon: "aVZC" };

/** What a run of another package began. */
const foreign = (type: string, at: number) =>
  pending(type, {
    urn: `urn:pulumi:prod::shop::aws:s3/bucket:Bucket::bucket-${at}`,
    ...{ type: "aws:s3/bucket:Bucket", custom: true, id: `b-${at}`, inputs: {}, outputs: {} },
  });

const kinds = ["creating", "updating", "deleting", "reading"];

test("what other packages have pending stays, whatever it is, and is told in one sentence", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "web", web);
  const created = box.popped();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 400 }),
      async (types) => {
        box.write(...types.map(foreign), pending("creating", created));
        const before = box.bytes();
        const found = await box.repair({ apply: true });
        expect(box.bytes()).toEqual(before);
        expect(found.steps).toMatchObject([{ action: "record", done: false }]);
        expect(found.left).toHaveLength(1);
        expect(found.left[0]).toContain(`${types.length} operation`);
        expect(found.left[0]).toContain(`${types[0]} urn:pulumi:prod::shop::aws:s3`);
        expect(repairReport(found).split("\n").length).toBeLessThan(20);
      },
    ),
    { numRuns: Number(process.env.FUZZ_SCALE ?? 1) * 3, seed: 12 },
  );
  // Once they are settled it goes on.
  box.write(pending("creating", created));
  expect(await box.repair({ apply: true })).toMatchObject({ left: [], steps: [{ done: true }] });
});

const heldFlows = (box: StackSandbox): readonly unknown[] => {
  const resources: readonly unknown[] = box.deployment().resources;
  return resources.flatMap((each) =>
    isObject(each) && each.type === typeToken("Orchestration") ? [each.id] : [],
  );
};

/** The creation of an orchestration that a killed run made twice. */
const madeTwice = async (): Promise<StackSandbox> => {
  const box = await stackSandbox();
  const application = await box.up("ClientApplication", "app", {
    name: "app",
    roles: [
      {
        ...{ name: "custom_agent", version: "v3", callback: "https://x.example.com/" },
        notificationEmail: "a@b.example",
      },
    ],
  });
  const flow = { name: "flow", applications: { agentConfiguration: { agents: [application] } } };
  await box.upAnew("Orchestration", "flow", flow);
  await box.control.faults({
    ...{ on: "GET /orchestrations", kind: "stale-list", ms: 3_600_000, times: 99 },
  });
  await box.upAnew("Orchestration", "flow", flow);
  await box.control.control("DELETE", "/faults");
  const created = box.popped();
  box.popped();
  box.write(pending("creating", created));
  return box;
};

const commands = {
  repair: (box: StackSandbox) => box.repair({ apply: true }),
  orphans: (box: StackSandbox) => runOrphans({ ...box.options, delete: true }),
} as const;

test.each([
  { order: ["repair", "repair", "repair"] as const, objects: [1] },
  // Whoever comes first decides: what is left over is deleted, or taken into the state.
  { order: ["repair", "orphans", "repair", "orphans"] as const, objects: [0, 1] },
])("at once, $order: what is there is what the state has", async ({ order, objects }) => {
  const box = await madeTwice();
  const ended = await Promise.allSettled(order.map((name) => commands[name](box)));
  for (const end of ended)
    if (end.status === "rejected") expect(String(end.reason)).toContain("is changing shop/prod");
  await box.repair({ apply: true });
  const left = (await box.control.objects("orchestrations")).map(({ id }) => id);
  expect(heldFlows(box)).toEqual(left);
  expect(objects).toContain(left.length);
});

test("one command at a time changes a stack, and the next one may when it has ended or failed", async () => {
  const stack = (name: string) => ({
    names: { project: "shop", stack: name },
    env: { XDG_CACHE_HOME: cache },
  });
  const cache = temporaryFolder();
  await whileAlone(stack("prod"), async () => {
    const second = whileAlone(stack("prod"), async () => "done");
    await expect(second).rejects.toThrow(`is changing shop/prod (process ${process.pid} on `);
    expect(await whileAlone(stack("test"), async () => "done")).toBe("done");
  });
  const failing = whileAlone(stack("prod"), async () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(await whileAlone(stack("prod"), async () => "done")).toBe("done");
  // Nothing can be kept there, so nobody else can hold a lock.
  const nowhere = { ...stack("prod"), env: { XDG_CACHE_HOME: "/dev/null" } };
  expect(await whileAlone(nowhere, async () => "done")).toBe("done");
});

test("a repair that is cut off at any question to Pulumi is finished by the next one", async () => {
  const whole = await madeTwice();
  await whole.repair({ apply: true });
  const questions = whole.asked().length;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: questions }),
      fc.constantFrom("before" as const, "after" as const),
      async (question, moment) => {
        const box = await madeTwice();
        box.killedAt(question, moment);
        await box.repair({ apply: true }).catch(() => undefined);
        box.alive();
        await box.repair({ apply: true });
        const left = (await box.control.objects("orchestrations")).map(({ id }) => id);
        expect(left).toHaveLength(1);
        expect(heldFlows(box)).toEqual(left);
        expect(await box.repair()).toMatchObject({ steps: [], left: [] });
      },
    ),
    { numRuns: Number(process.env.FUZZ_SCALE ?? 1) * 4, seed: 7 },
  );
});
