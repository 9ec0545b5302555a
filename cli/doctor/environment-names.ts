import { nearestWord } from "../../provider/kernel/text.js";
import { settingTable } from "../../provider/service/setting-table.js";
import { type DoctorCheck, ok, warn } from "./check.js";

const endings: readonly string[] = Object.values(settingTable).map(
  ({ environment }) => environment,
);
const names = endings.map((ending) => `CONVERSATION_${ending}`);

/** A variable of a profile whose last words are written as one: `CONVERSATION_EU_BASEURL`. */
const withWordsApart = (name: string): string | undefined => {
  if (!/^CONVERSATION_\w/.test(name) || endings.some((ending) => name.endsWith(`_${ending}`)))
    return undefined;
  const meant = endings
    .filter((ending) => ending.includes("_"))
    .map((ending) => name.replace(new RegExp(`_${ending.replaceAll("_", "")}$`), `_${ending}`));
  return meant.find((each) => each !== name);
};

/** The variable of a setting that was surely meant by one that is none. */
export const meantVariable = (name: string): string | undefined => {
  if (names.includes(name)) return undefined;
  const near = nearestWord(name, names);
  return near ?? withWordsApart(name);
};

/** Variables that are nearly those of settings: nothing reads them, and nothing would say so. */
export const checkEnvironmentNames = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const name = "environment";
  const typos = Object.keys(env).flatMap((variable) => {
    const meant = env[variable] ? meantVariable(variable) : undefined;
    return meant === undefined ? [] : [`${variable} is no setting: did you mean ${meant}?`];
  });
  if (typos.length === 0) return ok(name, "no variable that is nearly one of a setting");
  return warn(name, typos.join(" "), "Set it under the right name.");
};
