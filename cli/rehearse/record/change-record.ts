import { z } from "zod";
import { isObject } from "../../../provider/kernel/json.js";
import { publicObject } from "../../account/object-inputs.js";
import type { OpenStack } from "../../stack/open-stack.js";
import { exportStack } from "../../stack/stack-export.js";
import type { Rehearsal } from "../outcome/outcome.js";
import type { TenantReading } from "../service/tenant-reading.js";
import { type UnreadKind, unreadKindSchema } from "./checked-record-schema.js";
import { digestSchema, jsonDigest } from "./digest.js";
import { type RecordedProgram, recordedProgramSchema } from "./recorded-program.js";
import { type RecordedSettings, recordedSettingsSchema } from "./recorded-settings.js";

/** What a rehearsal was made from, mostly by digests (SHA-256), and what it came to. */
export const changeRecordSchema = z.strictObject({
  format: z.literal("pulumi-conversation change record"),
  version: z.literal(2),
  madeAt: z.iso.datetime(),
  /** Options of the run that was rehearsed. */
  args: z.array(z.string()),
  program: recordedProgramSchema,
  settings: recordedSettingsSchema,
  /** Scopes of the client that deploys, where it is another one than that which rehearsed. */
  asScopes: z.exactOptional(z.array(z.string())),
  /** Kinds of which the client that rehearsed may see nothing. */
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
export interface RecordedGround {
  readonly program: RecordedProgram;
  readonly settings: RecordedSettings;
  readonly asScopes?: string[];
  readonly unread: UnreadKind[];
  readonly digests: Pick<ChangeRecord["digests"], "state" | "account">;
}

/** An account as far as its digest depends on it. */
export interface DigestedAccount {
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
 * The accounts by what is surely no secret: every object with its times, and what could not be read.
 *
 * @param unread kinds that count as not read, also where they were
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
      // Which account comes first may depend on the order of a machine's environment variables.
      .map(jsonDigest)
      .toSorted(),
  );

/**
 * The state by its resources, secrets encrypted as they are kept.
 *
 * @throws CommandFailure where it cannot be read
 */
export const stateDigest = async ({ place }: OpenStack): Promise<string> => {
  const { deployment } = await exportStack(place);
  const { resources, pending_operations: pending } = deployment;
  return jsonDigest({ resources: resources ?? [], pending: pending ?? [] });
};

/** A rehearsal in the shape of JSON, so that it can be compared with what was read back. */
const recorded = (rehearsal: Rehearsal): ChangeRecord["rehearsal"] => {
  const value: unknown = JSON.parse(JSON.stringify(rehearsal));
  return changeRecordSchema.shape.rehearsal.parse(isObject(value) ? value : {});
};

/** The digest of what a record says of the outcome, and of what that outcome is of. */
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
