import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import type { Clock } from "../../provider/kernel/clock.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { typeToken, urnOf } from "../../provider/kernel/pulumi.js";
import { createRun, type ObjectHolders } from "../../provider/lifecycle/run.js";
import type { Holding } from "../../provider/lifecycle/stack-states.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import { readSettings, type Settings } from "../../provider/service/settings.js";
import { kindOf } from "../emulator/running.js";
import { type DoorLifecycle, doorOfTests, lifecycleThrough } from "./door.js";
import { EmulatorControl } from "./emulator-control.js";

/** The emulator, and the real life cycle on the real client in front of it. */
export interface Emulated extends Pick<EmulatorControl, "control" | "faults"> {
  readonly emulator: Emulator;
  readonly service: Service;
  /** The life cycle of a kind, in the process that runs now. */
  of(kind: string): DoorLifecycle;
  /** Goes on as a new process would: nothing remembered. What the states hold can be seen where it is given. */
  nextRun(held?: readonly Held[]): void;
  /** What the run told the user beside failures. */
  readonly reported: readonly string[];
  /** Objects in the service, secrets in clear. */
  objects(collection: string): Promise<Json[]>;
  /** Calls since the last look, such as `POST /channels 201`. */
  calls(): Promise<string[]>;
  stop(): Promise<void>;
}

/** An object that a state holds, by the owner of its resource; of another stack where it says so. */
export interface Held {
  readonly kind: string;
  readonly id: string;
  readonly owner: string;
  readonly stack?: string;
  /** Another resource has replaced it. */
  readonly leaving?: true;
  /** The resource only looks it up. */
  readonly reads?: true;
  /** It was imported, and no run has checked it since. */
  readonly isUnsettled?: true;
}

const statesOf = (held: readonly Held[]): ObjectHolders => {
  const holding = ({ kind, id, owner, stack, leaving, isUnsettled }: Held): Holding => ({
    kind,
    id,
    owner,
    stack: stack ?? "shop/prod",
    own: stack === undefined,
    ...(leaving ? { leaving } : {}),
    ...(isUnsettled ? { isUnsettled } : {}),
    urn: urnOf(owner, typeToken(kind)),
  });
  const findAll = (kind: string, id: string, reads?: true) =>
    held
      .filter((each) => each.kind === kind && each.id === id && each.reads === reads)
      .map(holding);
  return {
    holdersOf: (kind, id) => findAll(kind, id),
    readersOf: (kind, id) => findAll(kind, id, true),
    resourceOf: (kind, owner) =>
      held
        .filter((each) => each.stack === undefined && each.kind === kind && each.owner === owner)
        .map(holding)[0],
  };
};

/** The settings of an emulator, and others beside or instead of them. */
export const settingsOf = (
  emulator: Parameters<typeof emulatorEnvironment>[0],
  more: Readonly<Record<string, string>> = {},
): Settings =>
  readSettings({
    environment: { ...emulatorEnvironment(emulator), ...more },
    config: () => undefined,
  });

/** Waits take no time and move the emulator's clock by as much. */
export const clockOf = (emulator: Emulator): Clock => {
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
  const settings = settingsOf(emulator, environment);
  const connect = () =>
    connectService(settings, {
      clock: clockOf(emulator),
      pace: waitOutRefusals({ clock: clockOf(emulator) }),
      retry: { minTimeoutMs: 1, maxTimeoutMs: 2 },
    });
  let service = connect();
  const reported: string[] = [];
  const fresh = (held?: readonly Held[]) =>
    createRun(async () => ({ settings, service }), {
      settings: () => settings,
      notify: (text) => void reported.push(text),
      ...(held ? { states: async () => statesOf(held) } : {}),
    });
  let run = fresh();
  let seen = 0;
  const control = new EmulatorControl(emulator);
  return {
    emulator,
    get service() {
      return service;
    },
    of: (kind) => lifecycleThrough(doorOfTests, kindOf(kind), run),
    nextRun: (held) => {
      service = connect();
      run = fresh(held);
      reported.length = 0;
    },
    reported,
    control: (...call) => control.control(...call),
    faults: (...rules) => control.faults(...rules),
    objects: (collection) => control.objects(collection),
    calls: async () => {
      const log = await control.log();
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

/** An object as others may write it: without what only the service sets. */
export const asBody = ({ id: _, created: __, modified: ___, ...body }: Json = {}): Json => body;

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
