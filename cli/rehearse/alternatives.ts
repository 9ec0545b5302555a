import type { Switches, SwitchName } from "../../emulator/index.js";
import { holdsSecret } from "../../provider/definition/fields.js";
import { usersAmong } from "../../provider/lifecycle/delete.js";
import { resources } from "../../provider/resources/index.js";
import { unknownMembers } from "../account/object-inputs.js";
import { kindsIn, type RehearsedCall } from "./emulated-account.js";
import { changeWord } from "./outcome.js";
import type {
  AccountChange,
  Alternative,
  Refusal,
  Rehearsal,
  RehearsedOutcome,
} from "./rehearsal-schema.js";
import type { RehearsedRun, RunSetup } from "./run-on-copy.js";

/** An uncertainty about the service that may decide the outcome of a run. */
interface UncertainSwitch {
  readonly name: SwitchName;
  /** The less likely value. */
  readonly other: Partial<Switches>;
  /** Whether it affects anything that a run has done. */
  readonly matters: (run: RehearsedRun) => boolean;
}

const called = (run: RehearsedRun, fits: (call: RehearsedCall) => boolean): boolean =>
  run.calls.some(fits);

const isWrite = ({ method }: RehearsedCall): boolean => method === "PUT" || method === "POST";
const isRefused = ({ status }: Pick<RehearsedCall, "status">): boolean =>
  status >= 400 && status !== 404;

const deletesHeld = ({ method, collection }: RehearsedCall): boolean =>
  method === "DELETE" &&
  resources.some((each) => each.collection === collection && each.heldByAny !== undefined);

/** Whether a deletion was refused only because of users that may not really hold the object. */
const isHeldByAssumption = ({ accounts }: RehearsedRun) => {
  const usersIn = accounts.map(({ after }) => usersAmong(kindsIn(after)));
  return ({ method, collection, id, status }: RehearsedCall): boolean => {
    const target = resources.find((each) => each.collection === collection);
    if (method !== "DELETE" || !isRefused({ status }) || !target || !id) return false;
    const users = usersIn.flatMap((usersOf) => usersOf(target, id));
    return (
      users.length > 0 && users.every(({ definition: { holds = "spec" } }) => holds !== "spec")
    );
  };
};

const holdsSecrets = ({ collection }: RehearsedCall): boolean =>
  resources.some(
    (each) => each.collection === collection && Object.values(each.fields).some(holdsSecret),
  );

/** Whether an object has members that no definition knows. */
const hasUnknownMembers = ({ accounts }: RehearsedRun): boolean =>
  accounts.some(({ after }) =>
    resources.some((definition) =>
      (after[definition.collection] ?? []).some(
        (object) => unknownMembers(definition, object).length > 0,
      ),
    ),
  );

const uncertain: readonly UncertainSwitch[] = [
  {
    name: "put",
    other: { put: "keep" },
    matters: (run) => called(run, ({ method }) => method === "PUT"),
  },
  {
    name: "staleModified",
    other: { staleModified: "refuse" },
    matters: (run) => called(run, ({ method }) => method === "PUT"),
  },
  {
    name: "secrets",
    other: { secrets: "omit" },
    matters: (run) =>
      !run.showsSecrets && called(run, (call) => call.method === "PUT" && holdsSecrets(call)),
  },
  {
    name: "channelRule",
    other: { channelRule: "any-client-application" },
    matters: (run) => called(run, deletesHeld),
  },
  {
    name: "deletionRule",
    other: { deletionRule: "specification" },
    matters: (run) => called(run, isHeldByAssumption(run)),
  },
  {
    name: "inUseStatus",
    other: { inUseStatus: 409 },
    matters: (run) => called(run, (call) => call.method === "DELETE" && isRefused(call)),
  },
  {
    name: "duplicateStatus",
    other: { duplicateStatus: 409 },
    matters: (run) => called(run, (call) => isWrite(call) && isRefused(call)),
  },
  {
    name: "unknownReference",
    other: { unknownReference: "accept" },
    matters: (run) => called(run, (call) => isWrite(call) && isRefused(call)),
  },
  {
    name: "unknownFields",
    other: { unknownFields: "refuse" },
    matters: (run) => called(run, isWrite) && hasUnknownMembers(run),
  },
];

/**
 * The switches worth a run with the other value: they affect the run, and their value is unknown.
 */
export const doubtfulSwitches = (
  run: RehearsedRun,
  known: ReadonlySet<string>,
): readonly Partial<Switches>[] =>
  uncertain
    .filter(({ name, matters }) => !known.has(name) && matters(run))
    .map(({ other }) => other);

const titleOf = ({ kind = "", name = "" }: Refusal): string => `${kind} ${name}`.trim();

const keyOf = ({ urn = "" }: Refusal): string => urn;

const refusedOnly = (these: readonly Refusal[], those: readonly Refusal[]): readonly Refusal[] => {
  const known = new Set(those.map(keyOf));
  return these.filter((refusal) => !known.has(keyOf(refusal)));
};

const changeText = ({ change, kind, name, members }: AccountChange): string =>
  `${kind} ${JSON.stringify(name)} is ${changeWord(change)}${members ? ` (${members.join(", ")})` : ""}`;

/** How two outcomes differ, each difference a sentence; empty if they are the same. */
const differencesBetween = (
  usual: RehearsedOutcome,
  other: RehearsedOutcome,
): readonly string[] => {
  const [before, after] = [usual.changes.map(changeText), other.changes.map(changeText)];
  return [
    ...refusedOnly(other.refusals, usual.refusals).map(
      (refusal) => `The service refuses ${titleOf(refusal)}: ${refusal.reason}`,
    ),
    ...refusedOnly(usual.refusals, other.refusals).map(
      (refusal) => `The service does not refuse ${titleOf(refusal)}.`,
    ),
    ...after.filter((text) => !before.includes(text)).map((text) => `After the run, ${text}.`),
    ...before
      .filter((text) => !after.includes(text))
      .map((text) => `This does not happen: ${text}.`),
  ];
};

/** Makes a further run on a copy and returns its outcome. */
export type RunAgain = (changes: Partial<RunSetup>) => Promise<RehearsedOutcome>;

const switchesText = (switches: Partial<Switches>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(switches).map(([name, value]) => [name, String(value)]));

/** Runs again with the other values: all together, then one by one if that makes a difference. */
export const alternativesTo = async (
  usual: RehearsedOutcome,
  others: readonly Partial<Switches>[],
  again: RunAgain,
): Promise<Pick<Rehearsal, "alternatives" | "unaffectedSwitches">> => {
  const names = (list: readonly Partial<Switches>[]) => list.flatMap((each) => Object.keys(each));
  const under = async (switches: Partial<Switches>) => {
    const outcome = await again({ otherwise: switches });
    return { switches, outcome, differences: differencesBetween(usual, outcome) };
  };
  if (others.length === 0) return { alternatives: [], unaffectedSwitches: [] };
  const together = await under(Object.assign({}, ...others));
  if (together.differences.length === 0)
    return { alternatives: [], unaffectedSwitches: names(others) };
  const single: (typeof together)[] = [];
  if (others.length > 1) for (const each of others) single.push(await under(each));
  const differing = single.filter(({ differences }) => differences.length > 0);
  const shown = differing.length > 0 ? differing : [together];
  const alternatives = shown.map(
    ({ switches, outcome, differences }): Alternative => ({
      switches: switchesText(switches),
      differences,
      passes: outcome.passes,
    }),
  );
  const isShown = (name: string) => alternatives.some(({ switches }) => name in switches);
  return { alternatives, unaffectedSwitches: names(others).filter((name) => !isShown(name)) };
};
