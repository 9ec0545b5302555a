import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { serveInTime, type TimedServer } from "../../cli/rehearse/emulated-account.js";
import { RehearsedTime } from "../../cli/rehearse/rehearsed-time.js";
import { paths } from "../../emulator/http/listener.js";

let server: TimedServer;

afterEach(() => server.close());

/** Notes whenever it is told that the run is awake. */
class WatchedTime extends RehearsedTime {
  wakings = 0;

  override woken(): void {
    this.wakings += 1;
    super.woken();
  }
}

test("calls of a neighbour on the machine are none of the run's, and do not hold its time up", async () => {
  const time = new WatchedTime(8);
  let turns = 0;
  const serve = (_: unknown, response: ServerResponse) => void response.writeHead(401).end();
  server = await serveInTime(serve, undefined, {
    ...{ time, roundTripMs: 1 },
    turnOf: (_, now) => {
      turns += 1;
      return now;
    },
  });
  const { origin } = new URL(server.address);
  for (const path of ["/channels", "/channels/7", "/../x", "//", ""]) {
    const answer = await fetch(`${origin}${paths.base}${path}`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(404);
  }
  expect({ calls: server.calls, turns, wakings: time.wakings }).toEqual({
    ...{ calls: [], turns: 0, wakings: 0 },
  });
  const own = await fetch(`${server.address}${paths.base}/channels`);
  expect(own.status).toBe(401);
  expect(server.calls).toMatchObject([{ method: "GET", template: "/channels", status: 401 }]);
  expect({ turns, wakings: time.wakings }).toEqual({ turns: 1, wakings: 1 });
});
