import { onTestFinished } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import type { Lifecycle } from "../../provider/lifecycle/index.js";
import { connectService } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";
import { smokeTestLifecycle } from "../../provider/smoke-test/smoke-test-lifecycle.js";
import { type Hub, type HubOptions, hub } from "../emulator-runtime/hub.js";
import { unsealed } from "../lifecycle/steps.js";
import { JumpingClock } from "../service/support/clocks.js";

/** A whole account at the emulator, and the life cycle of smoke tests in front of it. */
export interface SmokeHub {
  readonly hub: Hub;
  readonly lifecycle: Lifecycle;
  readonly clock: JumpingClock;
  /** What was shown in the row of the resource. */
  readonly said: string[];
  /** Ends the run as Ctrl-C does. */
  readonly cancel: AbortController;
  /** Checks inputs as the engine does; fails where a rule is broken. */
  checked(inputs: JsonObject): Promise<JsonObject>;
  /** Makes an enabled test of the account with these inputs besides; gives back its outputs. */
  run(inputs?: JsonObject): Promise<JsonObject>;
  /** Calls to the service without those for a token since the last look, such as `GET /accounts/{id} 200`. */
  calls(): Promise<string[]>;
  /** Changes the objects at the service behind everybody's back. */
  tamper(change: (objects: Record<string, Record<string, unknown>[]>) => void): Promise<void>;
}

export const smokeHub = async (
  options: HubOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<SmokeHub> => {
  const made = await hub(options);
  const { emulator } = made.service;
  const settings = readSettings({
    environment: { ...emulatorEnvironment(emulator), ...environment },
    config: () => undefined,
  });
  const [clock, cancel, said] = [new JumpingClock(), new AbortController(), [] as string[]];
  const { signal } = cancel;
  const retry = { minTimeoutMs: 0, maxTimeoutMs: 0 };
  const service = connectService(settings, { clock, signal, retry });
  onTestFinished(() => service.close());
  const say = (text: string) => void said.push(text);
  const lifecycle = smokeTestLifecycle({
    session: async () => ({ settings, service, clock, signal, say }),
  });
  const log = async (): Promise<string[]> => {
    const { items } = (await made.service.control("GET", "/log")).json;
    const entries = Array.isArray(items) ? items.filter(isObject) : [];
    return entries
      .filter(({ template }) => String(template).startsWith("/"))
      .map(({ method, template, status }) => `${method} ${template} ${status}`);
  };
  let seen = (await log()).length;
  const checked: SmokeHub["checked"] = async (inputs) => {
    const { inputs: result, failures } = await lifecycle.check({}, inputs);
    if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("\n"));
    return { ...unsealed(result), __provider: "pointer" };
  };
  return {
    hub: made,
    lifecycle,
    clock,
    said,
    cancel,
    checked,
    run: async (inputs = {}) => {
      const bag = await checked({ account: made.ids.account, enabled: true, ...inputs });
      const { outs } = await lifecycle.create(bag);
      return { ...unsealed(outs), __provider: "pointer" };
    },
    calls: async () => {
      const all = await log();
      const fresh = all.slice(seen);
      seen = all.length;
      return fresh;
    },
    tamper: async (change) => {
      const { json } = await made.service.control("GET", "/snapshot");
      change(json.objects as Record<string, Record<string, unknown>[]>);
      const { status, text } = await made.service.control("PUT", "/snapshot", json);
      if (status >= 300) throw new Error(text);
    },
  };
};
