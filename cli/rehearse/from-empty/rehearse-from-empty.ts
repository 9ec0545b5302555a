import type { z } from "zod";
import { resources } from "../../../provider/resources/index.js";
import type { Plan } from "../../../provider/service/plans.js";
import type { StackStates } from "../../../provider/stacks/stack-states.js";
import type { Printed } from "../../printed.js";
import { openStack } from "../../stack/open-stack.js";
import { emptied, readOriginal } from "../copy/original-stack.js";
import { outcomeOf } from "../outcome/build-outcome.js";
import { effectsWarning, type RunAccount, runOnCopy } from "../run-on-copy.js";
import { deployingClient } from "../service/deploying-client.js";
import { readAccounts } from "../service/read-accounts.js";
import { runConditions } from "../service/run-conditions.js";
import type { TenantReading } from "../service/tenant-reading.js";
import { beyondProgram, type ObjectsByKind } from "./compare-rebuilt.js";
import type { fromEmptySchema, lostSchema } from "./from-empty-schema.js";

/** An object that would be lost with the account. */
export type LostObject = Printed<z.output<typeof lostSchema>>;

/** A whole rehearsal from empty, as `--json` prints it. */
export type RehearsalFromEmpty = Printed<z.output<typeof fromEmptySchema>>;

export interface FromEmptyOptions {
  readonly stack?: string;
  readonly plan?: Plan;
  readonly also?: readonly string[];
  /** Scopes of the client that would deploy. Default: those of the one that reads, where it may write. */
  readonly asScopes?: readonly string[];
  /** Whether the program is answered that this is no dry run, as in a real update. */
  readonly runEffects?: true;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Reports what is going on. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** A tenant where nobody has made anything. */
const emptyTenant = ({ account, ...others }: TenantReading): TenantReading => ({
  ...others,
  account: {
    ...account,
    kinds: account.kinds.map(({ definition }) => ({ definition, objects: new Map() })),
    openEnds: [],
  },
});

const noStates = { holdings: [], holdersOf: () => [] } as const;

const liveObjects = ({ account }: TenantReading): ObjectsByKind =>
  new Map(account.kinds.map(({ definition, objects }) => [definition.kind, objects]));

const rebuiltObjects = (account: RunAccount | undefined): ObjectsByKind =>
  new Map(
    resources.map(({ kind, collection }) => [
      kind,
      new Map((account?.after[collection] ?? []).map((object) => [object.id, object])),
    ]),
  );

const lostIn = (
  reading: TenantReading,
  account: RunAccount | undefined,
  states: Pick<StackStates, "holdersOf">,
): readonly LostObject[] => {
  const { settings } = reading;
  const beyond = beyondProgram(liveObjects(reading), rebuiltObjects(account), settings);
  return beyond.map((object) => {
    const other = states.holdersOf(object.kind, object.id).find(({ own }) => !own);
    return {
      ...object,
      ...(settings.profile === undefined ? {} : { profile: settings.profile }),
      ...(other ? { stack: other.stack } : {}),
    };
  });
};

const problemsOf = (readings: readonly TenantReading[]): readonly string[] =>
  readings.flatMap(({ account }) =>
    account.kinds.flatMap(({ definition, problem }) =>
      problem === undefined ? [] : [`${definition.noun}s were not compared: ${problem}`],
    ),
  );

/**
 * Makes everything that the program declares anew, in an emulator with nothing in it, and compares with
 * the account. The service gets lists only; nothing is written.
 *
 * @throws CommandFailure where the stack cannot be read; ConversationError where the service cannot
 */
export const rehearseFromEmpty = async (options: FromEmptyOptions): Promise<RehearsalFromEmpty> => {
  const { plan, also = [], say, signal } = options;
  const stack = await openStack(options);
  const original = await readOriginal(stack);
  const { readings, notes } = await readAccounts(original, options);
  const conditions = runConditions(plan === undefined ? {} : { plan }, original, readings);
  const clients = readings.map((reading) => deployingClient(reading, options.asScopes));
  if (options.runEffects) say(effectsWarning);
  say("Making everything anew in an empty emulator …");
  const run = await runOnCopy({
    operation: "up",
    original: { ...emptied(original), states: { ...original.states, ...noStates } },
    readings: readings.map(emptyTenant),
    ...{ clients, conditions, also, signal },
    args: ["--continue-on-error"],
    switches: {},
    runsEffects: options.runEffects === true,
  });
  const { names } = stack;
  const {
    calls: _,
    changes: __,
    undeclared: ___,
    ...outcome
  } = outcomeOf(run, names.stack, noStates);
  return {
    ...names,
    plan: conditions.plan,
    parallel: conditions.parallel,
    outcome,
    liveObjects: readings
      .flatMap(({ account }) => account.kinds)
      .reduce((sum, { objects }) => sum + objects.size, 0),
    lost: readings.flatMap((reading, place) =>
      lostIn(reading, run.accounts[place], original.states),
    ),
    notes: [
      ...clients.flatMap(({ assumed = [] }) => assumed),
      ...conditions.notes,
      ...notes,
      ...problemsOf(readings),
      ...run.missing,
    ],
  };
};
