import type { StackState } from "../../../provider/stacks/stack-states.js";
import { definitionOfType, logicalName } from "../../stack/stack-export.js";
import type { EngineError, EngineRun, EngineStep } from "./engine-events.js";
import { namedIn, type ObstacleSource, orderOfDeletion, usersAmong } from "./obstacles.js";
import type { Obstacle, Refusal } from "./outcome.js";

/** What a refusal is explained with. */
export interface RefusalContext {
  readonly before: StackState;
  /** The accounts as they were when the run ended. */
  readonly accounts: readonly ObstacleSource[];
  /** The stack as its own obstacles name it. */
  readonly stack: string;
}

/** What the engine says of the run when something else has already been said of a step. */
const isSummary = ({ urn = "", message }: EngineError): boolean =>
  /:pulumi:pulumi:Stack::/.test(urn) && /^(update|preview|destroy|refresh) failed$/.test(message);

const typeIn = (urn: string): string => urn.split("::")[2]?.split("$").at(-1) ?? "";

/** A message without what Node prints behind it for developers: where in the code it was, and its members. */
const withoutFrames = (message: string): string =>
  message.replace(/\n[^\S\n]+at \S[\s\S]*$/, "").replace(/<ref \*\d+> /g, "");

/** What is said more than once is said once. */
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

const distinct = (obstacles: readonly Obstacle[]): readonly Obstacle[] => [
  ...new Map(obstacles.map((each) => [`${each.kind} ${each.id}`, each])).values(),
];

const refusalOf = (
  urn: string,
  operation: string,
  messages: readonly string[],
  { before, accounts, stack }: RefusalContext,
): Refusal => {
  const reason = reasonOf(messages);
  const definition = definitionOfType(typeIn(urn));
  const id = before.holdings.find((holding) => holding.urn === urn)?.id;
  const users =
    definition && id !== undefined && operation.startsWith("delete")
      ? accounts.flatMap((account) => usersAmong(definition, id, account))
      : [];
  const named = accounts.flatMap((account) => namedIn(reason, id, account));
  const what = `the ${definition?.noun ?? "object"} ${logicalName(urn)}`;
  return {
    urn,
    ...(definition ? { kind: definition.kind } : {}),
    name: logicalName(urn),
    operation,
    reason,
    inTheWay: distinct([...users, ...named]),
    order: users.length > 0 ? orderOfDeletion(distinct(users), stack, what) : [],
  };
};

/**
 * Deletions that were not reached, and that are refused all the same: somebody uses the object, and
 * this run neither deletes nor changes that user.
 */
export const blockedDeletions = (
  deletions: readonly string[],
  { before, accounts, stack }: RefusalContext,
): readonly Refusal[] =>
  deletions.flatMap((urn): Refusal[] => {
    const definition = definitionOfType(typeIn(urn));
    const id = before.holdings.find((holding) => holding.urn === urn)?.id;
    if (!definition || id === undefined) return [];
    const isOthers = (user: Obstacle): boolean =>
      !before.holdings.some((own) => own.kind === user.kind && own.id === user.id);
    const users = distinct(
      accounts.flatMap((account) => usersAmong(definition, id, account)),
    ).filter(isOthers);
    if (users.length === 0) return [];
    const name = logicalName(urn);
    return [
      {
        ...{ urn, kind: definition.kind, name, operation: "delete" },
        reason: `the service refuses to delete the ${definition.noun} ${name}, as it is used.`,
        inTheWay: users,
        order: orderOfDeletion(users, stack, `the ${definition.noun} ${name}`),
      },
    ];
  });

const failedSteps = (steps: readonly EngineStep[]): ReadonlyMap<string, EngineStep> =>
  new Map(steps.filter(({ failed }) => failed).map((step) => [step.urn, step]));

/**
 * What was refused: steps that failed, and resources that were refused before they became steps.
 *
 * @param said the last lines of Pulumi, for a run that failed without an error of its own
 */
export const refusalsIn = (
  { steps, errors }: EngineRun,
  said: readonly string[],
  context: RefusalContext,
): readonly Refusal[] => {
  const failed = failedSteps(steps);
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
