import { z } from "zod";
import { isObject } from "../../../provider/kernel/json.js";
import { publicMembers } from "../../account/saved-account.js";
import type { OpenStack } from "../../stack/open-stack.js";
import { exportStack } from "../../stack/stack-export.js";
import type { Rehearsal } from "../outcome/outcome.js";
import type { TenantReading } from "../service/tenant-reading.js";
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
  readonly digests: Pick<ChangeRecord["digests"], "state" | "account">;
}

/** An account as far as its digest depends on it. */
export interface DigestedAccount {
  readonly account: Pick<TenantReading["account"], "baseUrl" | "kinds">;
}

/** The accounts without secrets: every object with its times, and what could not be read. */
export const accountDigest = (readings: readonly DigestedAccount[]): string =>
  jsonDigest(
    readings
      .map(({ account }) => ({
        baseUrl: account.baseUrl,
        kinds: account.kinds.map(({ definition, objects, problem }) => ({
          kind: definition.kind,
          complete: problem === undefined,
          objects: [...objects]
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([id, wire]) => [id, publicMembers(definition.fields, wire)]),
        })),
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
  program,
  settings,
  rehearsal,
  digests: { state, account },
}: Pick<ChangeRecord, "madeAt" | "args" | "rehearsal"> & RecordedGround): string =>
  jsonDigest({ madeAt, args, program, settings, rehearsal, state, account });

/** A record of a rehearsal. */
export const changeRecord = (
  rehearsal: Rehearsal,
  args: readonly string[],
  { program, settings, digests }: RecordedGround,
): ChangeRecord => {
  const said = {
    madeAt: new Date().toISOString(),
    args: [...args],
    program,
    settings,
    rehearsal: recorded(rehearsal),
  };
  return {
    format: "pulumi-conversation change record",
    version: 2,
    digests: { ...digests, outcome: outcomeDigest({ ...said, digests }) },
    ...said,
  };
};
