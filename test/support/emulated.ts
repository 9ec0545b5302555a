import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { type Lifecycle, lifecycle } from "../../provider/lifecycle/index.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import type { Clock } from "../../provider/service/clock.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";

type Json = Record<string, unknown>;

/** The emulator, and the real life cycle on the real client in front of it. */
export interface Emulated {
  readonly emulator: Emulator;
  readonly service: Service;
  /** The life cycle of a kind, in the process that runs now. */
  of(kind: string): Lifecycle;
  /** Goes on as a new process would: nothing remembered. */
  nextRun(): void;
  /** Arms faults. */
  faults(...rules: readonly Json[]): Promise<void>;
  /** Objects at the service, secrets in clear. */
  objects(collection: string): Promise<Json[]>;
  /** Calls since the last look, such as `POST /channels 201`. */
  calls(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Waits take no time and move the emulator's clock by as much. */
const clockOf = (emulator: Emulator): Clock => {
  let now = 0;
  return {
    now: () => now,
    wall: () => Date.now() + now,
    sleep: async (ms) => {
      now += ms;
      emulator.advance(ms);
    },
  };
};

export const emulated = async (
  options: EmulatorOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Emulated> => {
  const emulator = await startEmulator({ clock: "manual", ...options });
  const settings = readSettings({
    environment: {
      ...emulatorEnvironment(emulator),
      ...environment,
    },
    config: () => undefined,
  });
  const connect = () =>
    connectService(settings, {
      clock: clockOf(emulator),
      retry: { minTimeoutMs: 1, maxTimeoutMs: 2 },
    });
  let service = connect();
  const fresh = () => createRun(async () => ({ settings, service }));
  let run = fresh();
  let seen = 0;
  const control = async (path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(emulator.controlUrl + path, init);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    emulator,
    get service() {
      return service;
    },
    of: (kind) => {
      const definition = resources.find((each) => each.kind === kind);
      if (!definition) throw new Error(`no kind ${kind}`);
      return lifecycle(definition, run);
    },
    nextRun: () => {
      service = connect();
      run = fresh();
    },
    faults: async (...rules) => void (await control("/faults", rules)),
    objects: async (collection) => {
      const { objects } = (await control("/snapshot")) as { objects: Record<string, Json[]> };
      return objects[collection] ?? [];
    },
    calls: async () => {
      const log = (await control("/log")) as { method: string; template: string; status: number }[];
      const fresh = log.slice(seen);
      seen = log.length;
      return fresh.map(({ method, template, status }) => `${method} ${template} ${status}`);
    },
    stop: async () => {
      await service.close();
      await emulator.close();
    },
  };
};

/** Inputs of a resource as the engine hands them over. */
export const owned = (
  name: string,
  values: Json,
  ownership = "shop/prod/0123456789abcdef",
): Json => ({
  ...values,
  owner: `${ownership}/${name}`,
  __provider: "pointer",
});
