import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { objectInputs } from "../../../cli/account/object-inputs.js";
import { accountCopy } from "../../../cli/export/prove.js";
import { type Emulator, startEmulator } from "../../../emulator/index.js";
import { resources } from "../../../provider/resources/index.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { type RandomAccount, randomAccount } from "../../support/random-account.js";

const vendor = { platformName: "acme" };

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
afterAll(() => emulator?.close());

const inputsOf = (account: RandomAccount) =>
  resources.flatMap((definition) =>
    (account[definition.collection] ?? []).map((wire) =>
      objectInputs(definition, String(wire.id), wire, vendor),
    ),
  );

test("an emulator takes the copy of any account: each object under its id, without marks and masks", async () => {
  const control = new EmulatorControl(emulator);
  await fc.assert(
    fc.asyncProperty(randomAccount, async (account) => {
      const objects = inputsOf(account);
      await control.control("PUT", "/snapshot", accountCopy(objects, vendor));
      const held = await control.objects();
      expect(held.map(({ id }) => id).toSorted()).toEqual(objects.map(({ id }) => id).toSorted());
      expect(JSON.stringify(held)).not.toContain("[pulumi:");
    }),
    { numRuns: Number(process.env.EXPORT_RUNS ?? 60) },
  );
});

test("what no program knows of an object is in the copy, in the items of lists, too", () => {
  const [, application] = resources;
  if (!application) throw new Error("no kind");
  const role = { name: "customer", version: "v3", queue: "fast" };
  const where = { callback: "https://a.example.com", notificationEmail: "a@b.example" };
  const wire = { id: "1", name: "Desk", region: "eu", roles: [{ ...role, ...where }] };
  const copy = accountCopy([objectInputs(application, "1", wire, vendor)], vendor);
  expect(copy).toMatchObject({
    objects: { [application.collection]: [{ region: "eu", roles: [{ queue: "fast" }] }] },
  });
});
