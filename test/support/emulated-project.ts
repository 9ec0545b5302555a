import { type EmulatorOptions, startEmulator } from "pulumi-conversation/emulator";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject, withoutPace } from "./cli-project.js";
import { EmulatorControl } from "./emulator-control.js";

/** A project of the real command line in front of an emulator of its own. */
export type EmulatedProject = EmulatorControl & CliProject & { close(): Promise<void> };

/** @param environment settings of the program beside those of the emulator */
export const emulatedProject = async (
  program: string,
  options: EmulatorOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<EmulatedProject> => {
  const emulator = await startEmulator(options);
  const isLimited = options.plan !== undefined || options.burst !== undefined;
  const project = await cliProject(program, {
    ...emulatorEnvironment(emulator),
    ...(isLimited ? {} : withoutPace),
    ...environment,
  });
  const close = async (): Promise<void> => {
    project.remove();
    await emulator.close();
  };
  return Object.assign(new EmulatorControl(emulator), project, { close });
};
