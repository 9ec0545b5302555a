import type { StoredObject } from "../../emulator/index.js";
import { type Definition, outputFields } from "../../provider/definition/define.js";
import { sameJson } from "../../provider/kernel/json.js";
import { nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import { definitionOfType, logicalName } from "../../provider/pulumi-cli/stack-documents.js";
import type { StackState, StackStates } from "../../provider/pulumi-cli/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import { remainingUsers } from "../stack/blast-radius.js";
import { type CopiedObjects, kindsIn, type RehearsedCall } from "./emulated-account.js";
import type {
  AccountChange,
  NamedObject,
  Obstacle,
  Refusal,
  RehearsedOutcome,
  RehearsedStep,
} from "./rehearsal-schema.js";
import type {
  AccountOutcome,
  EngineError,
  EngineEvents,
  EngineStep,
  RehearsedRun,
} from "./run-on-copy.js";

/** Members that the service itself sets. */
const serverSet: ReadonlySet<string> = new Set(["id", ...Object.keys(outputFields)]);

/** An object by its natural key. */
const namedObject = (
  definition: Definition,
  object: StoredObject,
  profile?: string,
): NamedObject & { readonly id: string } => ({
  kind: definition.kind,
  name: String(nameOnWire(definition, object) ?? ""),
  id: object.id,
  ...(profile === undefined ? {} : { profile }),
});

const changedMembers = (before: StoredObject, after: StoredObject): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !serverSet.has(name) && !sameJson(before[name], after[name]))
    .sort();

const changesOfKind = (
  definition: Definition,
  before: readonly StoredObject[],
  after: readonly StoredObject[],
  profile: string | undefined,
): readonly AccountChange[] => {
  const [old, now] = [before, after].map((list) => new Map(list.map((each) => [each.id, each])));
  const named = (object: StoredObject) => namedObject(definition, object, profile);
  const made = after.flatMap((object): AccountChange[] => {
    if (old?.has(object.id)) return [];
    const { id: _, ...rest } = named(object);
    return [{ change: "made", ...rest }];
  });
  const others = before.flatMap((object): AccountChange[] => {
    const left = now?.get(object.id);
    if (!left) return [{ change: "deleted", ...named(object) }];
    const members = changedMembers(object, left);
    return members.length > 0 ? [{ change: "changed", ...named(object), members }] : [];
  });
  return [...made, ...others];
};

/** The changes of a run to an account, kind by kind in setup order. */
const rehearsedChanges = (
  before: CopiedObjects,
  after: CopiedObjects,
  profile: string | undefined,
): readonly AccountChange[] =>
  resources.flatMap((definition) =>
    changesOfKind(
      definition,
      before[definition.collection] ?? [],
      after[definition.collection] ?? [],
      profile,
    ),
  );

/**
 * Operations of the engine that are no step for the reader: they change nothing, or are part of a
 * forced replacement, which is one step.
 */
const unshown = new Set([
  ...["same", "refresh", "read", "discard", "import"],
  ...["create-replacement", "delete-replaced", "discard-replaced"],
]);

/** IDs of the object of each resource, from the states before and after. */
type IdsByUrn = ReadonlyMap<string, readonly string[]>;

const ownCalls = (
  { urn, type }: EngineStep,
  calls: readonly RehearsedCall[],
  ids: IdsByUrn,
): readonly RehearsedCall[] => {
  const collection = definitionOfType(type)?.collection;
  const own = ids.get(urn) ?? [];
  return calls.filter(
    (call) => call.collection === collection && call.id !== undefined && own.includes(call.id),
  );
};

/** Seconds to the hundredth. */
const secondsBetween = (from: number, to: number): number => Math.round((to - from) / 10) / 100;

/**
 * The steps done, in order.
 *
 * @param startedAt the start of the run in the time of the calls, in milliseconds
 */
const endedSteps = (
  steps: readonly EngineStep[],
  calls: readonly RehearsedCall[],
  ids: IdsByUrn,
  startedAt: number,
): readonly RehearsedStep[] => {
  let last = startedAt;
  return steps
    .filter(({ operation, failed }) => !failed && !unshown.has(operation))
    .flatMap((step): RehearsedStep[] => {
      const definition = definitionOfType(step.type);
      if (!definition) return [];
      const own = ownCalls(step, calls, ids);
      const from = Math.min(...own.map(({ sentAt }) => sentAt), own.length > 0 ? Infinity : last);
      last = Math.max(last, ...own.map(({ endedAt }) => endedAt));
      const to = own.length > 0 ? Math.max(...own.map(({ endedAt }) => endedAt)) : last;
      return [
        {
          urn: step.urn,
          kind: definition.kind,
          name: logicalName(step.urn),
          operation: step.operation,
          calls: own.length,
          fromSeconds: secondsBetween(startedAt, from),
          toSeconds: secondsBetween(startedAt, to),
        },
      ];
    })
    .toSorted((a, b) => a.toSeconds - b.toSeconds);
};

/** Who holds which objects of an account. */
type OtherHolders = Pick<StackStates, "holdersOf">;

/** An account as it was when a step was refused. */
interface RefusingAccount {
  /** Everything in it, in an order in which it can be deleted. */
  readonly objects: readonly Obstacle[];
  /** Everything that uses an object, in that order, once for each reference. */
  readonly usersOf: (target: Definition, id: string) => readonly Obstacle[];
}

const refusingAccount = (
  { after, profile }: AccountOutcome,
  states: OtherHolders,
  own: string,
): RefusingAccount => {
  const kinds = kindsIn(after);
  const usersOf = remainingUsers(kinds, states);
  const ofProfile = profile === undefined ? {} : { profile };
  const heldBy = (stack: string | undefined) => (stack === undefined ? {} : { stack });
  return {
    objects: kinds.flatMap(({ definition, objects }) =>
      [...objects.values()].map((wire) => ({
        ...namedObject(definition, wire, profile),
        ...heldBy(states.holdersOf(definition.kind, wire.id)[0]?.stack),
      })),
    ),
    usersOf: (target, targetId) =>
      usersOf(target, targetId).map(({ kind, name, id, managed, stack }) => ({
        ...{ kind, name, id, ...ofProfile },
        ...heldBy(managed === "own" ? own : managed === "stack" ? stack : undefined),
      })),
  };
};

/** The objects that a message names by their IDs. */
const namedIn = (
  message: string,
  own: string | undefined,
  { objects }: RefusingAccount,
): readonly Obstacle[] => {
  const words = new Set(message.match(/[\w-]{4,}/g) ?? []);
  return objects.filter(({ id = "" }) => id !== own && words.has(id));
};

const distinct = (obstacles: readonly Obstacle[]): readonly Obstacle[] => [
  ...new Map(obstacles.map((each) => [`${each.kind} ${each.id}`, each])).values(),
];

/** What uses an object, in any account. */
const usersIn = (
  accounts: readonly RefusingAccount[],
  target: Definition,
  id: string,
): readonly Obstacle[] => distinct(accounts.flatMap(({ usersOf }) => usersOf(target, id)));

const nounOf = (kind: string): string =>
  resources.find((definition) => definition.kind === kind)?.noun ?? kind;

/** What happened to an object, for people. */
export const changeWord = (change: AccountChange["change"]): string =>
  change === "made" ? "created" : change;

/** `the orchestration "night" (ID …)` */
export const obstacleTitle = ({ kind, name, id }: Obstacle): string =>
  `the ${nounOf(kind)} ${JSON.stringify(name)}${id ? ` (ID ${id})` : ""}`;

/** What to do about everything that uses an object which is to be deleted, in this order. */
const orderOfDeletion = (
  users: readonly Obstacle[],
  own: string,
  what: string,
): readonly string[] => [
  ...users.map((user) => {
    const where =
      user.stack === undefined
        ? "by hand, because no stack manages it"
        : user.stack === own
          ? "in this program"
          : `in the stack ${user.stack}`;
    return `Remove the reference to ${what} from ${obstacleTitle(user)}, or delete the ${nounOf(user.kind)}. Do this ${where}.`;
  }),
  "Then run the command again.",
];

/** The facts that explain a refusal. */
interface RefusalContext {
  readonly before: StackState;
  /** The accounts as they were when the run ended. */
  readonly accounts: readonly RefusingAccount[];
  /** The stack's name for its own obstacles. */
  readonly stack: string;
}

/** An engine message about the run as a whole, redundant if a step already has an error. */
const isSummary = ({ urn = "", message }: EngineError): boolean =>
  /:pulumi:pulumi:Stack::/.test(urn) && /^(update|preview|destroy|refresh) failed$/.test(message);

const typeIn = (urn: string): string => urn.split("::")[2]?.split("$").at(-1) ?? "";

/** A message without what Node appends for developers: the stack trace and the error's members. */
const withoutFrames = (message: string): string =>
  message.replace(/\n[^\S\n]+at \S[\s\S]*$/, "").replace(/<ref \*\d+> /g, "");

/** Joins the messages, without repetitions. */
const reasonOf = (messages: readonly string[]): string =>
  [
    ...new Set(
      messages.map((message) =>
        withoutFrames(message)
          .split("\n")
          .map((line) => line.trim())
          .filter(Boolean)
          .join(" "),
      ),
    ),
  ].join(" ");

/** The object of a resource of the account, by its URN; none if it had no ID before the run. */
const targetOf = (urn: string, { before }: RefusalContext) => {
  const definition = definitionOfType(typeIn(urn));
  const id = before.holdings.find((holding) => holding.urn === urn)?.id;
  return { definition, id, what: `the ${definition?.noun ?? "object"} ${logicalName(urn)}` };
};

const refusalOf = (
  urn: string,
  operation: string,
  messages: readonly string[],
  context: RefusalContext,
): Refusal => {
  const { accounts, stack } = context;
  const reason = reasonOf(messages);
  const { definition, id, what } = targetOf(urn, context);
  const users =
    definition && id !== undefined && operation.startsWith("delete")
      ? usersIn(accounts, definition, id)
      : [];
  const named = accounts.flatMap((account) => namedIn(reason, id, account));
  return {
    urn,
    ...(definition ? { kind: definition.kind } : {}),
    ...{ name: logicalName(urn), operation, reason },
    inTheWay: distinct([...users, ...named]),
    order: users.length > 0 ? orderOfDeletion(users, stack, what) : [],
  };
};

/**
 * Deletions that were not reached but would be refused as well: somebody uses the object, and this
 * run neither deletes nor changes that user.
 */
const blockedDeletions = (
  deletions: readonly string[],
  context: RefusalContext,
): readonly Refusal[] =>
  deletions.flatMap((urn): Refusal[] => {
    const { accounts, before, stack } = context;
    const { definition, id, what } = targetOf(urn, context);
    if (!definition || id === undefined) return [];
    const isOthers = (user: Obstacle): boolean =>
      !before.holdings.some((own) => own.kind === user.kind && own.id === user.id);
    const users = usersIn(accounts, definition, id).filter(isOthers);
    if (users.length === 0) return [];
    return [
      {
        ...{ urn, kind: definition.kind, name: logicalName(urn), operation: "delete" },
        reason: `the service refuses to delete ${what} because it is in use.`,
        inTheWay: users,
        order: orderOfDeletion(users, stack, what),
      },
    ];
  });

/**
 * What was refused: steps that failed, and resources that were refused before they became steps.
 *
 * @param said Pulumi's last lines, for a run that failed without an error event
 */
const refusalsIn = (
  { steps, errors }: EngineEvents,
  said: readonly string[],
  context: RefusalContext,
): readonly Refusal[] => {
  const failed = new Map(steps.filter(({ failed }) => failed).map((step) => [step.urn, step]));
  const ofResources = Map.groupBy(
    errors.filter((error) => error.urn !== undefined && !isSummary(error)),
    ({ urn = "" }) => urn,
  );
  const urns = [...new Set([...failed.keys(), ...ofResources.keys()])];
  const refusals = urns.map((urn) => {
    const messages = (ofResources.get(urn) ?? []).map(({ message }) => message);
    return refusalOf(urn, failed.get(urn)?.operation ?? "check", messages, context);
  });
  if (refusals.length > 0) return refusals;
  const general = errors.filter((error) => !isSummary(error)).map(({ message }) => message);
  const reason = reasonOf(general.length > 0 ? general : said);
  return [{ operation: "run", reason, inTheWay: [], order: [] }];
};

const idsByUrn = ({ before, after }: RehearsedRun): IdsByUrn => {
  const all = [...before.holdings, ...after.holdings];
  const groups = Map.groupBy(all, ({ urn }) => urn);
  return new Map([...groups].map(([urn, held]) => [urn, [...new Set(held.map(({ id }) => id))]]));
};

/** Objects of an account that neither this stack, after the run, nor another one has. */
const undeclaredIn = (
  { after, profile }: AccountOutcome,
  run: RehearsedRun,
  others: OtherHolders,
): readonly NamedObject[] => {
  const held = new Set(run.after.holdings.map(({ kind, id }) => `${kind} ${id}`));
  return resources.flatMap((definition) =>
    (after[definition.collection] ?? [])
      .filter(({ id }) => !held.has(`${definition.kind} ${id}`))
      .filter(({ id }) => !others.holdersOf(definition.kind, id).some(({ own }) => !own))
      .map((object) => namedObject(definition, object, profile)),
  );
};

const contextOf = (run: RehearsedRun, stack: string, states: OtherHolders): RefusalContext => ({
  before: run.before,
  accounts: run.accounts.map((account) => refusingAccount(account, states, stack)),
  stack,
});

const refusalsOf = (run: RehearsedRun, stack: string, states: OtherHolders): readonly Refusal[] => {
  if (run.succeeded) return [];
  const refusals = refusalsIn(run.engine, run.said, contextOf(run, stack, states));
  return run.stage === "preview"
    ? refusals.map((refusal) => ({ ...refusal, operation: "preview" }))
    : refusals;
};

/** What a run on a copy reveals about the real run. */
export const outcomeOf = (
  run: RehearsedRun,
  stack: string,
  states: OtherHolders,
): RehearsedOutcome => {
  const isRun = run.stage === "run";
  const ended = isRun ? run.engine.steps : [];
  return {
    passes: run.succeeded,
    totalSeconds: isRun ? Math.round((run.endedAt - run.startedAt) / 100) / 10 : 0,
    totalCalls: isRun ? run.calls.length : 0,
    calls: isRun
      ? run.calls.map(({ collection: _, sentAt, endedAt: __, ...call }) => ({
          ...call,
          seconds: secondsBetween(run.startedAt, sentAt),
        }))
      : [],
    steps: endedSteps(ended, run.calls, idsByUrn(run), run.startedAt),
    refusals: refusalsOf(run, stack, states),
    leftOut: run.ahead.leftOut,
    changes: run.accounts.flatMap(({ before, after, profile }) =>
      rehearsedChanges(before, after, profile),
    ),
    undeclared: run.accounts.flatMap((account) => undeclaredIn(account, run, states)),
    objects: run.accounts.flatMap(({ after }) => Object.values(after).flat()).length,
  };
};

/**
 * Steps whose refusal shows only once the others are resolved.
 *
 * @param run stopped at the first refusal
 * @param others outcome of a run that continued past it
 */
export const laterRefusals = (
  run: RehearsedRun,
  others: readonly Refusal[],
  stack: string,
  states: OtherHolders,
): readonly Refusal[] => {
  const context = contextOf(run, stack, states);
  const first = refusalsOf(run, stack, states);
  const all = [...first, ...others, ...blockedDeletions(run.ahead.deletions, context)];
  const byUrn = new Map(all.toReversed().map((refusal) => [refusal.urn, refusal]));
  return [...byUrn.values()]
    .toReversed()
    .filter(({ urn }) => urn !== undefined && !first.some((other) => other.urn === urn))
    .map((refusal) => ({ ...refusal, later: true as const }));
};
