import { Channel } from "pulumi-conversation";
import { startEmulator } from "pulumi-conversation/emulator";
import { afterEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { withoutPace } from "../support/cli-project.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { type TestStack, testStack } from "../support/stack.js";

let emulator: Awaited<ReturnType<typeof startEmulator>> | undefined;
let shop: TestStack | undefined;
afterEach(async () => {
  await shop?.remove();
  await emulator?.close();
});

test("half a character in the service does not stop the refresh of a stack, and is named", async () => {
  emulator = await startEmulator();
  const control = new EmulatorControl(emulator);
  shop = await testStack({ ...emulatorEnvironment(emulator), ...withoutPace });
  await shop.up(async () => {
    for (const name of ["a", "b"])
      new Channel(name, { type: `custom.${name}`, displayName: name, icon: "aVZC" });
  });
  const [first] = await control.objects("channels");
  if (!first) throw new Error("nothing was made");
  const { id, created: _, modified: __, ...body } = first;
  await control.byHand("PUT", `/channels/${id}`, { ...body, displayName: "x\ud83d" });
  const { stdout, stderr } = await shop.stack.refresh();
  expect(stdout + stderr).toMatch(
    /displayName of the channel "custom\.\w" contains an unpaired surrogate/,
  );
  expect(shop.state()).toContain("x\ufffd");
});
