import { parseSwitch } from "../../emulator/service/switches.js";
import type { FoundValue, TenantFindings } from "../../provider/service/settings.js";
import type { Answers } from "./experiments/experiment.js";
import type { TenantClient } from "./tenant-client.js";

const settingNames = ["put", "plan", "burst"];

/** Whether an emulator can be set to it: what lies outside of its positions is only seen. */
const isSwitch = ([name, value]: [string, FoundValue]): boolean => {
  try {
    return Object.keys(parseSwitch(name, value)).length > 0;
  } catch {
    return false;
  }
};

/** What was found out, by where it is used, and what stays open. `at`: milliseconds since 1970. */
export const findingsOf = (
  answers: Answers,
  { settings, calls }: Pick<TenantClient, "settings" | "calls">,
  at: number,
): TenantFindings => {
  const found = Object.entries(answers).flatMap(([name, value]): [string, FoundValue][] =>
    typeof value === "object" ? [] : [[name, value]],
  );
  const open = Object.entries(answers).flatMap(([name, value]) =>
    typeof value === "object" ? [[name, value.open]] : [],
  );
  const isSetting = ([name]: [string, FoundValue]): boolean => settingNames.includes(name);
  return {
    version: 1,
    probedAt: new Date(at).toISOString(),
    baseUrl: settings.baseUrl,
    calls,
    switches: Object.fromEntries(found.filter(isSwitch)),
    settings: Object.fromEntries(found.filter(isSetting)),
    observed: Object.fromEntries(found.filter((each) => !isSwitch(each) && !isSetting(each))),
    open: Object.fromEntries(open),
  };
};
