import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { type Emulator, type PlanName, type Switches, startEmulator } from "../emulator/index.js";
import { CommandFailure, type CommandRun, messageOf } from "./command.js";
import { emulatorEnvironment } from "./emulator-settings.js";

/** What the command line says of the emulator, with the defaults filled in. */
export interface EmulatorArguments {
  readonly port: number;
  readonly host: string;
  readonly plan: PlanName;
  readonly burst?: number;
  readonly clock: "real" | "manual";
  readonly data?: string;
  readonly switch: Partial<Switches>;
  /** Findings of a probe. */
  readonly like?: string;
  readonly controlSecret?: string | true;
  readonly json?: true;
}

/**
 * V8 lets the space for young objects grow to 128 MiB where many calls come at once. At its first size
 * it is as fast here, and the process stays below 250 MiB after a million calls (test/built/soak).
 */
const keepMemorySmall = (): void => setFlagsFromString("--semi-space-growth-factor=1");

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** Why the emulator does not start, by the code of the system's error. */
const reasons: Readonly<Record<string, (options: EmulatorArguments) => string>> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use. Stop what uses it, or choose another with --port (0 picks a free one).`,
  EACCES: ({ port }) => `port ${port} may not be used. Choose one above 1023 with --port.`,
  EADDRNOTAVAIL: ({ host }) => `this machine has no address ${host}. Choose another with --host.`,
  ENOTFOUND: ({ host }) => `the name ${host} could not be resolved. Choose another with --host.`,
};

const start = async (options: EmulatorArguments): Promise<Emulator> => {
  const { port, host, plan, burst, clock, data, controlSecret, switch: switches } = options;
  if (data !== undefined && !existsSync(dirname(resolve(data))))
    throw new CommandFailure(
      `Starting the emulator: the folder of --data ${data} does not exist. Make it first.`,
    );
  try {
    return await startEmulator({
      port,
      host,
      plan,
      clock,
      switches,
      ...(burst === undefined ? {} : { burst }),
      ...(data === undefined ? {} : { data }),
      ...(controlSecret === undefined ? {} : { controlSecret }),
    });
  } catch (error) {
    const reason = reasons[String(codeOf(error))]?.(options) ?? messageOf(error);
    throw new CommandFailure(`Starting the emulator: ${reason}`, 1, { cause: error });
  }
};

const jsonLine = (emulator: Emulator): string => {
  const { baseUrl, tokenUrl, authUrl, controlUrl, clientId, clientSecret } = emulator;
  const { customerAuthUrl, customerTokenUrl, controlSecret } = emulator;
  const access = { baseUrl, tokenUrl, authUrl, controlUrl, clientId, clientSecret };
  // A member that is undefined is left out.
  return `${JSON.stringify({ ...access, customerAuthUrl, customerTokenUrl, controlSecret })}\n`;
};

const readable = (emulator: Emulator, { plan, clock, data }: EmulatorArguments): string => {
  const rates = plan === "none" ? "no rate limits" : `rates of the plan ${plan}`;
  const place = data === undefined ? "objects in memory" : `objects in ${data}`;
  const time = clock === "manual" ? ", clock moved by hand" : "";
  const variables = Object.entries(
    emulatorEnvironment(emulator, plan === "none" ? undefined : plan),
  );
  return [
    `The emulator of the conversation service is running: ${rates}, ${place}${time}.`,
    "",
    "For programs and for pulumi:",
    ...variables.map(([name, value]) => `  export ${name}=${value}`),
    "",
    `Page:         ${new URL("/", emulator.baseUrl)}`,
    `Control:      ${emulator.controlUrl}`,
    ...(emulator.controlSecret ? [`              Bearer ${emulator.controlSecret}`] : []),
    `Authorise:    ${emulator.authUrl}`,
    `Customers:    ${emulator.customerAuthUrl}`,
    `              ${emulator.customerTokenUrl}`,
    "",
    "Ctrl-C stops it.",
    "",
  ].join("\n");
};

/**
 * Runs the emulator until the session is interrupted, and ends it in an orderly way.
 *
 * @throws CommandFailure that says why it does not start
 */
export const serveEmulator = async (
  options: EmulatorArguments,
  session: CommandRun,
): Promise<void> => {
  // Listened for from the beginning: whoever reads the first line may interrupt at once.
  const interrupted = session.untilInterrupted();
  keepMemorySmall();
  const emulator = await start(options);
  try {
    session.out(options.json ? jsonLine(emulator) : readable(emulator, options));
    await interrupted;
  } finally {
    await emulator.close();
  }
};
