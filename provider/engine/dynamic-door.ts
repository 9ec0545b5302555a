import type { Definition } from "../definition/define.js";
import { type Lifecycle, lifecycle } from "../lifecycle/index.js";
import type { Run } from "../lifecycle/run.js";
import { engineRun } from "./engine-run.js";
import { cancelSignal, currentTraceparent, currentUrn, withUrn } from "./sdk-module.js";
import { sdkStatusLine } from "./status-line.js";

/** The stack's configuration, as the engine passes it to `configure`. */
export interface EngineConfig {
  get(key: string): string | undefined;
}

let processRun: Run | undefined;

/** The run of a process that Pulumi's SDK serves for dynamic resources. */
const runOf = (config: EngineConfig | undefined): Run => {
  processRun ??= engineRun({
    source: { environment: process.env, config: (key) => config?.get(key) },
    urn: currentUrn,
    about: withUrn,
    traceparent: currentTraceparent,
    cancelled: cancelSignal(),
    show: sdkStatusLine(),
  });
  return processRun;
};

/** Returns the lifecycle of one kind in this process's run. */
export const lifecycleInRun = (
  definition: Definition,
  config: EngineConfig | undefined,
): Lifecycle => lifecycle(definition, runOf(config));
