import { afterEach, expect, test } from "vitest";
import { type RecordingRelay, startRelay } from "../../cli/rehearse/emulated-account.js";
import { RehearsedTime } from "../../cli/rehearse/rehearsed-time.js";
import { paths } from "../../emulator/http/listener.js";
import { type Emulator, startEmulator } from "../../emulator/index.js";

let emulator: Emulator;
let relay: RecordingRelay;

afterEach(async () => {
  await relay.close();
  await emulator.close();
});

/** Notes whenever it is told that the run is awake. */
class WatchedTime extends RehearsedTime {
  wakings = 0;

  override woken(): void {
    this.wakings += 1;
    super.woken();
  }
}

test("calls of a neighbour on the machine are none of the run's, and do not hold its time up", async () => {
  emulator = await startEmulator();
  const time = new WatchedTime(8);
  let turns = 0;
  relay = await startRelay({
    ...{ profile: undefined, basePath: paths.base, time, roundTripMs: 1 },
    target: new URL(emulator.baseUrl).origin,
    turnOf: (_, now) => {
      turns += 1;
      return now;
    },
  });
  const { origin } = new URL(relay.address);
  for (const path of ["/channels", "/channels/7", "/../x", "//", ""]) {
    const answer = await fetch(`${origin}${paths.base}${path}`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(404);
  }
  expect({ calls: relay.calls, turns, wakings: time.wakings }).toEqual({
    ...{ calls: [], turns: 0, wakings: 0 },
  });
  const own = await fetch(`${relay.address}${paths.base}/channels`);
  expect(own.status).toBe(401);
  expect(relay.calls).toMatchObject([{ method: "GET", template: "/channels", status: 401 }]);
  expect({ turns, wakings: time.wakings }).toEqual({ turns: 1, wakings: 1 });
});
