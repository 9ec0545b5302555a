import { likelyBurst, rateOf } from "../../provider/pacing/plan-rates.js";
import type { Endpoint } from "../../provider/service/http/operations.js";
import type { Plan } from "../../provider/service/plans.js";
import {
  fraction,
  type Parsed,
  plan,
  type SettingKey,
  wholeNumber,
} from "../../provider/service/setting-table.js";
import { type SettingSource, settingLabel, settingNames } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import { defaultParallel } from "./simulation/engine.js";
import type { SimulatedLimit } from "./simulation/simulated-service.js";
import { assumedPageSize } from "./simulation/step-calls.js";

/** Under which limits a run takes place. */
export interface Conditions {
  readonly plan: Plan;
  /** Calls that an endpoint takes in a spike. Left out: about 20 seconds of its rate (assumed). */
  readonly burst?: number;
  /** Part of each limit that may be used: above 0, at most 1. */
  readonly share: number;
  /** Steps that run together. */
  readonly parallel: number;
  /** Objects on a page of a list. */
  readonly pageSize: number;
}

/** The limit of an endpoint for this tool. Below the whole share also a spike is kept to that part. */
export const endpointLimit = (
  { method, template }: Endpoint,
  { plan, burst, share }: Conditions,
): SimulatedLimit => {
  const question = { service: "Conversation", version: "v3", plan, method, template };
  const unknown = share < 1 ? 1 : likelyBurst(question).calls;
  return {
    rate: rateOf(question) * share,
    burst: burst === undefined ? unknown : Math.max(1, Math.floor(burst * share)),
  };
};

/** What the command line says of the conditions. */
export type ConditionOptions = Partial<Omit<Conditions, "share">>;

const setting = <T>(
  key: SettingKey,
  { environment, config }: SettingSource,
  parse: (text: string) => Parsed<T>,
  profile: string | undefined,
): T | undefined => {
  const names = settingNames(key, profile);
  const texts = [environment[names.environment], config(names.config)];
  const text = texts.find((candidate) => candidate?.trim())?.trim();
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if ("value" in parsed) return parsed.value;
  throw new CommandFailure(`The setting ${settingLabel(key, profile)} ${parsed.rule}.`);
};

/**
 * The conditions from the command line first, then the environment, then the stack's configuration;
 * what had to be assumed is said in sentences for people.
 *
 * @param profile default: the settings without a profile
 */
export const givenConditions = (
  options: ConditionOptions,
  source: SettingSource,
  profile?: string,
): { readonly conditions: Conditions; readonly assumed: readonly string[] } => {
  const known = options.plan ?? setting("plan", source, plan, profile);
  const burst = options.burst ?? setting("burst", source, wholeNumber, profile);
  return {
    conditions: {
      plan: known ?? "enterprise",
      share: setting("share", source, fraction, profile) ?? 1,
      parallel: options.parallel ?? defaultParallel(source.environment),
      pageSize: options.pageSize ?? assumedPageSize,
      ...(burst === undefined ? {} : { burst }),
    },
    assumed: known
      ? []
      : [
          `The plan${profile === undefined ? "" : ` of profile ${profile}`} is not known, so enterprise is assumed. Say it with --plan or ${settingLabel("plan", profile)}.`,
        ],
  };
};
