import type { StoredObject } from "../../emulator/index.js";
import { type Definition, outputFields } from "../../provider/definition/define.js";
import { sameJson } from "../../provider/kernel/json.js";
import { nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import type { StackState } from "../../provider/lifecycle/ownership/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import { type BlastRadius, blastRadius, changesOfPreview } from "../inventory/blast-radius.js";
import { definitionOfType, logicalName } from "../pulumi/stack-documents.js";
import { stackStateOf } from "../pulumi/stack-states.js";
import { type CopiedObjects, kindsIn } from "./emulated-account.js";
import type { OriginalStack } from "./original-stack.js";
import type { NamedObject, Refusal, RehearsedOutcome, RehearsedStep } from "./rehearsal-schema.js";
import type { RehearsedRun } from "./run-on-copy.js";

/** Members that the service itself sets. */
const serverSet: ReadonlySet<string> = new Set(["id", ...Object.keys(outputFields)]);

const changedMembers = (before: StoredObject, after: StoredObject): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !serverSet.has(name) && !sameJson(before[name], after[name]))
    .sort();

/**
 * Operations of the engine that are no step for the reader: they change nothing, or are part of a
 * forced replacement, which is one step.
 */
const unshown = new Set([
  ...["same", "refresh", "read", "discard", "import"],
  ...["create-replacement", "delete-replaced", "discard-replaced"],
]);

/** An object with one of these IDs as it was before and after the run, in the account that has it. */
const traceObject = (
  { accounts }: RehearsedRun,
  { collection }: Definition,
  ids: readonly string[],
) => {
  const find = (objects: CopiedObjects) => objects[collection]?.find(({ id }) => ids.includes(id));
  return accounts
    .map(({ before, after, profile }) => ({ before: find(before), after: find(after), profile }))
    .find(({ before, after }) => before ?? after);
};

/** The steps done, in the order in which they ended, with what each changed in its account. */
const endedSteps = (
  run: RehearsedRun,
  before: StackState,
  after: StackState,
): readonly RehearsedStep[] => {
  const held = Map.groupBy([...before.holdings, ...after.holdings], ({ urn }) => urn);
  return run.engine.steps.flatMap(({ urn, type, operation, failed }): readonly RehearsedStep[] => {
    const definition = definitionOfType(type);
    if (!definition || failed || unshown.has(operation)) return [];
    const ids = (held.get(urn) ?? []).map(({ id }) => id);
    const { before: old, after: now, profile } = traceObject(run, definition, ids) ?? {};
    return [
      {
        ...{ urn, kind: definition.kind, name: logicalName(urn), operation },
        // The service will assign another ID to what the run creates.
        ...(old ? { id: old.id } : {}),
        ...(profile === undefined ? {} : { profile }),
        properties: old && now ? changedMembers(old, now) : [],
      },
    ];
  });
};

/** An engine message about the run as a whole, redundant if a step already has an error. */
const isSummary = ({ urn = "", message }: RehearsedRun["engine"]["errors"][number]): boolean =>
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

const titleOf = (urn: string): Pick<Refusal, "urn" | "kind" | "name"> => {
  const definition = definitionOfType(typeIn(urn));
  return { urn, ...(definition ? { kind: definition.kind } : {}), name: logicalName(urn) };
};

/** What uses an object whose deletion is refused. */
const usersOf = (urn: string, blocked: BlastRadius["blocked"]): Refusal["inTheWay"] =>
  blocked.filter((deletion) => deletion.urn === urn).flatMap(({ users }) => users);

/**
 * What was refused: steps that failed, and resources that were refused before they became steps;
 * then deletions that the run did not reach, because something uses the object.
 */
const refusalsOf = (run: RehearsedRun, blocked: BlastRadius["blocked"]): readonly Refusal[] => {
  if (run.succeeded) return [];
  const { engine, said, preview } = run;
  const operations = new Map(
    engine.steps.flatMap(({ urn, operation, failed }) => (failed ? [[urn, operation]] : [])),
  );
  const errors = engine.errors.filter((error) => !isSummary(error));
  const ofResources = Map.groupBy(errors, ({ urn = "" }) => urn);
  const urns = new Set([...operations.keys(), ...ofResources.keys()].filter(Boolean));
  const refusals = [...urns].map((urn) => ({
    ...titleOf(urn),
    operation: preview ? (operations.get(urn) ?? "check") : "preview",
    reason: reasonOf((ofResources.get(urn) ?? []).map(({ message }) => message)),
    inTheWay: usersOf(urn, blocked),
  }));
  if (refusals.length === 0) {
    const reason = reasonOf(errors.length > 0 ? errors.map(({ message }) => message) : said);
    return [{ operation: preview ? "run" : "preview", reason, inTheWay: [] }];
  }
  const later = blocked.filter(({ urn }) => !urns.has(urn));
  return [
    ...refusals,
    ...later.map(({ urn, users }) => ({
      ...{ ...titleOf(urn), operation: "delete", inTheWay: users, later: true as const },
      reason: "The service refuses the deletion because something uses the object.",
    })),
  ];
};

/** Objects of an account that neither this stack, after the run, nor another one has. */
const undeclaredIn = (
  { after, profile }: RehearsedRun["accounts"][number],
  { holdings }: StackState,
  { states }: OriginalStack,
): readonly NamedObject[] => {
  const held = new Set(holdings.map(({ kind, id }) => `${kind} ${id}`));
  const isHeld = (kind: string, id: string): boolean =>
    held.has(`${kind} ${id}`) || states.holdersOf(kind, id).some(({ own }) => !own);
  return resources.flatMap((definition) =>
    (after[definition.collection] ?? [])
      .filter(({ id }) => !isHeld(definition.kind, id))
      .map((object) => ({
        kind: definition.kind,
        name: String(nameOnWire(definition, object) ?? ""),
        id: object.id,
        ...(profile === undefined ? {} : { profile }),
      })),
  );
};

/** What a run on a copy reveals about the real run, except for its time. */
export const outcomeOf = (
  run: RehearsedRun,
  original: OriginalStack,
): Omit<RehearsedOutcome, "totalSeconds"> => {
  const before = stackStateOf(original.document, true);
  const after = stackStateOf(run.after, true);
  const changes = changesOfPreview(run.preview?.steps ?? []);
  const blocked = run.accounts.flatMap(
    ({ before: objects }) =>
      blastRadius(changes, { kinds: kindsIn(objects), states: original.states }).blocked,
  );
  return {
    passes: run.succeeded,
    totalCalls: run.calls.length,
    calls: run.calls,
    steps: endedSteps(run, before, after),
    refusals: refusalsOf(run, blocked),
    leftOut: run.leftOut,
    undeclared: run.accounts.flatMap((account) => undeclaredIn(account, after, original)),
    objects: run.accounts.flatMap((account) => Object.values(account.after).flat()).length,
  };
};
