import type { Settings } from "../../provider/service/setting-table.js";
import {
  describeSettings,
  readSettings,
  type SettingSource,
} from "../../provider/service/settings.js";
import { queryPulumi } from "../../provider/stacks/pulumi-queries.js";
import { messageOf } from "../command.js";
import { type PulumiResource, readDocument, resourcesOf } from "../forecast/documents.js";
import { pulumiPlace, readStackConfig } from "../pulumi-cli/stack-config.js";
import { type Diagnosis, type DoctorCheck, fail, skipped } from "./check.js";
import { checkEnvironmentNames } from "./environment-names.js";
import { checkHeldObjects } from "./held-objects.js";
import { checkCertificates, checkProxy } from "./network-checks.js";
import { checkConnection, skippedAfterToken } from "./service-checks.js";
import { checkConfig, checkSetting, checkVersionSegment } from "./setting-checks.js";
import { checkNode, checkParallel, checkPulumi, checkSdk } from "./tool-checks.js";

export interface DiagnoseOptions {
  /** Where a program of the user would run. Default: the current folder. */
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Profile of the settings. Default: none. */
  readonly profile?: string;
  /** Stack whose configuration is read. Default: the selected one. */
  readonly stack?: string;
}

const checkSettings = (source: SettingSource, profile?: string): readonly DoctorCheck[] =>
  describeSettings(profile).flatMap((setting) => {
    const check = checkSetting(setting, source);
    return setting.key === "baseUrl" ? [check, checkVersionSegment(setting, source)] : [check];
  });

/** The resources of the stack; none without project, stack or Pulumi, which other checks tell. */
const resourcesIn = async (
  ...place: Parameters<typeof pulumiPlace>
): Promise<readonly PulumiResource[]> => {
  const found = pulumiPlace(...place);
  const answer = found && (await queryPulumi(found, ["stack", "export"]));
  return answer && "text" in answer ? resourcesOf(readDocument(answer.text)?.state) : [];
};

/** Settings that can be used, or why all together cannot. */
interface Whole {
  readonly settings?: Settings;
  readonly fault?: DoctorCheck;
}

/** Some rules need more than one setting, or a file that one of them names. */
const readWhole = (source: SettingSource, profile: string | undefined): Whole => {
  try {
    return { settings: readSettings(source, profile) };
  } catch (error) {
    return { fault: fail("settings", messageOf(error), "Correct that, then run doctor again.") };
  }
};

const isFine = ({ name, status }: DoctorCheck): boolean => name === "service" && status === "ok";

/** Looks at everything that a run needs, and touches nothing. Makes a few calls that only read. */
export const diagnose = async (options: DiagnoseOptions = {}): Promise<Diagnosis> => {
  const { folder = process.cwd(), env = process.env, profile, stack } = options;
  const [pulumi, config] = await Promise.all([
    checkPulumi(env),
    readStackConfig(folder, env, stack),
  ]);
  const { source } = config;
  const held = await resourcesIn(folder, env, stack);
  const each = checkSettings(source, profile);
  const usable = each.every(({ status }) => status !== "fail");
  const whole: Whole = usable ? readWhole(source, profile) : {};
  const settings = whole.fault ? [...each, whole.fault] : each;
  const why = "the settings cannot be used yet";
  const connection = whole.settings
    ? await checkConnection(whole.settings, env)
    : [skipped("token", why), ...skippedAfterToken(why)];
  const objects =
    whole.settings && connection.some(isFine)
      ? await checkHeldObjects(held, whole.settings, env)
      : skipped("stack-objects", "the service does not answer yet");
  const checks = [
    checkNode(),
    checkSdk(folder),
    pulumi,
    ...checkConfig(config, stack),
    ...settings,
    checkEnvironmentNames(env),
    checkParallel(held, source),
    checkProxy(env),
    checkCertificates(env),
    ...connection,
    objects,
  ];
  return { ok: checks.every(({ status }) => status !== "fail"), checks };
};
