import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { connect } from "node:net";
import type { Definition } from "../definition/define.js";
import { isObject } from "../kernel/json.js";
import { typeToken, unknownValue, urnOf } from "../kernel/pulumi.js";
import { type Lifecycle, lifecycle } from "../lifecycle/index.js";
import type { CalledResource, Run } from "../lifecycle/run.js";
import { engineRun } from "./engine-run.js";
import { engineAddress, engineStatusLine, runsProgram } from "./status-line.js";

/** The stack's configuration, as the engine passes it to `configure`. */
export interface EngineConfig {
  get(key: string): string | undefined;
}

/** The resource that the running call is about. */
const called = new AsyncLocalStorage<CalledResource>();

/** The SDK passes no URN: its parts are in the owner, which is unknown in a stack's first preview. */
const calledUrn = (): string | undefined => {
  const { kind = "", owner } = called.getStore() ?? {};
  return owner === undefined || owner === unknownValue ? undefined : urnOf(owner, typeToken(kind));
};

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";

/**
 * Returns a signal that aborts when the engine cancels the run (Ctrl-C), so that waits end
 * immediately. The SDK answers the engine's Cancel call itself without notifying its providers, but
 * Node.js reports every HTTP/2 request that this process receives.
 */
const cancelSignal = (): AbortSignal => {
  const controller = new AbortController();
  subscribe("http2.server.stream.created", (request) => {
    if (!isObject(request) || !isObject(request.headers)) return;
    if (request.headers[":path"] === cancelPath) controller.abort();
  });
  return controller.signal;
};

const lookEveryMs = 1000;

/**
 * Ends this process when the engine that it serves is gone: an engine that was killed sends no
 * signal, and nothing more may be sent for it.
 *
 * @param address where the engine listens, the last argument of a provider's process
 */
const endWithEngine = (address = ""): void => {
  const [, host, port] = /^(127\.0\.0\.1):(\d+)$/.exec(address) ?? [];
  if (host === undefined) return;
  const look = (): void => {
    const socket = connect(Number(port), host).unref();
    socket.once("connect", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") process.exit(1);
    });
  };
  setInterval(look, lookEveryMs).unref();
};

let processRun: Run | undefined;

/** The run of a process that Pulumi's SDK serves for dynamic resources. */
const runOf = (config: EngineConfig | undefined): Run => {
  if (processRun) return processRun;
  endWithEngine(engineAddress());
  processRun = engineRun({
    source: { environment: process.env, config: (key) => config?.get(key) },
    urn: calledUrn,
    called,
    cancelled: cancelSignal(),
    show: engineStatusLine(engineAddress),
    runsProgram: () => runsProgram(engineAddress()),
  });
  return processRun;
};

/** Returns the lifecycle of one kind in this process's run. */
export const lifecycleInRun = (
  definition: Definition,
  config: EngineConfig | undefined,
): Lifecycle => lifecycle(definition, runOf(config));
