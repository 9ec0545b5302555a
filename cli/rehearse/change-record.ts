import { randomBytes, scryptSync } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { shellWord } from "../../provider/kernel/columns.js";
import { isObject, jsonIn, type Printed } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { inertText } from "../../provider/kernel/text.js";
import type { SettingKey, Settings } from "../../provider/service/setting-table.js";
import {
  accountTitle,
  describeSettings,
  type SettingDescription,
  settingLabel,
} from "../../provider/service/settings.js";
import { publicObject } from "../account/object-inputs.js";
import { CommandFailure, messageOf } from "../command.js";
import { exportStack, type OpenStack, openStack } from "../stack/open-stack.js";
import {
  type ClientReading,
  readAccounts,
  scopesInUse,
  settingsOfAccounts,
  type TenantReading,
} from "./accounts.js";
import {
  digestSchema,
  jsonDigest,
  programChanges,
  programOf,
  type RecordedProgram,
  recordedProgramSchema,
} from "./recorded-program.js";
import {
  type checkedRecordSchema,
  type Rehearsal,
  type UnreadKind,
  unreadKindSchema,
} from "./rehearsal-schema.js";
import { type OriginalStack, readOriginal } from "./stack-copy.js";

/** A value that must not be readable: a digest that is slow to compute, with its own salt. */
const hiddenValueSchema = z.strictObject({ salt: z.string(), digest: z.string() });

type HiddenValue = z.infer<typeof hiddenValueSchema>;

/**
 * The settings that decide what a run does, by their names in the configuration, resolved from
 * environment, configuration, and defaults. Never a secret.
 */
const recordedSettingsSchema = z.record(z.string(), z.union([z.string(), hiddenValueSchema]));

type RecordedSettings = z.infer<typeof recordedSettingsSchema>;

/** A current setting, and how a record holds it. */
interface ResolvedSetting {
  /** Its name in messages. */
  readonly label: string;
  readonly text: string;
  /** Whether a record must hide it although the table of settings calls it public. */
  readonly hidden: boolean;
}

type ResolvedSettings = ReadonlyMap<string, ResolvedSetting>;

/** An address may carry a key behind `?`. */
const mayCarryKey = (text: string): boolean => URL.canParse(text) && new URL(text).search !== "";

const textOf = (settings: Settings, { key }: SettingDescription): string | undefined => {
  const value = settings[key];
  return value === undefined ? undefined : String(value);
};

/** The settings that differ between two clients of one tenant. */
const ofClient: readonly SettingKey[] = ["clientId", "scope"];

/**
 * The settings of every account that a run may reach.
 *
 * @param isOther whether the deploying client differs from the rehearsing one
 */
export const resolvedSettings = (
  accounts: readonly Settings[],
  { config }: Pick<OriginalStack, "config">,
  isOther = false,
): ResolvedSettings =>
  new Map(
    accounts.flatMap((settings) =>
      describeSettings(settings.profile).flatMap((description) => {
        const text = textOf(settings, description);
        if (text === undefined || description.secret) return [];
        if (isOther && ofClient.includes(description.key)) return [];
        const hidden = config.get(description.config)?.secret === true || mayCarryKey(text);
        const label = settingLabel(description.key, settings.profile);
        return [[description.config, { label, text, hidden }] as const];
      }),
    ),
  );

const digestWith = (salt: string, text: string): string =>
  scryptSync(text, salt, 32).toString("hex");

const hiddenValue = (text: string): HiddenValue => {
  const salt = randomBytes(16).toString("hex");
  return { salt, digest: digestWith(salt, text) };
};

/** Settings as a record holds them. */
export const recordedSettings = (resolved: ResolvedSettings): RecordedSettings =>
  Object.fromEntries(
    [...resolved].map(([name, { text, hidden }]) => [name, hidden ? hiddenValue(text) : text]),
  );

const isSame = (recorded: RecordedSettings[string] | undefined, text: string): boolean => {
  if (recorded === undefined || typeof recorded === "string") return recorded === text;
  return digestWith(recorded.salt, text) === recorded.digest;
};

/** What a value was, if it is readable. */
const wasText = (recorded: RecordedSettings[string] | undefined): string => {
  if (recorded === undefined) return "; it was not set";
  return typeof recorded === "string" ? `; it was ${recorded}` : "";
};

const changeText = (
  name: string,
  recorded: RecordedSettings[string] | undefined,
  { label, text, hidden }: ResolvedSetting,
): string => {
  const change = hidden ? `${label} changed` : `${label} is ${text}${wasText(recorded)}`;
  return name.endsWith("clientId")
    ? `${change} (if another client deploys, rehearse with --as-scopes)`
    : change;
};

/** Which settings have changed since the rehearsal, each a sentence without its period. */
export const settingChanges = (
  recorded: RecordedSettings,
  now: ResolvedSettings,
): readonly string[] => [
  ...[...now].flatMap(([name, setting]) =>
    isSame(recorded[name], setting.text) ? [] : [changeText(name, recorded[name], setting)],
  ),
  ...Object.entries(recorded).flatMap(([name, value]) =>
    now.has(name) ? [] : [`${name} is no longer set${wasText(value)}`],
  ),
];

/** Which scopes the client in use lacks of those with which a run was rehearsed, each a sentence. */
export const scopeChanges = (
  asScopes: readonly string[],
  readings: readonly ClientReading[],
): readonly string[] =>
  readings.flatMap((reading) => {
    const { profile } = reading.settings;
    const whose = profile === undefined ? "in these settings" : `of ${accountTitle(profile)}`;
    const inUse = scopesInUse(reading);
    return asScopes
      .filter((scope) => !inUse.includes(scope))
      .map((scope) => `the client ${whose} lacks the scope ${scope}, which the rehearsal used`);
  });

/** What a rehearsal was made from, mostly as digests (SHA-256), and its outcome. */
const changeRecordSchema = z.strictObject({
  format: z.literal("pulumi-conversation change record"),
  version: z.literal(2),
  madeAt: z.iso.datetime(),
  /** Options of the run that was rehearsed. */
  args: z.array(z.string()),
  program: recordedProgramSchema,
  settings: recordedSettingsSchema,
  /** Scopes of the deploying client, if it differs from the rehearsing one. */
  asScopes: z.exactOptional(z.array(z.string())),
  /** Kinds of which the rehearsing client may see nothing. */
  unread: z.array(unreadKindSchema),
  digests: z.strictObject({ state: digestSchema, account: digestSchema, outcome: digestSchema }),
  rehearsal: z.looseObject({
    operation: z.enum(["up", "destroy"]),
    project: z.string(),
    stack: z.string(),
    outcome: z.looseObject({ passes: z.boolean() }),
  }),
});

export type ChangeRecord = z.infer<typeof changeRecordSchema>;

/** What a rehearsal was made from. */
interface RecordedGround {
  readonly program: RecordedProgram;
  readonly settings: RecordedSettings;
  readonly asScopes?: string[];
  readonly unread: UnreadKind[];
  readonly digests: Pick<ChangeRecord["digests"], "state" | "account">;
}

/** The part of an account that its digest depends on. */
interface DigestedAccount {
  readonly settings: Pick<TenantReading["settings"], "profile">;
  readonly account: Pick<TenantReading["account"], "baseUrl" | "kinds">;
}

/** The kinds of which nothing could be read. */
export const unreadKinds = (readings: readonly DigestedAccount[]): readonly UnreadKind[] =>
  readings.flatMap(({ settings: { profile }, account }) =>
    account.kinds.flatMap(({ definition: { kind }, error }) =>
      error === undefined ? [] : [{ kind, ...(profile === undefined ? {} : { profile }) }],
    ),
  );

/**
 * The digest of the accounts without anything that may be secret: every object with its times, and
 * what could not be read.
 *
 * @param unread kinds that count as not read, even if they were read
 */
export const accountDigest = (
  readings: readonly DigestedAccount[],
  unread: readonly UnreadKind[] = [],
): string =>
  jsonDigest(
    readings
      .map(({ settings: { profile }, account }) => ({
        baseUrl: account.baseUrl,
        kinds: account.kinds.map(({ definition: { kind, fields }, objects, problem }) =>
          unread.some((each) => each.kind === kind && each.profile === profile)
            ? { kind, complete: false, objects: [] }
            : {
                kind,
                complete: problem === undefined,
                objects: [...objects]
                  .toSorted(([a], [b]) => (a < b ? -1 : 1))
                  .map(([id, wire]) => [id, publicObject({ fields }, wire)]),
              },
        ),
      }))
      // The order of the accounts may depend on the order of a machine's environment variables.
      .map(jsonDigest)
      .toSorted(),
  );

/**
 * The digest of the state's resources, secrets encrypted as stored.
 *
 * @throws CommandFailure if it cannot be read
 */
export const stateDigest = async ({ place }: OpenStack): Promise<string> => {
  const { deployment } = await exportStack(place);
  const { resources, pending_operations: pending } = deployment;
  return jsonDigest({ resources: resources ?? [], pending: pending ?? [] });
};

/** A rehearsal in the shape of its JSON, so that it can be compared with one that was read back. */
const recorded = (rehearsal: Rehearsal): ChangeRecord["rehearsal"] => {
  const value: unknown = JSON.parse(JSON.stringify(rehearsal));
  return changeRecordSchema.shape.rehearsal.parse(isObject(value) ? value : {});
};

/** The digest of the outcome in a record, and of what the outcome belongs to. */
export const outcomeDigest = ({
  madeAt,
  args,
  rehearsal,
  program,
  settings,
  asScopes,
  unread,
  digests: { state, account },
}: Pick<ChangeRecord, "madeAt" | "args" | "rehearsal"> & RecordedGround): string => {
  const ground = { program, settings, unread, state, account };
  const client = asScopes === undefined ? {} : { asScopes };
  return jsonDigest({ madeAt, args, rehearsal, ...ground, ...client });
};

/** A record of a rehearsal. */
export const changeRecord = (
  rehearsal: Rehearsal,
  args: readonly string[],
  { digests, ...ground }: RecordedGround,
): ChangeRecord => {
  const said = {
    madeAt: new Date().toISOString(),
    args: [...args],
    ...ground,
    rehearsal: recorded(rehearsal),
  };
  return {
    format: "pulumi-conversation change record",
    version: 2,
    digests: { ...digests, outcome: outcomeDigest({ ...said, digests }) },
    ...said,
  };
};

/**
 * No record comes near this: one for an account with 10,000 objects has about ten million bytes.
 */
const mostBytes = 256 * 1024 * 1024;

const advice = `To create one, run: ${ownCommand("rehearse --record <file>")}`;

const recordText = (file: string): string => {
  try {
    if (statSync(file).size > mostBytes) return "";
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandFailure(`Cannot read the change record: ${messageOf(error)}. ${advice}`, 2);
  }
};

const textOrSpace = /("(?:[^"\\]|\\.)*")|\s+/g;

/**
 * Whether a text is a value as it was written, apart from white space: of a member that occurs
 * twice, readers keep only one, and not all the same one.
 */
const isSaidOnce = (text: string, value: unknown): boolean =>
  text.replaceAll(textOrSpace, "$1") === JSON.stringify(value);

/**
 * Reads a change record.
 *
 * @throws CommandFailure if the file cannot be read or is no change record
 */
export const readRecord = (file: string): ChangeRecord => {
  const text = recordText(file);
  const json = jsonIn(text);
  const record = changeRecordSchema.safeParse(json).data;
  if (record && isSaidOnce(text, json)) return record;
  const isOther = isObject(json) && json.format === changeRecordSchema.shape.format.value;
  const what = isOther
    ? "is a change record from another release or was edited."
    : "is not a change record.";
  throw new CommandFailure(`${file} ${what} ${advice}`, 2);
};

/** Whether a record still holds, as `--json` prints it. */
export type CheckedRecord = Printed<z.output<typeof checkedRecordSchema>>;

type RecordPart = CheckedRecord["changed"][number];

/** What a record binds. */
const parts = [
  "program",
  "settings",
  "state",
  "account",
  "outcome",
] as const satisfies readonly RecordPart[];

interface CheckRecordOptions {
  readonly file: string;
  /** Default: the stack of the record. */
  readonly stack?: string;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Checks whether program, settings, state, account, and the record itself are unchanged since the
 * rehearsal. Reads lists only, and only with unchanged settings.
 *
 * @throws CommandFailure if the file is no record, or the stack cannot be read; ConversationError
 * if the account cannot
 */
export const runCheckRecord = async (options: CheckRecordOptions): Promise<CheckedRecord> => {
  const record = readRecord(options.file);
  const { rehearsal, madeAt, args, program, settings, asScopes, unread, digests } = record;
  const stack = await openStack({ stack: options.stack ?? rehearsal.stack, ...options });
  const { names } = stack;
  if (names.project !== rehearsal.project || names.stack !== rehearsal.stack)
    throw new CommandFailure(
      `The change record belongs to ${rehearsal.project}/${rehearsal.stack}, but this stack is ${names.project}/${names.stack}.`,
      2,
    );
  const original = await readOriginal(stack);
  const { settings: now } = settingsOfAccounts(original);
  const otherSettings = settingChanges(
    settings,
    resolvedSettings(now, original, asScopes !== undefined),
  );
  // Other settings may lead to another service: nothing is sent there.
  const readings = otherSettings.length === 0 ? await readAccounts(now, options) : undefined;
  const ofSettings = [...otherSettings, ...scopeChanges(asScopes ?? [], readings ?? [])];
  const ofProgram = programChanges(program, programOf(stack, options.file, program.outputs));
  const same: Readonly<Record<RecordPart, boolean>> = {
    program: ofProgram.length === 0,
    settings: ofSettings.length === 0,
    state: (await stateDigest(stack)) === digests.state,
    account: readings === undefined || accountDigest(readings, unread) === digests.account,
    outcome: outcomeDigest(record) === digests.outcome,
  };
  const changed = parts.filter((part) => !same[part]);
  const { passes } = rehearsal.outcome;
  return {
    holds: passes && changed.length === 0,
    ...{ changed, differences: { program: [...ofProgram], settings: ofSettings }, unread },
    ...{ passes, madeAt, args },
    operation: rehearsal.operation,
    project: names.project,
    stack: names.stack,
  };
};

const meanings: Readonly<Record<RecordPart, string>> = {
  program: "the program",
  settings: "the service settings",
  state: "the stack's state",
  account: "the account: an object was created, changed, or deleted",
  outcome: "the record itself",
};

/** More would not help a person. */
const mostDifferences = 10;

const differenceLines = (differences: readonly string[]): readonly string[] => {
  const left = differences.length - mostDifferences;
  return [
    ...differences.slice(0, mostDifferences).map((difference) => `      ${inertText(difference)}`),
    ...(left > 0 ? [`      … and ${left} more`] : []),
  ];
};

const kindText = ({ kind, profile }: CheckedRecord["unread"][number]): string =>
  profile === undefined ? kind : `${kind} of ${accountTitle(profile)}`;

/** The result of a check, for a person. */
export const checkedRecordText = (checked: CheckedRecord): string => {
  const { holds, changed, differences, unread, passes, madeAt, operation, project, stack, args } =
    checked;
  const run = `pulumi ${[operation, ...args.map(shellWord)].join(" ")}`;
  const unreadText =
    unread.length > 0
      ? `Not compared because the rehearsal could not read them: ${unread.map(kindText).join(", ")}.\n`
      : "";
  if (holds)
    return `The rehearsal of ${project}/${stack} at ${madeAt} is still valid.\n${unreadText}To continue, run: ${run}\n`;
  const lines = changed.flatMap((part) => [
    `  - ${meanings[part]}`,
    ...(part === "program" || part === "settings" ? differenceLines(differences[part]) : []),
  ]);
  const reason =
    lines.length > 0
      ? [`Changed since the rehearsal of ${project}/${stack} at ${madeAt}:`, ...lines]
      : [];
  const refused = passes ? [] : ["The rehearsal itself failed."];
  return `${[...reason, ...refused, `Do not run ${run}. Rehearse it again first.`].join("\n")}\n`;
};
