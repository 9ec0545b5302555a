import { type EmulatorOptions, startEmulator } from "pulumi-conversation/emulator";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject, withoutPace } from "./cli-project.js";
import { type Door, doorOfTests } from "./door.js";
import { EmulatorControl } from "./emulator-control.js";

/** A project of the real command line in front of an emulator of its own. */
export type EmulatedProject = EmulatorControl & CliProject & { close(): Promise<void> };

/** @param environment settings of the program beside those of the emulator */
export const emulatedProject = async (
  program: string,
  options: EmulatorOptions = {},
  environment: Readonly<Record<string, string>> = {},
  door: Door = doorOfTests,
): Promise<EmulatedProject> => {
  const emulator = await startEmulator(options);
  const isLimited = options.plan !== undefined || options.burst !== undefined;
  const settings = {
    ...emulatorEnvironment(emulator),
    ...(isLimited ? {} : withoutPace),
    ...environment,
  };
  const project = await cliProject(program, settings, { door });
  const close = async (): Promise<void> => {
    project.remove();
    await emulator.close();
  };
  return Object.assign(new EmulatorControl(emulator), project, { close });
};
