import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { memoryBuckets } from "../../provider/pacing/bucket-store.js";
import { servicePaces } from "../../provider/pacing/pacer.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import { type Pace, waitText } from "../../provider/service/pace.js";
import type { Settings } from "../../provider/service/settings.js";
import { configuredAccount, readStackConfig } from "../pulumi/project-files.js";
import { withCount } from "../terminal/columns.js";
import type { Progress } from "../terminal/progress.js";
import { objectInputs } from "./object-inputs.js";
import { type StackOptions, unreadPart } from "./open-stack.js";
import { type AccountReading, readAccount, unreadAmong } from "./read-account.js";

/** The service within the rates of the tenant. */
export interface ServiceAccess extends AccountSession {
  readonly service: Service;
  /**
   * Runs `work`, whose writes are sent only after `mayWrite` has passed: right before each of them,
   * however long it waited for its turn.
   */
  guarded<T>(mayWrite: () => Promise<void>, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Receives a sentence when calls have to wait long, or when the service does not answer properly.
 */
export type Say = (text: string, about: "wait" | "failure") => void;

/** Reports the first failure only: what stops one call usually stops all. */
const reportsFirst = (say: Say) => {
  let isReported = false;
  return (error: unknown): void => {
    if (isReported || !isConversationError(error)) return;
    isReported = true;
    say(`${error.message} Trying again.`, "failure");
  };
};

interface AccessOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly say?: Say | undefined;
  /** Default: the system's; with another clock, rates are not shared with other processes. */
  readonly clock?: Clock | undefined;
  /** Ends waiting calls with `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens the service, whose calls keep to the rates of the tenant. */
export const accessService = (
  settings: Settings,
  { environment, say = () => undefined, clock: ownClock, signal }: AccessOptions,
): ServiceAccess => {
  const clock = ownClock ?? systemClock;
  const buckets = ownClock && memoryBuckets(ownClock);
  const paces = servicePaces(settings, {
    clock,
    environment,
    ...(buckets ? { buckets } : {}),
    onNotice: (text) => say(text, "wait"),
    onWait: (wait) => say(waitText(wait), "wait"),
  });
  const paced = paces.pace(settings);
  let check = async (): Promise<void> => undefined;
  const pace: Pace = (endpoint, attempt, signal) =>
    paced(
      endpoint,
      async () => {
        if (endpoint.method === "PUT" || endpoint.method === "DELETE") await check();
        return attempt();
      },
      signal,
    );
  const reportRepeats = reportsFirst(say);
  const service = connectService(settings, {
    pace,
    clock,
    onEvent: (event) => {
      if (event.type === "repeating") reportRepeats(event.error);
    },
    ...(signal ? { signal } : {}),
  });
  return {
    settings,
    service,
    guarded: async (mayWrite, work) => {
      check = mayWrite;
      try {
        return await work();
      } finally {
        check = async () => undefined;
      }
    },
    close: async () => {
      await service.close();
      await paces.close();
    },
  };
};

/** Which account a command is about, and how it is read. */
export interface AccountOptions extends StackOptions {
  readonly progress?: Progress;
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/**
 * The settings of the account.
 *
 * @throws ConversationError if one is missing or wrong; CommandFailure if the configuration of a
 * stack that is named cannot be read
 */
export const accountSettings = async ({
  folder = process.cwd(),
  env = process.env,
  stack,
  profile,
}: AccountOptions): Promise<Settings> => {
  const config = await readStackConfig(folder, env, stack);
  const unread = config.unread ?? config.absent;
  if (stack !== undefined && unread !== undefined) throw unreadPart("configuration", unread);
  return configuredAccount(config, profile);
};

/** What is missing in a reading, and why, in sentences; none if it is whole. */
export const readingNotes = ({ kinds, consistent }: AccountReading): readonly string[] => {
  const notes = unreadAmong(kinds).map(
    ({ definition: { noun }, problem }) => `${noun}s: ${problem}`,
  );
  if (!consistent)
    notes.push("The account changed while the command was reading it. Run the command again.");
  return notes;
};

/**
 * Reads a whole account, with list calls only, in a program's terms. @throws ConversationError as
 * `readAccount`
 */
export const readAccountInputs = async (options: AccountOptions) => {
  const { env = process.env, progress, signal, clock } = options;
  const settings = await accountSettings(options);
  const step = progress?.step("Reading the account");
  const say: Say = (text, about) => (about === "wait" ? step?.detail(text) : step?.print(text));
  const access = accessService(settings, { environment: env, say, clock, signal });
  try {
    const reading = await readAccount(access, {
      ...(signal ? { signal } : {}),
      ...(clock ? { clock } : {}),
      onProgress: (objects) => step?.detail(`${objects} objects`),
    });
    const objects = reading.kinds.flatMap(({ definition, objects: found }) =>
      [...found].map(([id, wire]) => objectInputs(definition, id, wire, settings)),
    );
    step?.done(`Read the account: ${withCount(objects.length, "object")}`);
    return { settings, reading, objects, notes: readingNotes(reading) };
  } catch (error) {
    step?.failed();
    throw error;
  } finally {
    await access.close();
  }
};
