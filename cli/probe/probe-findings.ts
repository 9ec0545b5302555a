import { z } from "zod";
import { type PlanName, planNames } from "../../emulator/http/rate-limit.js";
import { parseSwitch, parseSwitches, type Switches } from "../../emulator/service/switches.js";
import {
  type FoundValue,
  readFindings,
  type TenantFindings,
} from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import type { Answers } from "./experiments.js";
import type { TenantClient } from "./tenant-client.js";

const found = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** Shape of what `probe --json` prints, and of the file that it writes. */
export const findingsSchema = z.strictObject({
  version: z.literal(1),
  probedAt: z.iso.datetime(),
  baseUrl: z.string().describe("Base URL of the tenant"),
  calls: z.int().min(0).describe("Number of calls that the probe made"),
  switches: found.describe("Values, by emulator switch"),
  settings: found.describe("Values, by setting"),
  observed: found.describe("Other observations"),
  open: z
    .record(z.string(), z.string())
    .describe("Questions that remain open, with the reason for each"),
}) satisfies z.ZodType<TenantFindings>;

/** Shape of what `probe --clean --json` prints. */
export const cleanedSchema = z.strictObject({
  removed: z
    .int()
    .min(0)
    .describe("Number of objects from earlier probes that were looked up and, if found, removed"),
});

/** What `probe --clean --json` prints. */
export type Cleaned = z.output<typeof cleanedSchema>;

const settingNames = ["put", "plan", "burst"];

/** Whether an emulator can be set to it: other values are only reported as observed. */
const isSwitch = ([name, value]: [string, FoundValue]): boolean => {
  try {
    return Object.keys(parseSwitch(name, value)).length > 0;
  } catch {
    return false;
  }
};

/** What was found out, grouped by its use, and what stays open. `at`: milliseconds since 1970. */
export const findingsOf = (
  answers: Answers,
  { settings, calls }: Pick<TenantClient, "settings" | "calls">,
  at: number,
): TenantFindings => {
  const found = Object.entries(answers).flatMap(([name, value]): [string, FoundValue][] =>
    value instanceof Error ? [] : [[name, value]],
  );
  const open = Object.entries(answers).flatMap(([name, value]) =>
    value instanceof Error ? [[name, value.message]] : [],
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

/**
 * The switches of an emulator that behaves like the tenant of a file of findings.
 *
 * @throws CommandFailure or ConversationError if the file cannot be used
 */
export const foundSwitches = (file: string): Partial<Switches> => {
  const { switches } = readFindings(file);
  try {
    return parseSwitches(switches);
  } catch (error) {
    throw new CommandFailure(
      `The findings in ${file} come from another release: ${messageOf(error)} Probe the tenant again.`,
    );
  }
};

/** Values of a findings file that the command line may override. */
export interface LikeArguments {
  /** Findings of a probe. */
  readonly like?: string;
  readonly plan?: PlanName;
  readonly burst?: number;
  readonly switch?: Partial<Switches>;
}

/**
 * The arguments of an emulator that behaves like the tenant of `--like`; what the command line says
 * wins.
 *
 * @throws CommandFailure or ConversationError if the file cannot be used
 */
export const likeTenant = <G extends LikeArguments>(given: G): G => {
  const { like } = given;
  if (like === undefined) return given;
  const { settings } = readFindings(like);
  const plan = planNames.find((name) => name === settings.plan);
  const burst = Number.isInteger(settings.burst) ? Number(settings.burst) : undefined;
  if ((burst ?? 1) < 1 || plan !== settings.plan || burst !== settings.burst)
    throw new CommandFailure(
      `The emulator does not support the plan or the burst in ${like}. Probe the tenant again.`,
    );
  const isPlanGiven = given.plan !== undefined;
  return {
    ...given,
    switch: { ...foundSwitches(like), ...given.switch },
    ...(plan === undefined || isPlanGiven ? {} : { plan }),
    ...(burst === undefined || given.burst !== undefined || isPlanGiven ? {} : { burst }),
  };
};
