import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { likelyBurst, rateOf } from "../../provider/pacing/plan/plan-rates.js";
import { authentication } from "../../provider/resources/authentication.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import type { Pace } from "../../provider/service/http/pace.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import type { WireObject } from "../../provider/service/objects/collections.js";
import type { Plan } from "../../provider/service/settings/plans.js";
import { readSettings, type Settings } from "../../provider/service/settings/settings.js";
import type { RateLimitClient } from "./clients.js";
import { VirtualTime } from "./virtual-time.js";

/** The kind whose objects are created and refreshed: the one that needs no other. */
export const kind = authentication;

/** An object of that kind. */
export const body = (number: number): WireObject => ({
  name: `bench-${number}`,
  type: "basic",
  basicAuth: { username: "hub", password: "no-real-secret" },
});

const creating = (plan: Plan) =>
  ({
    service: "Conversation",
    version: "v3",
    plan,
    method: "POST",
    template: `/${kind.collection}`,
  }) as const;

/** Calls per second that a plan allows for each endpoint of the kind (specification §8.2). */
export const rateFor = (plan: Plan): number => rateOf(creating(plan));

/** Calls that a full bucket of a plan probably holds (assumed; the specification shows none). */
export const burstFor = (plan: Plan): number => likelyBurst(creating(plan)).calls;

/** Resources that the engine has under way at a time: its `--parallel` on two cores. */
export const inFlight = 8;

/** Runs `count` jobs, so many at a time, and tells how many failed. */
export const failures = async (
  count: number,
  job: (number: number) => Promise<unknown>,
): Promise<number> => {
  let next = 0;
  let failed = 0;
  const slot = async (): Promise<void> => {
    while (next < count) {
      await job(next++).catch(() => {
        failed += 1;
      });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, slot));
  return failed;
};

/** One bucket and one client in front of it. */
export interface Setting {
  readonly client: RateLimitClient;
  readonly plan: Plan;
  readonly burst: number;
}

/** What passed between the client and the service; calls for a token do not count. */
export interface Traffic {
  calls: number;
  refused: number;
}

/** A running emulator and a client, with the time that both see. */
export interface BenchSession extends AsyncDisposable {
  readonly emulator: Emulator;
  readonly settings: Settings;
  readonly service: Service;
  /** Another program of the same tenant, next to the service, which sends its calls at once. */
  readonly neighbour: Service;
  readonly clock: Clock;
  readonly traffic: Traffic;
  /** Waits for work, and lets virtual time pass meanwhile. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** The network to a service on the other side of a country; a round trip takes up to the jitter more or less. */
export const network = { roundTripMs: 80, jitterMs: 20 } as const;

/** The same numbers from 0 to 1 in every run. */
const series = (): (() => number) => {
  let state = 20_260_101;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
};

/** The same transport at the far end of the network; `counts` tells which calls count as traffic. */
const overNetwork = (
  transport: Transport,
  clock: Clock,
  traffic: Traffic,
  counts: (url: string) => boolean,
): Transport => {
  const random = series();
  const half = () => network.roundTripMs / 2 + (random() - 0.5) * network.jitterMs;
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

interface Time {
  readonly clock: Clock;
  readonly kind: "real" | "manual";
  readonly virtual?: VirtualTime;
}

/** Time stands still while a call is under way. */
const held = (transport: Transport, virtual: VirtualTime): Transport => ({
  send: (request) => virtual.holding(() => transport.send(request)),
  close: () => transport.close(),
});

const opened = async ({ client, plan, burst }: Setting, time: Time): Promise<BenchSession> => {
  const { clock, virtual } = time;
  const emulator = await startEmulator({ clock: time.kind, plan, burst });
  virtual?.onAdvance((ms) => emulator.advance(ms));
  const environment = emulatorEnvironment(emulator);
  const settings = readSettings({ environment, config: () => undefined });
  const traffic: Traffic = { calls: 0, refused: 0 };
  const direct = virtual ? held(httpTransport(), virtual) : httpTransport();
  const tenant = settings.baseUrl;
  const transport = overNetwork(direct, clock, traffic, (url) => url.startsWith(tenant));
  const pace = await client.pace({ clock, tenant, plan, burst, rate: rateFor(plan) });
  const service = connectService(settings, { clock, transport, pace });
  const atOnce: Pace = (_endpoint, attempt) => attempt();
  const neighbour = connectService(settings, { clock, transport: direct, pace: atOnce });
  return {
    emulator,
    settings,
    service,
    neighbour,
    clock,
    traffic,
    during: (work) => virtual?.during(work) ?? work,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([service.close(), neighbour.close()]);
      await emulator.close();
    },
  };
};

/** A session in real time. */
export const realSession = (setting: Setting, clock: Clock): Promise<BenchSession> =>
  opened(setting, { clock, kind: "real" });

/**
 * Runs in virtual time. Process-wide: one at a time, and nothing else that needs timers beside it.
 */
export const inVirtualTime = async <T>(
  setting: Setting,
  work: (session: BenchSession) => Promise<T>,
): Promise<T> => {
  const virtual = new VirtualTime();
  const restore = virtual.install();
  try {
    await using session = await opened(setting, { clock: virtual, kind: "manual", virtual });
    return await work(session);
  } finally {
    restore();
  }
};
