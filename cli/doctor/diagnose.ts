import {
  describeSettings,
  readSettings,
  type SettingSource,
} from "../../provider/service/settings/settings.js";
import { pulumiPlace, readStackConfig } from "../pulumi-cli/stack-config.js";
import { type Diagnosis, type DoctorCheck, skipped } from "./check.js";
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

/** Looks at everything that a run needs, and touches nothing. Makes at most two calls to the service. */
export const diagnose = async (options: DiagnoseOptions = {}): Promise<Diagnosis> => {
  const { folder = process.cwd(), env = process.env, profile, stack } = options;
  const [pulumi, config] = await Promise.all([
    checkPulumi(env),
    readStackConfig(folder, env, stack),
  ]);
  const { source } = config;
  const parallel = await checkParallel(pulumiPlace(folder, env, stack), source);
  const settings = checkSettings(source, profile);
  const usable = settings.every(({ status }) => status !== "fail");
  const why = "the settings cannot be used yet";
  const connection = usable
    ? await checkConnection(readSettings(source, profile), env)
    : [skipped("token", why), ...skippedAfterToken(why)];
  const checks = [
    checkNode(),
    checkSdk(folder),
    pulumi,
    ...checkConfig(config, stack),
    ...settings,
    parallel,
    checkProxy(env),
    checkCertificates(env),
    ...connection,
  ];
  return { ok: checks.every(({ status }) => status !== "fail"), checks };
};
