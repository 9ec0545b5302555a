import { styleText } from "node:util";
import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { projectFile } from "../../provider/kernel/pulumi.js";
import { calledAccount } from "../../provider/service/emulated-settings.js";
import {
  describeSettings,
  type SettingSource,
  type Settings,
} from "../../provider/service/settings.js";
import { messageOf } from "../command.js";
import { missingPulumiAdvice } from "../get-pulumi/get-pulumi.js";
import type { StackOptions } from "../inventory/open-stack.js";
import { programNode } from "../program-node.js";
import { readStackConfig } from "../pulumi/project-files.js";
import { findProgram, hostLimits, inspectPulumi, isAtLeast } from "../pulumi/pulumi-cli.js";
import { wrappedWords } from "../terminal/columns.js";
import { checkConnection, checkProxy, skippedAfterToken } from "./service-checks.js";

import {
  type CheckStatus,
  checkConfig,
  checkNames,
  checkSchema,
  checkSetting,
  type DoctorCheck,
  fail,
  ok,
  skipped,
  warn,
} from "./setting-checks.js";

const BEST_NODE = "24";

/** The Node.js of programs: new enough, and able to share rate limits between processes. */
const checkNode = async (env: NodeJS.ProcessEnv): Promise<DoctorCheck> => {
  const { found, version, advice } = await programNode(env);
  // Not a failure: scripts of npm, and this command, may run on another.
  if (version === undefined) return warn("node", found, advice);
  return isAtLeast(version, `${BEST_NODE}.0`)
    ? ok("node", found)
    : ok("node", `${found}; with Node.js ${BEST_NODE} or later, processes share their rate limits`);
};

/**
 * The Pulumi CLI on PATH, with what it needs to run TypeScript programs.
 *
 * @param folder where a bot may run, which has no Pulumi project and needs no Pulumi
 */
export const checkPulumi = async (
  env: NodeJS.ProcessEnv,
  folder?: string,
): Promise<DoctorCheck> => {
  const install = missingPulumiAdvice(env);
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined && folder !== undefined && projectFile(folder) === undefined)
    return warn("pulumi-cli", "pulumi is not on PATH; a bot does not need it", install);
  if (command === undefined) return fail("pulumi-cli", "pulumi is not on PATH", install);
  const inspected = await inspectPulumi(command, "PATH", env);
  if ("unusable" in inspected) return fail("pulumi-cli", inspected.unusable, install);
  const found = `Pulumi ${inspected.cli.version} (${command})`;
  const limits = hostLimits(inspected.cli, env);
  return limits === undefined ? ok("pulumi-cli", found) : warn("pulumi-cli", found, limits);
};

/** Shape of what `doctor --json` prints. */
export const diagnosisSchema = z.strictObject({
  ok: z.boolean().describe("False if a check failed"),
  checks: z.array(checkSchema),
});

/** Everything that the checks found. */
type Diagnosis = Printed<z.output<typeof diagnosisSchema>>;

/** The settings, or why they cannot be used together: some rules need more than one setting. */
const readWhole = (source: SettingSource, profile: string | undefined): Settings | DoctorCheck => {
  try {
    return calledAccount(source, profile);
  } catch (error) {
    return fail("settings", messageOf(error));
  }
};

const hasFailed = ({ status }: DoctorCheck): boolean => status === "fail";

/** Checks everything that a run needs and changes nothing. Makes a few calls that only read. */
export const diagnose = async (options: StackOptions = {}): Promise<Diagnosis> => {
  const { folder = process.cwd(), env = process.env, profile, stack } = options;
  const [node, pulumi, config] = await Promise.all([
    checkNode(env),
    checkPulumi(env, folder),
    readStackConfig(folder, env, stack),
  ]);
  const { source } = config;
  const each = describeSettings(profile).map((setting) => checkSetting(setting, source));
  const whole = each.some(hasFailed) ? undefined : readWhole(source, profile);
  const settings = whole && "baseUrl" in whole ? whole : undefined;
  const why = "the settings are incomplete or invalid";
  const connection = settings
    ? await checkConnection(settings, env)
    : [skipped("token", why), ...skippedAfterToken(why)];
  const checks = [
    node,
    pulumi,
    ...checkConfig(config, stack),
    ...each,
    ...(whole && "status" in whole ? [whole] : []),
    checkNames(env, config.entries),
    checkProxy(env),
    ...connection,
  ];
  return { ok: !checks.some(hasFailed), checks };
};

const signs = {
  ok: { sign: "✓", colour: "green" },
  warn: { sign: "!", colour: "yellow" },
  fail: { sign: "✗", colour: "red" },
  skipped: { sign: "–", colour: "dim" },
} as const satisfies Record<CheckStatus, { sign: string; colour: string }>;

const COLUMNS = 80;
/** Width of the sign before a name with the space around it. */
const GAP = 4;

export const doctorReport = ({ checks }: Diagnosis, coloured: boolean): string => {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, message, advice }) => {
    const { sign, colour } = signs[status];
    const shown = coloured ? styleText(colour, sign, { validateStream: false }) : sign;
    const beside = (text: string) => wrappedWords(text, COLUMNS - width - GAP);
    const [first = "", ...more] = [
      ...beside(message),
      ...(advice === "" ? [] : beside(`→ ${advice}`)),
    ];
    return [
      `${shown} ${name.padEnd(width)}  ${first}`,
      ...more.map((line) => " ".repeat(width + GAP) + line),
    ];
  });
  const counted = (wanted: CheckStatus, what: string): readonly string[] => {
    const count = checks.filter(({ status }) => status === wanted).length;
    return count === 0 ? [] : [`${count} ${what}`];
  };
  const verdict = [
    ...counted("fail", "failed"),
    ...counted("warn", "to review"),
    ...counted("skipped", "skipped"),
  ].join(", ");
  return `${lines.join("\n")}\n\n${verdict === "" ? "All checks passed." : `${verdict}.`}\n`;
};
