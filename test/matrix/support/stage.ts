import type { Clock } from "../../../provider/kernel/clock.js";
import type { Lifecycle } from "../../../provider/lifecycle/index.js";
import { createRun, type Run } from "../../../provider/lifecycle/run.js";
import { waitOutRefusals } from "../../../provider/pacing/pacer.js";
import { connectService, type Service } from "../../../provider/service/connect.js";
import { httpTransport, type Timer, type Transport } from "../../../provider/service/transport.js";
import { kindOf } from "../../emulator/running.js";
import { doorOfTests, lifecycleThrough } from "../../support/door.js";
import { type Emulated, emulated, settingsOf } from "../../support/emulated.js";
import { endpointOf, Wire } from "./wire.js";

export type Environment = Readonly<Record<string, string>>;

/** Deadlines of calls under way; they pass when a test says so. */
class Deadlines {
  readonly #pending = new Set<() => void>();

  readonly timer: Timer = (_ms, expire) => {
    this.#pending.add(expire);
    return () => void this.#pending.delete(expire);
  };

  readonly pass = (): void => {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const expire of pending) expire();
  };
}

/** The emulator, a wire that can be disturbed, and runs of the real life cycle in front of both. */
export class Stage implements AsyncDisposable {
  /** Attempts to send, answered or not, such as `POST /channels`; in order. */
  readonly sent: string[] = [];
  /** Milliseconds that the runs waited, on their own clock. */
  waited = 0;
  /** How far the wall clock is off, in milliseconds. */
  wallOffset = 0;
  readonly deadlines = new Deadlines();
  /** Where calls go instead of the wire: the origin, and how often. */
  readonly detours = new Map<string, { readonly origin: string; times: number }>();
  /** Closed at the end. */
  readonly #closables: AsyncDisposable[] = [];
  readonly #services: Service[] = [];
  #run: Run = createRun(() => Promise.reject(new Error("no run was begun")));

  private constructor(
    readonly hub: Emulated,
    readonly wire: Wire,
  ) {}

  static async open(): Promise<Stage> {
    const wire = await Wire.open();
    const hub = await emulated();
    wire.leadTo(hub.emulator.baseUrl);
    const stage = new Stage(hub, wire);
    stage.nextRun();
    return stage;
  }

  /** Goes on as a new process would, with other settings where some are given. */
  nextRun(environment: Environment = {}): void {
    const settings = settingsOf(this.hub.emulator, { ...this.addresses(), ...environment });
    const service = connectService(settings, {
      clock: this.#clock(),
      pace: waitOutRefusals({ clock: this.#clock() }),
      transport: this.#counting(httpTransport({ timer: this.deadlines.timer, environment: {} })),
      retry: { minTimeoutMs: 1, maxTimeoutMs: 2 },
    });
    this.#services.push(service);
    this.#run = createRun(async () => ({ settings, service }));
  }

  addresses(): Environment {
    const { baseUrl, tokenUrl } = this.hub.emulator;
    const through = (url: string): string => this.wire.origin + new URL(url).pathname;
    return {
      CONVERSATION_BASE_URL: through(baseUrl),
      CONVERSATION_TOKEN_URL: through(tokenUrl),
    };
  }

  of(kind: string): Lifecycle {
    return this.run()(kind);
  }

  /** The run of this moment, also when another one has begun. */
  run(): (kind: string) => Lifecycle {
    const run = this.#run;
    return (kind) => lifecycleThrough(doorOfTests, kindOf(kind), run);
  }

  /** The connection of the run of this moment. */
  get service(): Service {
    const service = this.#services.at(-1);
    if (!service) throw new Error("no run was begun");
    return service;
  }

  closeWith(closable: AsyncDisposable): void {
    this.#closables.push(closable);
  }

  sentTo(endpoint: string): number {
    return this.sent.filter((name) => name === endpoint).length;
  }

  /** No trouble any more. */
  async calm(): Promise<void> {
    this.wire.clear();
    this.detours.clear();
    this.wallOffset = 0;
    await this.hub.control("DELETE", "/faults");
  }

  #clock(): Clock {
    const started = this.waited;
    return {
      now: () => this.waited - started,
      wall: () => Date.now() + this.waited + this.wallOffset,
      sleep: async (ms) => {
        this.waited += ms;
        this.hub.emulator.advance(ms);
      },
    };
  }

  #counting(transport: Transport): Transport {
    return {
      send: (call) => {
        const name = endpointOf(call.method, call.url);
        this.sent.push(name);
        const detour = this.detours.get(name);
        if (!detour || detour.times === 0) return transport.send(call);
        detour.times -= 1;
        const { pathname, search } = new URL(call.url);
        return transport.send({ ...call, url: detour.origin + pathname + search });
      },
      close: () => transport.close(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services) await service.close();
    for (const closable of this.#closables) await closable[Symbol.asyncDispose]();
    await this.wire[Symbol.asyncDispose]();
    await this.hub.stop();
  }
}
