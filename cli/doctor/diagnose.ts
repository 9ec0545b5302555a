import {
  describeSettings,
  readSettings,
  type SettingSource,
} from "../../provider/service/settings/settings.js";
import { queryPulumi } from "../../provider/stacks/pulumi-queries.js";
import { type PulumiResource, readDocument, resourcesOf } from "../forecast/documents.js";
import { pulumiPlace, readStackConfig } from "../pulumi-cli/stack-config.js";
import { type Diagnosis, type DoctorCheck, skipped } from "./check.js";
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
  const settings = checkSettings(source, profile);
  const usable = settings.every(({ status }) => status !== "fail");
  const why = "the settings cannot be used yet";
  const read = () => readSettings(source, profile);
  const connection = usable
    ? await checkConnection(read(), env)
    : [skipped("token", why), ...skippedAfterToken(why)];
  const objects = connection.some(isFine)
    ? await checkHeldObjects(held, read(), env)
    : skipped("stack-objects", "the service does not answer yet");
  const checks = [
    checkNode(),
    checkSdk(folder),
    pulumi,
    ...checkConfig(config, stack),
    ...settings,
    checkParallel(held, source),
    checkProxy(env),
    checkCertificates(env),
    ...connection,
    objects,
  ];
  return { ok: checks.every(({ status }) => status !== "fail"), checks };
};
