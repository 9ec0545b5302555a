import { AsyncLocalStorage } from "node:async_hooks";
import type { Lifecycle } from "../lifecycle/index.js";
import type { Session } from "../lifecycle/run.js";
import type { Wait } from "../service/pace.js";
import type { SettingSource } from "../service/settings.js";
import { readSettings } from "../service/settings.js";
import { cancelSignal } from "./cancel-signal.js";
import { rememberedUrn } from "./resource-urn.js";
import { engineStatusLine } from "./status-line.js";

/** The resource that the running call is about. */
const currentUrn = new AsyncLocalStorage<string | undefined>();

/** `1 min 15 s` */
export const durationText = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [
    hours && `${hours} h`,
    minutes && `${minutes} min`,
    hours ? 0 : seconds % 60 && `${seconds % 60} s`,
  ];
  return parts.filter(Boolean).join(" ") || "0 s";
};

/** `waiting for POST /channels: 12 calls queued, about 1 min 15 s left` */
export const waitText = ({ method, template, queued, waitMs }: Wait): string =>
  `waiting for ${method} ${template}: ${queued} ${queued === 1 ? "call" : "calls"} queued, about ${durationText(waitMs)} left`;

/**
 * How a process of the engine talks to the service: paced, cancelled by Ctrl-C, and telling in the
 * row of the resource what it waits for.
 */
export const engineSessions = (source: SettingSource): ((profile?: string) => Promise<Session>) => {
  const cancelled = cancelSignal();
  const say = engineStatusLine();
  return async (profile) => {
    const settings = readSettings(source, profile);
    const [{ connectService }, { pacedCalls }, { sharedBuckets }, { systemClock }] =
      await Promise.all([
        import("../service/connect.js"),
        import("../pacing/pacer.js"),
        import("../pacing/shared-buckets.js"),
        import("../service/clock.js"),
      ]);
    const { baseUrl, plan, burst, share, redisUrl } = settings;
    const state = sharedBuckets({
      clock: systemClock,
      onNotice: say,
      ...(redisUrl ? { redisUrl } : {}),
    });
    const pace = pacedCalls({
      clock: systemClock,
      tenant: baseUrl,
      share,
      state,
      ...(plan ? { plan } : {}),
      ...(burst === undefined ? {} : { burst }),
      onWait: (wait) => say(waitText(wait), currentUrn.getStore()),
      onPlanGuess: (guess) =>
        say(`The tenant seems to have the plan ${guess}: set conversation:plan to be sure`),
    });
    return { settings, service: connectService(settings, { pace, signal: cancelled }) };
  };
};

/** The life cycle with the resource of each call known to whoever reports on it. */
export const withUrns = (lifecycle: Lifecycle): Lifecycle => {
  const about = <T>(values: object, call: () => Promise<T>): Promise<T> =>
    currentUrn.run(rememberedUrn(values), call);
  return {
    ...lifecycle,
    create: (inputs) => about(inputs, () => lifecycle.create(inputs)),
    read: (id, properties) => about(properties, () => lifecycle.read(id, properties)),
    update: (id, olds, news) => about(news, () => lifecycle.update(id, olds, news)),
    delete: (id, properties) => about(properties, () => lifecycle.delete(id, properties)),
  };
};
