import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../emulator/index.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { channel } from "../../provider/resources/channel.js";
import { connectService } from "../../provider/service/connect.js";
import { settingsOf } from "../support/emulated.js";

/** What three resources of one run say whose client secret is wrong. */
const failures = async (): Promise<readonly string[]> => {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const settings = settingsOf(emulator, { CONVERSATION_CLIENT_SECRET: "not-this-one" });
  const service = connectService(settings, { pace: waitOutRefusals() });
  onTestFinished(() => service.close());
  const cycle = lifecycle(
    channel,
    createRun(async () => ({ settings, service })),
  );
  const ended = await Promise.allSettled(
    ["a", "b", "c"].map((name) =>
      cycle.create({
        type: `custom.${name}`,
        displayName: name,
        icon: "aVZC",
        owner: `p/s/r/${name}`,
      }),
    ),
  );
  return ended.map((each) => (each.status === "rejected" ? String(each.reason.stack) : ""));
};

test("refused credentials are reported once for a run, and each resource says that it failed for them", async () => {
  for (const said of [await failures(), await failures()]) {
    const whole = said.filter((text) => text.includes("clientSecret"));
    expect(whole).toHaveLength(1);
    const others = said.filter((text) => !whole.includes(text));
    expect(others).toHaveLength(2);
    for (const text of others)
      expect(text).toMatch(
        /channel .* failed: the service refused the credentials \(CREDENTIALS_REFUSED\); the error for another resource/,
      );
    expect(said.join()).not.toContain("not-this-one");
  }
});
