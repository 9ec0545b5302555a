import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import type { Clock } from "../provider/kernel/clock.js";
import { likelyBurst, rateOf } from "../provider/pacing/plan/plan-rates.js";
import { authentication } from "../provider/resources/authentication.js";
import { connectService, type Service } from "../provider/service/connect.js";
import type { Pace } from "../provider/service/http/pace.js";
import { httpTransport, type Transport } from "../provider/service/http/transport.js";
import type { WireObject } from "../provider/service/objects/collections.js";
import type { Plan } from "../provider/service/settings/plans.js";
import { readSettings, type Settings } from "../provider/service/settings/settings.js";
import type { RateLimitClient } from "./clients.js";
import { type Line, overLine, type Traffic } from "./line.js";
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

/** One bucket and one client in front of it. */
export interface Setting {
  readonly client: RateLimitClient;
  readonly plan: Plan;
  readonly burst: number;
  readonly line: Line;
}

/** A running emulator and a client, with the time that both see. */
export interface Session extends AsyncDisposable {
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

const opened = async ({ client, plan, burst, line }: Setting, time: Time): Promise<Session> => {
  const { clock, virtual } = time;
  const emulator = await startEmulator({ clock: time.kind, plan, burst });
  virtual?.onAdvance((ms) => emulator.advance(ms));
  const environment = emulatorEnvironment(emulator);
  const settings = readSettings({ environment, config: () => undefined });
  const traffic: Traffic = { calls: 0, refused: 0 };
  const direct = virtual ? held(httpTransport(), virtual) : httpTransport();
  const counts = (url: string): boolean => url.startsWith(settings.baseUrl);
  const transport = overLine(direct, { clock, line, traffic, counts });
  const tenant = settings.baseUrl;
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
export const realSession = (setting: Setting, clock: Clock): Promise<Session> =>
  opened(setting, { clock, kind: "real" });

/**
 * Runs in virtual time. Process-wide: one at a time, and nothing else that needs timers beside it.
 */
export const inVirtualTime = async <T>(
  setting: Setting,
  work: (session: Session) => Promise<T>,
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
