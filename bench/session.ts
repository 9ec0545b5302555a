import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import type { Clock } from "../provider/kernel/clock.js";
import { limitOf } from "../provider/pacing/plan-rates.js";
import { authentication } from "../provider/resources/authentication.js";
import { connectService, type Service } from "../provider/service/connect.js";
import type { WireObject } from "../provider/service/lists.js";
import type { Pace } from "../provider/service/pace.js";
import type { Plan } from "../provider/service/plans.js";
import { readSettings } from "../provider/service/settings.js";
import { httpTransport, type Transport } from "../provider/service/transport.js";
import type { RateLimitClient } from "./clients.js";

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** The part of Node's timer object that libraries use. */
interface TimerHandle {
  ref(): TimerHandle;
  unref(): TimerHandle;
  hasRef(): boolean;
  refresh(): TimerHandle;
  readonly stop: () => void;
}

/** Number of idle rounds of the event loop before time moves on. */
const quietRounds = 4;

type RealTimer = NodeJS.Timeout | string | number | undefined;

const isHandle = (timer: RealTimer | TimerHandle): timer is TimerHandle =>
  typeof timer === "object" && "stop" in timer;

/**
 * A discrete-event clock shared by a service and everything that calls it: time stands still while a
 * call is under way, then jumps to the earliest timer.
 */
export class VirtualTime implements Clock {
  #now = 0;
  readonly #timers: Timer[] = [];
  #underWay = 0;
  readonly #onAdvance: ((ms: number) => void)[] = [];

  now(): number {
    return this.#now;
  }

  wall(): number {
    return Date.UTC(2026, 0, 1) + this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = this.#add(ms, () => {
        signal?.removeEventListener("abort", cancel);
        resolve();
      });
      const cancel = (): void => {
        this.#remove(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  /** Passes every step on to another clock. */
  onAdvance(advance: (ms: number) => void): void {
    this.#onAdvance.push(advance);
  }

  /** Time stands still until the work, which is not made of timers, is done. */
  async holding<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * Lets time pass until the work is done.
   *
   * @throws Error if nothing is left to wait for before that
   */
  async during<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const over = (): void => {
      done = true;
    };
    work.then(over, over);
    for (;;) {
      await this.#quiet();
      if (done) return work;
      this.#step();
    }
  }

  /**
   * Makes this process's timers and dates virtual, since libraries cannot be handed a clock.
   * Returns a function that undoes this.
   */
  install(): () => void {
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const wall = Date.now;
    const start =
      (again: boolean) =>
      (fire: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): TimerHandle =>
        this.#handle(ms, () => fire(...args), again);
    const clear =
      (real: (timer: RealTimer) => void) =>
      (timer: RealTimer | TimerHandle): void =>
        isHandle(timer) ? timer.stop() : real(timer);
    Object.assign(globalThis, {
      setTimeout: start(false),
      setInterval: start(true),
      clearTimeout: clear(clearTimeout),
      clearInterval: clear(clearInterval),
    });
    Date.now = () => this.wall();
    return () => {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
      Date.now = wall;
    };
  }

  async #quiet(): Promise<void> {
    for (let round = 0; round < quietRounds; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#underWay > 0) round = -1;
    }
  }

  #step(): void {
    const next = this.#timers.shift();
    if (!next) throw new Error("The work is not done, but no timer is left to wait for.");
    const ms = Math.max(0, next.at - this.#now);
    this.#now += ms;
    for (const advance of this.#onAdvance) advance(ms);
    next.fire();
    while (this.#timers[0] && this.#timers[0].at <= this.#now) this.#timers.shift()?.fire();
  }

  #add(ms: number, fire: () => void): Timer {
    const timer = { at: this.#now + Math.max(0, ms), fire };
    const place = this.#timers.findLastIndex(({ at }) => at <= timer.at) + 1;
    this.#timers.splice(place, 0, timer);
    return timer;
  }

  #remove(timer: Timer): void {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  }

  #handle(ms: number, fire: () => void, again: boolean): TimerHandle {
    // As in Node, no timer fires before a millisecond has passed.
    const delay = Math.max(1, ms);
    const run = (): void => {
      if (again) timer = this.#add(delay, run);
      fire();
    };
    let timer = this.#add(delay, run);
    const handle: TimerHandle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => {
        this.#remove(timer);
        timer = this.#add(delay, run);
        return handle;
      },
      stop: () => this.#remove(timer),
    };
    return handle;
  }
}

/** The kind whose objects are created: the one that needs no other. */
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
export const rateFor = (plan: Plan): number => limitOf(creating(plan)).rate;

/** Calls that a full bucket of a plan holds. */
export const burstFor = (plan: Plan): number => limitOf(creating(plan)).burst;

/** Resources that the engine has under way at a time: its `--parallel` on two cores. */
export const inFlight = 8;

type Job = (number: number) => Promise<unknown>;

/** Runs `count` jobs, `most` of them at a time. */
export const inSlots = async (count: number, most: number, job: Job): Promise<void> => {
  let next = 0;
  const slot = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: most }, slot));
};

/** Runs `count` jobs, as many at a time as the engine does, and returns how many failed. */
export const failures = async (count: number, job: Job): Promise<number> => {
  let failed = 0;
  await inSlots(count, inFlight, (number) =>
    job(number).catch(() => {
      failed += 1;
    }),
  );
  return failed;
};

/** One bucket and one client in front of it. */
export interface Setting {
  readonly client: RateLimitClient;
  readonly plan: Plan;
  readonly burst: number;
}

/** The traffic between the client and the service, without token calls. */
interface Traffic {
  calls: number;
  refused: number;
}

/** A running emulator and a client, with the time that both see. */
export interface BenchSession extends AsyncDisposable {
  readonly emulator: Emulator;
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

/** The same transport at the far end of the network; `counts` says which calls count as traffic. */
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

/** Time stands still while a call is under way. */
const held = (transport: Transport, virtual: VirtualTime): Transport => ({
  send: (request) => virtual.holding(() => transport.send(request)),
  close: () => transport.close(),
});

const opened = async (
  { client, plan, burst }: Setting,
  clock: VirtualTime,
): Promise<BenchSession> => {
  const emulator = await startEmulator({ clock: "manual", plan, burst });
  clock.onAdvance((ms) => emulator.advance(ms));
  const environment = emulatorEnvironment(emulator);
  const settings = readSettings({ environment, config: () => undefined });
  const traffic: Traffic = { calls: 0, refused: 0 };
  const direct = held(httpTransport(), clock);
  const tenant = settings.baseUrl;
  const transport = overNetwork(direct, clock, traffic, (url) => url.startsWith(tenant));
  const pace = await client.pace({ clock, tenant, plan, burst, rate: rateFor(plan) });
  const service = connectService(settings, { clock, transport, pace });
  const atOnce: Pace = (_endpoint, attempt) => attempt();
  const neighbour = connectService(settings, { clock, transport: direct, pace: atOnce });
  return {
    emulator,
    service,
    neighbour,
    clock,
    traffic,
    during: (work) => clock.during(work),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([service.close(), neighbour.close()]);
      await emulator.close();
    },
  };
};

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
    await using session = await opened(setting, virtual);
    return await work(session);
  } finally {
    restore();
  }
};
