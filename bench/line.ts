import type { Clock } from "../provider/kernel/clock.js";
import type { Transport } from "../provider/service/http/transport.js";

/** The network between a client and the service. */
export interface Line {
  readonly roundTripMs: number;
  /** A round trip takes up to so much more or less. */
  readonly jitterMs: number;
}

/** A service on the other side of a country. */
export const usualLine: Line = { roundTripMs: 80, jitterMs: 20 };

/** The same numbers from 0 to 1 in every run. */
const series = (): (() => number) => {
  let state = 20_260_101;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
};

/** What passed over a line. */
export interface Traffic {
  calls: number;
  refused: number;
}

export interface LineOptions {
  readonly clock: Pick<Clock, "sleep">;
  readonly line: Line;
  /** Counts the calls of the service, not those of the token address. */
  readonly counts: (url: string) => boolean;
  readonly traffic: Traffic;
}

/** The same transport at the far end of a line. */
export const overLine = (transport: Transport, options: LineOptions): Transport => {
  const { clock, line, counts, traffic } = options;
  const random = series();
  const half = () => line.roundTripMs / 2 + (random() - 0.5) * line.jitterMs;
  return {
    send: async (request) => {
      await clock.sleep(half());
      const response = await transport.send(request);
      await clock.sleep(half());
      if (counts(request.url)) {
        traffic.calls += 1;
        if (response.status === 429) traffic.refused += 1;
      }
      return response;
    },
    close: () => transport.close(),
  };
};
