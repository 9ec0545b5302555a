import type { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { isSurelyMask } from "../../provider/definition/merge.js";
import { type JsonObject, type Printed, sameJson } from "../../provider/kernel/json.js";
import type { StackStates } from "../../provider/pulumi-cli/stack-states.js";
import { unknownMembers } from "../account/object-inputs.js";
import { unreadAmong } from "../account/read-account.js";
import { type ComparedSide, sidesOf } from "../compare/compared-account.js";
import { differencesOf, matchedObjects } from "../compare/comparison.js";
import { openStack, type StackOptions } from "../stack/open-stack.js";
import type { RehearsedAccount, TenantReading } from "./accounts.js";
import { kindsIn } from "./emulated-account.js";
import { outcomeOf } from "./outcome.js";
import type { fromEmptySchema, lostSchema } from "./rehearsal-schema.js";
import { type AccountOutcome, prepareRun, type RehearseOptions, runOnCopy } from "./run-on-copy.js";
import { emptied } from "./stack-copy.js";

/** An object that would be lost with the account. */
export type LostObject = Printed<z.output<typeof lostSchema>>;

/** A whole rehearsal from empty, as `--json` prints it. */
export type RehearsalFromEmpty = Printed<z.output<typeof fromEmptySchema>>;

/** A tenant where nobody has made anything. */
const emptyTenant = ({ account, ...others }: RehearsedAccount): RehearsedAccount => ({
  ...others,
  account: {
    ...account,
    kinds: account.kinds.map(({ definition }) => ({ definition, objects: new Map() })),
    openEnds: [],
  },
});

const noStates = { holdings: [], holdersOf: () => [] } as const;

/** Members that no field covers and that the rebuilt object lacks, or has with another value. */
const unknownBeyond = (
  definition: Definition,
  live: JsonObject,
  rebuilt: JsonObject,
): readonly string[] => {
  const made = unknownMembers(definition, rebuilt);
  return unknownMembers(definition, live).filter((path) => {
    const value = live[path];
    // A mask may stand for any value.
    if (typeof value === "string" && isSurelyMask(value)) return false;
    return !made.includes(path) || !sameJson(value, rebuilt[path]);
  });
};

/** The field of a path such as `roles[0].callback`. */
const fieldOf = (path: string): string => path.split(/[.[]/, 1)[0] ?? path;

/**
 * What an account contains beyond what the program makes, compared by meaning; secrets are not
 * compared.
 */
const lostIn = (
  { settings, account }: TenantReading,
  rebuilt: AccountOutcome,
  states: Pick<StackStates, "holdersOf">,
): readonly LostObject[] => {
  const [live, made] = [account.kinds, kindsIn(rebuilt.after)];
  const sideOf = (kinds: Parameters<typeof sidesOf>[0]) => ({
    ...{ title: "", objects: sidesOf(kinds, settings), notes: [] },
  });
  const [now, anew] = [sideOf(live), sideOf(made)];
  const { pairs, links } = matchedObjects(now, anew);
  const pairOf = new Map(pairs.map((pair) => [pair.a, pair]));
  const wireOf = (kinds: typeof live | typeof made, { definition, id }: ComparedSide) =>
    kinds.find((each) => each.definition === definition)?.objects.get(id) ?? {};
  return now.objects.flatMap((object): LostObject[] => {
    const { definition, id, name } = object;
    const pair = pairOf.get(object);
    const members = pair && [
      // What only the rebuilt object has is no loss.
      ...differencesOf(pair, links).flatMap(({ path, a }) =>
        a === undefined ? [] : fieldOf(path),
      ),
      ...unknownBeyond(definition, wireOf(live, object), wireOf(made, pair.b)),
    ];
    if (members?.length === 0) return [];
    const other = states.holdersOf(definition.kind, id).find(({ own }) => !own);
    return [
      {
        ...{ kind: definition.kind, name, id },
        ...(members ? { members: [...new Set(members)] } : {}),
        ...(settings.profile === undefined ? {} : { profile: settings.profile }),
        ...(other ? { stack: other.stack } : {}),
      },
    ];
  });
};

/**
 * Makes everything that the program declares anew, in an empty emulator, and compares the result
 * with the account. The service gets lists only; nothing is written.
 *
 * @throws CommandFailure if the stack cannot be read; ConversationError if the service cannot
 */
export const rehearseFromEmpty = async (
  options: Omit<RehearseOptions, "operation" | "args"> & StackOptions,
): Promise<RehearsalFromEmpty> => {
  const stack = await openStack(options);
  const whole = { ...options, operation: "up", args: ["--continue-on-error"] } as const;
  const { setup, notes } = await prepareRun(stack, whole);
  const { original, accounts, plan, parallel } = setup;
  const kinds = accounts.flatMap(({ account }) => account.kinds);
  const unread = unreadAmong(kinds).map(
    ({ definition: { noun }, problem }) => `The ${noun}s were not compared: ${problem}`,
  );
  options.say("Creating everything again in an empty emulator …");
  const run = await runOnCopy({
    ...setup,
    original: { ...emptied(original), states: { ...original.states, ...noStates } },
    accounts: accounts.map(emptyTenant),
  });
  const { calls, changes, undeclared, ...outcome } = outcomeOf(run, stack.names.stack, noStates);
  return {
    ...stack.names,
    ...{ plan, parallel, outcome },
    liveObjects: kinds.reduce((sum, { objects }) => sum + objects.size, 0),
    lost: accounts.flatMap((account, place) => {
      const rebuilt = run.accounts[place];
      return rebuilt ? lostIn(account, rebuilt, original.states) : [];
    }),
    notes: [...notes, ...unread, ...run.missing],
  };
};
