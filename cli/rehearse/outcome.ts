import { nameOnWire } from "../../provider/definition/kinds.js";
import { type JsonObject, sameJson } from "../../provider/kernel/json.js";
import { urnParts } from "../../provider/kernel/pulumi.js";
import { propertiesIn } from "../../provider/lifecycle/resource.js";
import { resources } from "../../provider/resources/index.js";
import type { AccountName } from "../inventory/stack-accounts.js";
import {
  accountIn,
  definitionOfType,
  logicalName,
  openedValues,
  type PreviewStep,
  resourcesInState,
  type StackExport,
  type StateResource,
} from "../pulumi/stack-documents.js";
import { stackStateOf } from "../pulumi/stack-states.js";
import type { OriginalStack } from "./original-stack.js";
import type { NamedObject, Refusal, RehearsedOutcome, RehearsedStep } from "./rehearsal-schema.js";
import type { RehearsedRun } from "./run-on-copy.js";

/**
 * Operations of the engine that are no step for the reader: they change nothing, or are part of a
 * forced replacement, which is one step.
 */
const unshown = new Set([
  ...["same", "refresh", "read", "discard", "import"],
  ...["create-replacement", "delete-replaced", "discard-replaced"],
]);

const resourcesByUrn = (document: StackExport): ReadonlyMap<string, StateResource> =>
  new Map(
    resourcesInState(document).flatMap((resource) =>
      resource.delete ? [] : [[resource.urn, resource] as const],
    ),
  );

/** The fields as the program gives them. */
const fieldsOf = ({ inputs }: StateResource): JsonObject =>
  propertiesIn(openedValues(inputs)).fields;

const changedProperties = (
  before: PreviewStep["oldState"],
  after: PreviewStep["newState"],
): readonly string[] => {
  if (!before || !after) return [];
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => !sameJson(old[name], now[name]))
    .sort();
};

const withProfile = (profile: AccountName) => (profile === undefined ? {} : { profile });

/** The steps done, in the order in which they ended, with the resource before and after the run. */
export const doneSteps = (
  { engine, after }: RehearsedRun,
  { document }: OriginalStack,
): readonly PreviewStep[] => {
  const [before, now] = [resourcesByUrn(document), resourcesByUrn(after)];
  return engine.steps.flatMap(({ urn, operation, failed }) =>
    failed ? [] : [{ op: operation, urn, oldState: before.get(urn), newState: now.get(urn) }],
  );
};

const shownStep = ({ op, urn, oldState, newState }: PreviewStep): readonly RehearsedStep[] => {
  const resource = newState ?? oldState;
  const definition = resource && definitionOfType(resource.type);
  if (!definition || unshown.has(op)) return [];
  return [
    {
      ...{ urn, kind: definition.kind, name: logicalName(urn), operation: op },
      // The service will assign another ID to what the run creates.
      ...(oldState?.id ? { id: oldState.id } : {}),
      ...withProfile(accountIn(resource)),
      properties: changedProperties(oldState, newState),
    },
  ];
};

/** An engine message about the run as a whole, redundant if a step already has an error. */
const isSummary = ({ urn = "", message }: RehearsedRun["engine"]["errors"][number]): boolean =>
  /:pulumi:pulumi:Stack::/.test(urn) && /^(update|preview|destroy|refresh) failed$/.test(message);

/** A message without what Node appends for developers: the stack trace and the error's members. */
const withoutFrames = (message: string): string =>
  message.replace(/\n[^\S\n]+at \S[\s\S]*$/, "").replace(/<ref \*\d+> /g, "");

const reasonOf = (messages: readonly string[]): string => {
  const sentences = messages.map((message) => withoutFrames(message).replace(/\s+/g, " ").trim());
  return [...new Set(sentences)].join(" ");
};

/** What was refused: steps that failed, and resources that were refused before they became steps. */
const refusalsOf = ({ succeeded, engine, said, starts }: RehearsedRun): readonly Refusal[] => {
  if (succeeded) return [];
  const operations = new Map(
    engine.steps.flatMap(({ urn, operation, failed }) => (failed ? [[urn, operation]] : [])),
  );
  const errors = engine.errors.filter((error) => !isSummary(error));
  const ofResources = Map.groupBy(errors, ({ urn = "" }) => urn);
  const urns = new Set([...operations.keys(), ...ofResources.keys()].filter(Boolean));
  if (urns.size === 0) {
    const reason = reasonOf(errors.length > 0 ? errors.map(({ message }) => message) : said);
    return [{ operation: starts ? "run" : "preview", reason }];
  }
  return [...urns].map((urn) => {
    const definition = definitionOfType(urnParts(urn).type);
    return {
      ...{ urn, ...(definition ? { kind: definition.kind } : {}), name: logicalName(urn) },
      operation: starts ? (operations.get(urn) ?? "check") : "preview",
      reason: reasonOf((ofResources.get(urn) ?? []).map(({ message }) => message)),
    };
  });
};

/** Objects of an account that neither this stack, after the run, nor another one has. */
const undeclaredIn = (
  { objects, names: [profile] }: RehearsedRun["accounts"][number],
  held: ReadonlySet<string>,
  { states }: OriginalStack,
): readonly NamedObject[] => {
  const isHeld = (kind: string, id: string): boolean =>
    held.has(`${kind} ${id}`) || states.holdersOf(kind, id).some(({ own }) => !own);
  return resources.flatMap((definition) =>
    (objects[definition.collection] ?? [])
      .filter(({ id }) => !isHeld(definition.kind, id))
      .map((object) => ({
        kind: definition.kind,
        name: String(nameOnWire(definition, object) ?? ""),
        id: object.id,
        ...withProfile(profile),
      })),
  );
};

/** What a run on a copy reveals about the real run, except for its time. */
export const outcomeOf = (
  run: RehearsedRun,
  original: OriginalStack,
  steps: readonly PreviewStep[],
): Omit<RehearsedOutcome, "totalSeconds"> => {
  const { holdings } = stackStateOf(run.after, true);
  const held = new Set(holdings.map(({ kind, id }) => `${kind} ${id}`));
  return {
    passes: run.succeeded,
    calls: run.calls,
    steps: steps.flatMap(shownStep),
    refusals: refusalsOf(run),
    leftOut: run.leftOut,
    undeclared: run.accounts.flatMap((account) => undeclaredIn(account, held, original)),
    objects: run.accounts.flatMap((account) => Object.values(account.objects).flat()).length,
  };
};
