import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { z } from "zod";
import type { ShownDelivery } from "../emulator/conversations/deliveries.js";
import { type Emulator, type PlanName, type Switches, startEmulator } from "../emulator/index.js";
import { isObject, jsonIn, type Printed } from "../provider/kernel/json.js";
import { listenFailure } from "../provider/kernel/listen-failure.js";
import { inertOutput } from "../provider/kernel/text.js";
import {
  addressesVariable,
  type EmulatedAddresses,
} from "../provider/service/emulated-settings.js";
import { CommandFailure, messageOf, type Session } from "./command.js";
import type { emulatorLineSchema } from "./emulator-schema.js";
import { emulatorEnvironment, testEnvironment } from "./emulator-settings.js";

/** The command line's options for the emulator, with the defaults filled in. */
export interface EmulatorArguments {
  readonly port: number;
  readonly host: string;
  readonly plan: PlanName;
  readonly burst?: number;
  readonly clock: "real" | "manual";
  readonly data?: string;
  readonly switch: Partial<Switches>;
  readonly controlSecret?: string | true;
  readonly json?: true;
}

/** Why the emulator does not start, if its address is the reason. */
const addressFailure = (error: unknown, options: EmulatorArguments): string | undefined => {
  const failure = listenFailure(error, options);
  if (!failure) return undefined;
  const free = failure.change === "port" ? " (0 picks a free one)" : "";
  return `${failure.text} with --${failure.change}${free}.`;
};

/** One line; a sender chooses the ID of its message. */
const undeliveredLine = (lastAttempt: ShownDelivery): string => {
  const { url, messageId, type, status, error, attempt, failure } = lastAttempt;
  const times = attempt === 1 ? "1 attempt" : `${attempt} attempts`;
  const where = attempt === 0 ? "" : ` to ${url} (${times})`;
  const why = error ?? `the callback responded with ${status}`;
  const { rule = "", next = "" } = failure ?? {};
  const text = `Message ${messageId} (${type}) was not delivered${where}: ${why}. ${rule} ${next}`;
  return `${inertOutput(text, false)}\n`;
};

const start = async (
  options: EmulatorArguments,
  onUndelivered: ((lastAttempt: ShownDelivery) => void) | undefined,
): Promise<Emulator> => {
  const { switch: switches, json, ...others } = options;
  const { data } = options;
  if (data !== undefined && !existsSync(dirname(resolve(data))))
    throw new CommandFailure(
      `Starting the emulator: the folder for --data ${data} does not exist. Create it first.`,
    );
  try {
    const more = onUndelivered ? { onUndelivered } : {};
    return await startEmulator({ ...others, switches, ...more });
  } catch (error) {
    const reason = addressFailure(error, options) ?? messageOf(error);
    // The emulator's own errors are complete sentences.
    const isOwn = !(error instanceof Error && "code" in error);
    const start = isOwn ? "" : "Starting the emulator: ";
    throw new CommandFailure(`${start}${reason}`, 1, { cause: error });
  }
};

const jsonLine = (emulator: Emulator): string => {
  const { baseUrl, tokenUrl, authUrl, controlUrl, clientId, clientSecret } = emulator;
  const { controlSecret } = emulator;
  const line: Printed<z.output<typeof emulatorLineSchema>> = {
    ...{ baseUrl, tokenUrl, authUrl, controlUrl, clientId, clientSecret },
    ...(controlSecret === undefined ? {} : { controlSecret }),
  };
  return `${JSON.stringify(line)}\n`;
};

const readable = (emulator: Emulator, { plan, clock, data }: EmulatorArguments): string => {
  const rates = plan === "none" ? "no rate limits" : `${plan} plan rates`;
  const place = data === undefined ? "objects in memory" : `objects in ${data}`;
  const time = clock === "manual" ? ", manual clock" : "";
  const variables = Object.entries(settingsOf(emulator, plan));
  return [
    `The conversation service emulator is running: ${rates}, ${place}${time}.`,
    "",
    "With this environment, programs and Pulumi call the emulator and pace calls as they would for the service:",
    ...variables.map(([name, value]) => `  export ${name}=${value}`),
    "",
    `Page:         ${new URL("/", emulator.baseUrl)}`,
    `Control:      ${emulator.controlUrl}`,
    ...(emulator.controlSecret ? [`              Bearer ${emulator.controlSecret}`] : []),
    `Authorize:    ${emulator.authUrl}`,
    "",
    "To stop it, press Ctrl-C.",
    "",
  ].join("\n");
};

const settingsOf = (emulator: Emulator, plan: PlanName) =>
  emulatorEnvironment(emulator, plan === "none" ? undefined : plan);

/** Keeps Pulumi from accounts that a program names itself, beside emulators around this one. */
const onlyEmulators = ({ baseUrl }: Emulator): Readonly<Record<string, string>> => {
  const outer = jsonIn(process.env[addressesVariable] ?? "");
  const starts = isObject(outer) && Array.isArray(outer.starts) ? outer.starts : [];
  const addresses: EmulatedAddresses = {
    starts: [...starts, new URL(baseUrl).origin],
    alsoLocal: true,
  };
  return { [addressesVariable]: JSON.stringify(addresses) };
};

/** Shows what was started and waits, or runs the command that it was started for. */
const useEmulator = async (
  emulator: Emulator,
  options: EmulatorArguments,
  command: readonly string[],
  { session, ended }: { readonly session: Session; readonly ended: Promise<void> | undefined },
): Promise<void> => {
  if (command.length > 0) {
    const { runBesideEmulator } = await import("./run-beside-emulator.js");
    session.exitCode = await runBesideEmulator(command, {
      ...settingsOf(emulator, options.plan),
      ...testEnvironment(emulator),
      ...onlyEmulators(emulator),
    });
    return;
  }
  session.out(options.json ? jsonLine(emulator) : readable(emulator, options));
  await ended;
};

/**
 * Runs the emulator until the session is interrupted, and shuts it down cleanly.
 *
 * @param command to run beside it: the emulator then ends with the command and returns its exit
 * code
 * @throws CommandFailure that says why it, or the command, does not start
 */
export const serveEmulator = async (
  options: EmulatorArguments,
  command: readonly string[],
  session: Session,
): Promise<void> => {
  // Listens from the beginning: the reader of the first line may interrupt at once.
  const ended = command.length === 0 ? session.untilInterrupted() : undefined;
  // V8 lets the space for young objects grow to 128 MiB under many simultaneous calls. At its initial
  // size it is as fast here, and the process stays small.
  setFlagsFromString("--semi-space-growth-factor=1");
  // Not among what a command prints, or what a program reads.
  const isShown = command.length === 0 && !options.json;
  const emulator = await start(
    options,
    isShown ? (lastAttempt) => session.err(undeliveredLine(lastAttempt)) : undefined,
  );
  try {
    await useEmulator(emulator, options, command, { session, ended });
  } finally {
    await emulator.close();
  }
};
