import type { Switches, SwitchName } from "../../emulator/index.js";
import { fieldsByWireName, holdsSecret } from "../../provider/definition/fields.js";
import { wireReferences } from "../../provider/lifecycle/delete.js";
import { resources } from "../../provider/resources/index.js";
import type { RehearsedCall } from "./emulated-account.js";
import { serverSet } from "./outcome.js";
import type { AccountChange, Refusal, RehearsedOutcome } from "./rehearsal-schema.js";
import type { RehearsedRun } from "./run-on-copy.js";

/** Something uncertain about the service that may decide what a run comes to. */
interface UncertainSwitch {
  readonly name: SwitchName;
  /** The reading that is not the likeliest. */
  readonly other: Partial<Switches>;
  /** Whether a run has done anything that it bears upon. */
  readonly matters: (run: RehearsedRun) => boolean;
}

const called = (run: RehearsedRun, fits: (call: RehearsedCall) => boolean): boolean =>
  run.calls.some(fits);

const isWrite = ({ method }: RehearsedCall): boolean => method === "PUT" || method === "POST";
const isRefused = ({ status }: RehearsedCall): boolean => status >= 400 && status !== 404;

const deletesHeld = ({ method, collection }: RehearsedCall): boolean =>
  method === "DELETE" &&
  resources.some((each) => each.collection === collection && each.heldByAny !== undefined);

/** Whether a deletion was refused only for the sake of users of which it is not certain that they hold anything. */
const isHeldByAssumption =
  ({ accounts }: RehearsedRun) =>
  (call: RehearsedCall): boolean => {
    const target = resources.find(({ collection }) => collection === call.collection);
    if (call.method !== "DELETE" || !isRefused(call) || !target || !call.id) return false;
    const { id } = call;
    const holders = resources.filter((definition) =>
      accounts.some(({ after }) =>
        (after[definition.collection] ?? []).some((object) =>
          wireReferences(definition, object).some(
            (reference) => reference.to.kind === target.kind && reference.id === id,
          ),
        ),
      ),
    );
    return holders.length > 0 && holders.every(({ holds = "spec" }) => holds !== "spec");
  };

const holdsSecrets = ({ collection }: RehearsedCall): boolean =>
  resources.some(
    (each) => each.collection === collection && Object.values(each.fields).some(holdsSecret),
  );

/** Whether an object has members that no definition knows. */
const hasUnknownMembers = ({ accounts }: RehearsedRun): boolean =>
  accounts.some(({ after }) =>
    resources.some((definition) => {
      const known = fieldsByWireName(definition.fields);
      return (after[definition.collection] ?? []).some((object) =>
        Object.keys(object).some((name) => !known.has(name) && !serverSet.has(name)),
      );
    }),
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

/** What is worth a run in the other reading: it bears upon the run, and nobody knows it. */
export const otherReadingsOf = (
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
  `${kind} ${JSON.stringify(name)} is ${change}${members ? ` (${members.join(", ")})` : ""}`;

/** How two outcomes differ, each difference a sentence; empty where they come to the same. */
export const differencesBetween = (
  usual: RehearsedOutcome,
  other: RehearsedOutcome,
): readonly string[] => {
  const [before, after] = [usual.changes.map(changeText), other.changes.map(changeText)];
  return [
    ...refusedOnly(other.refusals, usual.refusals).map(
      (refusal) => `${titleOf(refusal)} is refused: ${refusal.reason}`,
    ),
    ...refusedOnly(usual.refusals, other.refusals).map(
      (refusal) => `${titleOf(refusal)} is not refused.`,
    ),
    ...after.filter((text) => !before.includes(text)).map((text) => `Afterwards ${text}.`),
    ...before.filter((text) => !after.includes(text)).map((text) => `It is not so that ${text}.`),
  ];
};
