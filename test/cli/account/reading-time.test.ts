import { afterEach, expect, test } from "vitest";
import { readAccount } from "../../../cli/account/read-account.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { type Emulator, startEmulator } from "../../../emulator/index.js";
import { pacedCalls } from "../../../provider/pacing/pacer.js";
import { conversationRate } from "../../../provider/pacing/plan-rates.js";
import { resources } from "../../../provider/resources/index.js";
import { connectService } from "../../../provider/service/connect.js";
import { type Plan, plans } from "../../../provider/service/plans.js";
import { readSettings } from "../../../provider/service/settings.js";
import { EmulatedTime } from "../../forecast/support/emulated-time.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { oddAccount } from "../../support/odd-account.js";

let emulator: Emulator | undefined;
afterEach(() => emulator?.close());

const each = 167;
/** One of ten objects, which tells how many there are, and all again on pages of 75. */
const pages = 4;

/** Reads an account on the clock of the emulator. */
const reading = async (plan: Plan, burst: number) => {
  const started = await startEmulator({ clock: "manual", plan, burst });
  emulator = started;
  await new EmulatorControl(started).control("PUT", "/snapshot", {
    version: 1,
    objects: oddAccount(each),
  });
  const settings = readSettings({
    environment: { ...emulatorEnvironment(started), CONVERSATION_PLAN: plan },
    config: () => undefined,
  });
  const clock = new EmulatedTime(started);
  clock.install();
  const pace = pacedCalls({ clock, tenant: started.baseUrl, plan, share: 1, burst });
  const service = connectService(settings, { clock, pace, transport: clock.transport() });
  const work = readAccount({ settings, service }, { clock });
  const seconds = await clock.seconds(work);
  const { kinds, consistent } = await work;
  return {
    seconds,
    consistent,
    objects: kinds.map(({ objects }) => objects.size),
    calls: clock.accepted,
  };
};

/** All lists beside each other, each as fast as its bucket gives calls. */
const ideal = (plan: Plan, burst: number): number =>
  Math.max(
    ...resources.map(({ collection }) => {
      const rate = conversationRate({ method: "GET", template: `/${collection}` }, plan);
      return Math.max(0, pages - burst) / rate;
    }),
  );

test.each(plans.flatMap((plan) => [1, 2].map((burst) => ({ plan, burst }))))(
  "1,002 objects on $plan, burst $burst: no more calls than pages, within 1.05 of what the rates allow",
  async ({ plan, burst }) => {
    const { seconds, objects, calls, consistent } = await reading(plan, burst);
    expect({ objects, calls, consistent }).toEqual({
      objects: resources.map(() => each),
      calls: pages * resources.length,
      consistent: true,
    });
    const least = ideal(plan, burst);
    expect(seconds).toBeGreaterThanOrEqual(least * 0.99);
    expect(seconds / least).toBeLessThanOrEqual(1.05);
  },
);
