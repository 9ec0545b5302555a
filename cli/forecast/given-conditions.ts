import type { Plan } from "../../provider/service/settings/plans.js";
import {
  fraction,
  type Parsed,
  plan,
  wholeNumber,
} from "../../provider/service/settings/setting-rules.js";
import {
  type SettingKey,
  type SettingSource,
  settingLabel,
  settingNames,
} from "../../provider/service/settings/settings.js";
import { Failure } from "../failure.js";
import type { Conditions } from "./simulation/conditions.js";
import { defaultParallel } from "./simulation/parallel-steps.js";
import { assumedPageSize } from "./simulation/step-calls.js";

/** What the command line says of the conditions. */
export interface ConditionOptions {
  readonly plan?: Plan;
  readonly burst?: number;
  readonly parallel?: number;
  readonly pageSize?: number;
}

/** The conditions, and what had to be assumed. */
export interface GivenConditions {
  readonly conditions: Conditions;
  /** Sentences for people. */
  readonly assumed: readonly string[];
}

const setting = <T>(
  key: SettingKey,
  { environment, config }: SettingSource,
  parse: (text: string) => Parsed<T>,
): T | undefined => {
  const names = settingNames(key);
  const texts = [environment[names.environment], config(names.config)];
  const text = texts.find((candidate) => candidate?.trim())?.trim();
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if ("value" in parsed) return parsed.value;
  throw new Failure(`Forecasting: the setting ${settingLabel(key)} ${parsed.rule}.`);
};

/** The command line first, then the environment, then the stack's configuration. */
export const givenConditions = (
  options: ConditionOptions,
  source: SettingSource,
): GivenConditions => {
  const known = options.plan ?? setting("plan", source, plan);
  const burst = options.burst ?? setting("burst", source, wholeNumber);
  return {
    conditions: {
      plan: known ?? "enterprise",
      share: setting("share", source, fraction) ?? 1,
      parallel: options.parallel ?? defaultParallel(source.environment),
      pageSize: options.pageSize ?? assumedPageSize,
      ...(burst === undefined ? {} : { burst }),
    },
    assumed: known
      ? []
      : [
          `The plan is not known, so enterprise is assumed. Say it with --plan or ${settingLabel("plan")}.`,
        ],
  };
};
