import { durationText } from "../../provider/engine/wait-text.js";
import type { Clock } from "../../provider/kernel/clock.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { readSettings } from "../../provider/service/settings.js";
import { readStackConfig } from "../pulumi-cli/stack-config.js";
import type { Progress } from "../terminal/progress.js";
import { type ObjectInputs, objectInputs } from "./object-inputs.js";
import { type AccountReading, readAccount } from "./read-account.js";
import { accessService, type Say } from "./service-access.js";

/** Which account a command is about, and how it is read. */
export interface AccountOptions {
  /** Take the settings from the configuration of this stack. Default: the selected one, if there is a project. */
  readonly stack?: string;
  readonly profile?: string;
  /** Default: the current folder. */
  readonly folder?: string;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly progress?: Progress;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/** An account in a program's terms. */
export interface AccountInputs {
  readonly settings: Settings;
  readonly reading: AccountReading;
  /** In the order in which an account is set up. */
  readonly objects: readonly ObjectInputs[];
  /** Sentences about what is not there, and why. */
  readonly notes: readonly string[];
}

/** The settings of the account. @throws ConversationError where one is missing or wrong */
export const accountSettings = async ({
  folder = process.cwd(),
  env = process.env,
  stack,
  profile,
}: AccountOptions): Promise<Settings> =>
  readSettings((await readStackConfig(folder, env, stack)).source, profile);

/** What a person should know of a reading that is not whole. */
export const readingNotes = ({ kinds, consistent }: AccountReading): readonly string[] => [
  ...kinds.flatMap(({ definition, problem }) =>
    problem === undefined ? [] : [`${definition.noun}s: ${problem}`],
  ),
  ...(consistent
    ? []
    : ["The account changed while it was read: this is not the answer of one moment. Try again."]),
];

const restText = (remainingMs: number): string =>
  remainingMs > 1000 ? `, about ${durationText(remainingMs)} left` : "";

/** Reads a whole account, by lists alone, in a program's terms. @throws ConversationError as `readAccount` */
export const readAccountInputs = async (options: AccountOptions): Promise<AccountInputs> => {
  const { env = process.env, progress, signal, clock } = options;
  const settings = await accountSettings(options);
  const step = progress?.step("Reading the account");
  const say: Say = (text, about) => (about === "wait" ? step?.detail(text) : step?.print(text));
  const access = accessService(settings, env, say, clock, signal);
  try {
    const reading = await readAccount(access, {
      ...(signal ? { signal } : {}),
      ...(clock ? { clock } : {}),
      onProgress: ({ objects, remainingMs }) =>
        step?.detail(`${objects} objects${restText(remainingMs)}`),
    });
    const objects = reading.kinds.flatMap(({ definition, objects: found }) =>
      [...found].map(([id, wire]) => objectInputs(definition, id, wire, settings)),
    );
    step?.done(`Read the account: ${objects.length} objects`);
    return { settings, reading, objects, notes: readingNotes(reading) };
  } catch (error) {
    step?.failed();
    throw error;
  } finally {
    await access.close();
  }
};
