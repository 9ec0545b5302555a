import { expect, test } from "vitest";
import { startEmulator } from "../../emulator/index.js";
import { connect } from "../../sdk/runtime/index.js";
import { running } from "../emulator/running.js";
import { JumpingClock } from "../service/support/clocks.js";

test("a running emulator is enough to connect to it, and its calls go at once", async () => {
  await using service = await running();
  const clock = new JumpingClock();
  await using client = connect(service.emulator, { environment: {}, clock });
  const missing = Array.from({ length: 50 }, () => client.conversations.get("c-1"));
  const results = await Promise.allSettled(missing);
  expect(results).toMatchObject(missing.map(() => ({ reason: { code: "NOT_FOUND" } })));
  expect(clock.slept).toEqual([]);
});

test("settings may be given beside those of an emulator, and unknown ones of others are refused", async () => {
  await using emulator = await startEmulator();
  await using client = connect({ ...emulator, plan: "enterprise" }, { environment: {} });
  await expect(client.conversations.get("c-1")).rejects.toMatchObject({ code: "NOT_FOUND" });
  const { controlUrl: _, ...others } = emulator;
  expect(() => connect(others, { environment: {} })).toThrow("there is no setting");
});
