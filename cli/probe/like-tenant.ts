import { planNames } from "../../emulator/http/rate-limit.js";
import { parseSwitches, type Switches } from "../../emulator/service/switches.js";
import { readFindings } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import type { EmulatorArguments } from "../serve-emulator.js";

/**
 * The switches of an emulator that behaves like the tenant of a file of findings.
 *
 * @throws CommandFailure or ConversationError where the file cannot be used
 */
export const foundSwitches = (file: string): Partial<Switches> => {
  const { switches } = readFindings(file);
  try {
    return parseSwitches(switches);
  } catch (error) {
    throw new CommandFailure(
      `The findings in ${file} are of another release: ${messageOf(error)} Probe the tenant again.`,
    );
  }
};

/**
 * The arguments of an emulator that behaves like the tenant of `--like`; what the command line says itself wins.
 *
 * @throws CommandFailure or ConversationError where the file cannot be used
 */
export const likeTenant = (given: EmulatorArguments, isPlanGiven: boolean): EmulatorArguments => {
  const { like } = given;
  if (like === undefined) return given;
  const { settings } = readFindings(like);
  const plan = planNames.find((name) => name === settings.plan);
  const burst = Number.isInteger(settings.burst) ? Number(settings.burst) : undefined;
  if ((burst ?? 1) < 1 || plan !== settings.plan || burst !== settings.burst)
    throw new CommandFailure(
      `The plan or the burst in ${like} is none that an emulator knows. Probe the tenant again.`,
    );
  return {
    ...given,
    switch: { ...foundSwitches(like), ...given.switch },
    ...(plan === undefined || isPlanGiven ? {} : { plan }),
    ...(burst === undefined || given.burst !== undefined || isPlanGiven ? {} : { burst }),
  };
};
