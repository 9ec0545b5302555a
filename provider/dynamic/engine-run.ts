import type { Clock } from "../kernel/clock.js";
import { assertNode } from "../kernel/node-version.js";
import { ownerParts } from "../kernel/pulumi.js";
import {
  type AccountSession,
  createRun,
  type Notify,
  type ObjectHolders,
  type Run,
  type RunEnvironment,
} from "../lifecycle/run.js";
import { calledAccount } from "../service/emulated-settings.js";
import { type Wait, waitText } from "../service/pace.js";
import type { Plan } from "../service/plans.js";
import { type SettingSource, type Settings, settingLabel } from "../service/settings.js";
import type { StatusLine } from "./status-line.js";

/** Caches values that do not change while a process runs, by key; a failure is not cached. */
const once = <K, T>(read: (key: K) => T): ((key: K) => T) => {
  const known = new Map<K, T>();
  return (key) => {
    const value = known.get(key) ?? read(key);
    known.set(key, value);
    return value;
  };
};

/** What the process that serves the engine provides to the run. */
export interface EngineDoor {
  readonly source: SettingSource;
  /** Returns the URN of the resource that the current call is about, if known. */
  readonly urn: () => string | undefined;
  /** Receives the resource that each call is about, if the engine does not name it. */
  readonly called?: RunEnvironment["called"];
  /** Whether this process serves resources of the plugin, and not dynamic ones. */
  readonly isPlugins?: boolean;
  /** Signal that aborts when the engine cancels the run. */
  readonly cancelled: AbortSignal;
  readonly show: StatusLine;
  /** Whether the engine runs a program, as it does in `up`, and not in `destroy`. */
  readonly runsProgram: () => Promise<boolean>;
}

/**
 * Creates this process's run. All kinds share it, because they use the same token, lists, and
 * decisions.
 */
export const engineRun = (door: EngineDoor): Run => {
  const settings = once((profile: string | undefined): Settings => {
    assertNode();
    return calledAccount(door.source, profile);
  });
  const runsProgram = once<void, Promise<boolean>>(door.runsProgram);
  return createRun(engineSessions(settings, door), {
    settings,
    runsProgram,
    // The modules for it are loaded on demand.
    states: rememberStates(async (owner, whose) => {
      const { statesOfThisRun } = await import("../../cli/pulumi/stack-states.js");
      return statesOfThisRun(owner, whose);
    }),
    hidesReplacements: async () => {
      const { canReadStates } = await import("../../cli/pulumi/stack-states.js");
      return (await runsProgram()) && !(await canReadStates());
    },
    notify: engineNotify(door),
    isPlugins: door.isPlugins === true,
    ...(door.called ? { called: door.called } : {}),
  });
};

/** It stays visible after the run, when the user can act on it. */
const planGuessText = (guess: Plan, account: string | undefined): string =>
  `The tenant seems to be on the ${guess} plan: the service refused calls (429), which were then sent again. Set ${settingLabel("plan", account)} to ${guess}, so that the next run keeps to that plan's rates from the first call.`;

/**
 * The engine process's connection to the service: paced, canceled by Ctrl-C, and reporting waits in
 * the row of the resource.
 */
const engineSessions =
  (
    settingsOf: (profile?: string) => Settings,
    { source: { account }, cancelled, show, urn }: EngineDoor,
  ): ((profile?: string) => Promise<AccountSession>) =>
  async (profile) => {
    const settings = settingsOf(profile);
    const [{ connectService }, { servicePaces }, { systemClock }] = await Promise.all([
      import("../service/connect.js"),
      import("../pacing/pacer.js"),
      import("../kernel/clock.js"),
    ]);
    const paces = servicePaces(settings, {
      clock: systemClock,
      onNotice: show,
      onWait: waitRows(show, systemClock, urn),
      onPlanGuess: (guess) => show(planGuessText(guess, account ?? profile), undefined, "info"),
    });
    return {
      settings,
      service: connectService(account ? { ...settings, profile: account } : settings, {
        pace: paces.pace(settings),
        signal: cancelled,
      }),
    };
  };

/** A turn that comes this much later than shown is not worth another line, in milliseconds. */
const toleratedMs = 1_000;

/**
 * Returns a function that shows the waits of calls in the rows of their resources: one sentence for
 * each wait, and another one only if it has become longer, because without a terminal every message
 * is a line of the log.
 */
export const waitRows = (
  show: StatusLine,
  clock: Pick<Clock, "now">,
  urn: EngineDoor["urn"],
): ((wait: Wait) => void) => {
  const turns = new Map<string | undefined, number>();
  return (wait) => {
    const turnAt = clock.now() + wait.waitMs;
    if (turnAt <= (turns.get(urn()) ?? Number.NEGATIVE_INFINITY) + toleratedMs) return;
    turns.set(urn(), turnAt);
    show(waitText(wait), urn());
  };
};

/** Reads each state once, unless that does not suffice. */
export const rememberStates = (
  read: (owner: string, whose: "own" | "all") => Promise<ObjectHolders | undefined>,
): NonNullable<RunEnvironment["states"]> => {
  const known = new Map<string, Promise<ObjectHolders | undefined>>();
  return async (owner, whose, suffices) => {
    const key = `${whose} ${suffices !== undefined} ${ownerParts(owner).ownership}`;
    const before = known.get(key);
    const states = await before;
    if (before && (!suffices || !states || suffices(states))) return states;
    const meanwhile = known.get(key);
    if (meanwhile && meanwhile !== before) return meanwhile;
    const asked = read(owner, whose);
    known.set(key, asked);
    return asked;
  };
};

/**
 * A run's reports other than failures: in the row for the resource that the running call is about,
 * and in the diagnostics. The same warning is given once.
 */
const engineNotify = ({ show, urn }: EngineDoor): Notify => {
  const warned = new Set<string>();
  return (text, severity) => {
    if (severity === "warning" && warned.has(text)) return;
    warned.add(text);
    show(text, urn(), severity);
  };
};
