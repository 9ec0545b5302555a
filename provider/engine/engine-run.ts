import type { Definition } from "../definition/define.js";
import { type Lifecycle, lifecycle } from "../lifecycle/index.js";
import { createRun, type Run } from "../lifecycle/run.js";
import { isDestroying } from "../pulumi-cli/pulumi-queries.js";
import type { Settings } from "../service/setting-table.js";
import { readSettings } from "../service/settings.js";
import {
  type EngineSession,
  engineNotify,
  engineSessions,
  engineStates,
} from "./engine-session.js";
import { ForeseenCalls, previewMemory } from "./foreseen-calls.js";
import { currentUrn, withUrn } from "./resource-urn.js";

/** The stack's configuration as the engine hands it to `configure`. */
export interface EngineConfig {
  get(key: string): string | undefined;
}

/** What does not change while a process runs is read once for each key; a failure is not remembered. */
const once = <K, T>(read: (key: K) => T): ((key: K) => T) => {
  const known = new Map<K, T>();
  return (key) => {
    const value = known.get(key) ?? read(key);
    known.set(key, value);
    return value;
  };
};

const planned = new ForeseenCalls(previewMemory);
let processRun: Run<EngineSession> | undefined;

/** One memory for all kinds of this process, as they share the token, the lists and the decisions. */
const runOf = (config: EngineConfig | undefined): Run<EngineSession> => {
  if (!processRun) {
    const source = { environment: process.env, config: (key: string) => config?.get(key) };
    const settings = once((profile: string | undefined): Settings => readSettings(source, profile));
    const destroys = once(() => isDestroying());
    processRun = createRun(engineSessions(settings, planned), {
      settings,
      states: engineStates(),
      notify: engineNotify(),
      foresee: planned.note.bind(planned),
      isDestroying: () => destroys(undefined),
      urn: currentUrn,
      about: withUrn,
    });
  }
  return processRun;
};

/** The life cycle of one kind in the run of this process. */
export const lifecycleInRun = (
  definition: Definition,
  config: EngineConfig | undefined,
): Lifecycle => lifecycle(definition, runOf(config));

/** The life cycle of the smoke test in the run of this process; loaded where a program has one. */
export const smokeTestInRun = async (config: EngineConfig | undefined): Promise<Lifecycle> => {
  const { smokeTestLifecycle } = await import("../smoke-test/smoke-test-lifecycle.js");
  return smokeTestLifecycle(runOf(config));
};
