import { setTimeout as pause } from "node:timers/promises";
import { type EmulatorOptions, startEmulator } from "pulumi-conversation/emulator";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject, withoutPace } from "./cli-project.js";
import { type Door, doorOfTests } from "./door.js";
import { EmulatorControl } from "./emulator-control.js";
import { descendants } from "./processes.js";

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

/** Waits as long as it takes; the time of the test is the limit. */
export const until = async (what: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await what())) await pause(50);
};

/**
 * An `up` that is killed, with its providers, as soon as a channel is made, before the state has it.
 *
 * @param account where the channel is made
 * @returns the id of the channel
 */
export const killCreation = async (
  project: EmulatedProject,
  environment: Readonly<Record<string, string>>,
  account: EmulatorControl = project,
): Promise<string> => {
  const before = (await account.objects("channels")).map(({ id }) => id);
  const made = async () =>
    (await account.objects("channels")).find(({ id }) => !before.includes(id))?.id;
  await account.faults({ on: "POST /channels", kind: "drip" });
  const { child, ended } = project.start(["up", "--yes", "--skip-preview"], environment);
  await until(async () => (await made()) !== undefined);
  const providers = descendants(child.pid ?? 0, project.providerProcess);
  for (const pid of [child.pid ?? 0, ...providers]) process.kill(pid, "SIGKILL");
  await ended;
  await account.control("DELETE", "/faults");
  return String(await made());
};
