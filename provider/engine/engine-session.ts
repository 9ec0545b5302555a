import type { Clock } from "../kernel/clock.js";
import type { AccountSession, ObjectHolders, RunEnvironment, Tell } from "../lifecycle/run.js";
import type { Service } from "../service/connect.js";
import type { Wait } from "../service/http/pace.js";
import type { SettingSource } from "../service/settings/settings.js";
import { readSettings } from "../service/settings/settings.js";
import { ownerParts } from "../stacks/owner.js";
import { cancelSignal } from "./cancel-signal.js";
import { urnInQuestion } from "./resource-urn.js";
import { engineStatusLine } from "./status-line.js";

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

/** A session with the means of a process of the engine. */
export interface EngineSession extends AccountSession {
  readonly service: Service;
  readonly clock: Clock;
  /** Aborted when the engine cancels the run. */
  readonly signal: AbortSignal;
  /** Shows a passing message in the row of the resource that the running call is about. */
  readonly say: (text: string) => void;
}

/**
 * How a process of the engine talks to the service: paced, cancelled by Ctrl-C, and telling in the
 * row of the resource what it waits for.
 */
export const engineSessions = (
  source: SettingSource,
): ((profile?: string) => Promise<EngineSession>) => {
  const cancelled = cancelSignal();
  const say = engineStatusLine();
  return async (profile) => {
    const settings = readSettings(source, profile);
    const [{ connectService }, { servicePaces }, { systemClock }] = await Promise.all([
      import("../service/connect.js"),
      import("../pacing/pacer.js"),
      import("../kernel/clock.js"),
    ]);
    const paces = servicePaces(settings, {
      clock: systemClock,
      onNotice: say,
      onWait: (wait) => say(waitText(wait), urnInQuestion()),
      onPlanGuess: (guess) =>
        say(`The tenant seems to have the plan ${guess}: set conversation:plan to be sure`),
    });
    const pace = paces.pace(settings);
    return {
      settings,
      service: connectService(settings, { pace, signal: cancelled }),
      clock: systemClock,
      signal: cancelled,
      say: (text) => say(text, urnInQuestion()),
    };
  };
};

/** The states as they were before the run, each asked for once; the means are loaded when they are. */
export const engineStates = (): NonNullable<RunEnvironment["states"]> => {
  const known = new Map<string, Promise<ObjectHolders | undefined>>();
  return (owner, whose) => {
    const key = `${whose} ${ownerParts(owner).ownership}`;
    const asked =
      known.get(key) ??
      import("../stacks/stack-states.js").then(({ statesOfThisRun }) =>
        statesOfThisRun(owner, whose),
      );
    known.set(key, asked);
    return asked;
  };
};

/**
 * What a run tells beside failures: in the row of the resource that the running call is about, and in
 * the diagnostics. The same warning is given once.
 */
export const engineTell = (): Tell => {
  const show = engineStatusLine();
  const warned = new Set<string>();
  return (text, severity) => {
    if (severity === "warning" && warned.has(text)) return;
    warned.add(text);
    show(text, urnInQuestion(), severity);
  };
};
