import type { z } from "zod";
import type { Definition, Fields } from "../../provider/definition/define.js";
import { fieldsByWireName, naturalKey, wireName } from "../../provider/definition/fields.js";
import { sameMeaning } from "../../provider/definition/meaning.js";
import { isSurelyMask } from "../../provider/definition/merge.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import {
  isObject,
  type JsonObject,
  objectOf,
  type Printed,
  sameJson,
} from "../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../provider/lifecycle/ownership/mark.js";
import type { StackStates } from "../../provider/pulumi-cli/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { publicMembers } from "../account/object-inputs.js";
import { openStack, type StackOptions } from "../stack/open-stack.js";
import type { RehearsedAccount, TenantReading } from "./accounts.js";
import { outcomeOf, serverSet } from "./outcome.js";
import type { fromEmptySchema, lostSchema } from "./rehearsal-schema.js";
import { type AccountOutcome, prepareRun, type RehearseOptions, runOnCopy } from "./run-on-copy.js";
import { emptied } from "./stack-copy.js";

/** The objects of each kind, by id. */
type ObjectsByKind = ReadonlyMap<string, ReadonlyMap<string, WireObject>>;

/** An object of the account that the program would not make, or would make without some members. */
interface BeyondProgram {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /**
   * Members that the rebuilt object lacks or has with another value; left out if all of it is
   * missing.
   */
  readonly members?: readonly string[];
}

const nameOf = (definition: Definition, wire: WireObject): string =>
  String(nameOnWire(definition, wire) ?? "");

/** The name for each id: ids differ between two accounts, names do not. */
const namesById = (objects: ObjectsByKind): ReadonlyMap<string, string> =>
  new Map(
    resources.flatMap((definition) =>
      [...(objects.get(definition.kind) ?? [])].map(
        ([id, wire]) => [id, `${definition.kind} ${nameOf(definition, wire)}`] as const,
      ),
    ),
  );

const withNames = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withNames(member, names)]),
  );
};

/** Whether a value can be compared: a mask may stand for any value. */
const isComparable = (value: unknown): boolean =>
  value !== null && !(typeof value === "string" && isSurelyMask(value));

/** The members of an object that no field covers: only their names are shown. */
const unknownTo = (fields: Fields, wire: WireObject): JsonObject =>
  objectOf(
    Object.entries(wire).filter(
      ([name, value]) => isComparable(value) && !fieldsByWireName(fields).has(name),
    ),
  );

/** An object without what the service sets, without secrets, without marks, and with names for ids. */
const comparable = (
  { fields }: Definition,
  wire: WireObject,
  names: ReadonlyMap<string, string>,
): JsonObject => {
  const { description } = wire;
  const own = readMark(description).description;
  const named = withNames({ ...unknownTo(fields, wire), ...publicMembers(fields, wire) }, names);
  const members = isObject(named) ? named : {};
  return own === undefined || own === ""
    ? Object.fromEntries(Object.entries(members).filter(([name]) => name !== "description"))
    : { ...members, description: own };
};

/** Members of the account's object that the rebuilt one lacks, or has with another value. */
const membersBeyond = (
  definition: Definition,
  live: JsonObject,
  rebuilt: JsonObject,
  settings: Settings,
): readonly string[] => {
  const { fields } = definition;
  const [ours, theirs] = [rebuilt, live].map((wire) => fieldsFromWire(fields, wire, settings));
  const known = Object.entries(fields).flatMap(([name, field]) => {
    const value = theirs?.[name];
    const isSame = value === undefined || sameMeaning(field, value, ours?.[name]);
    return isSame ? [] : [name];
  });
  const wires = new Set(Object.entries(fields).map(([name, field]) => wireName(name, field)));
  const unknown = Object.keys(live).filter(
    (name) => !wires.has(name) && !serverSet.has(name) && !sameJson(live[name], rebuilt[name]),
  );
  return [...known, ...unknown];
};

/** The rebuilt objects by name; of several with one name each is used once. */
const byName = (definition: Definition, rebuilt: ReadonlyMap<string, WireObject>) =>
  Map.groupBy(rebuilt.values(), (wire) => nameOf(definition, wire));

/**
 * What an account holds beyond what the program makes: matched by kind and name, compared by meaning;
 * secrets are not compared.
 */
const beyondProgram = (
  live: ObjectsByKind,
  rebuilt: ObjectsByKind,
  settings: Settings,
): readonly BeyondProgram[] => {
  const [liveNames, rebuiltNames] = [namesById(live), namesById(rebuilt)];
  return resources.flatMap((definition) => {
    const left = byName(definition, rebuilt.get(definition.kind) ?? new Map());
    return [...(live.get(definition.kind) ?? [])].flatMap(([id, wire]): BeyondProgram[] => {
      const name = nameOf(definition, wire);
      const match = naturalKey(definition) === "" ? undefined : left.get(name)?.shift();
      if (!match) return [{ kind: definition.kind, name, id }];
      const members = membersBeyond(
        definition,
        comparable(definition, wire, liveNames),
        comparable(definition, match, rebuiltNames),
        settings,
      );
      return members.length > 0 ? [{ kind: definition.kind, name, id, members }] : [];
    });
  });
};

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

const liveObjects = ({ account }: TenantReading): ObjectsByKind =>
  new Map(account.kinds.map(({ definition, objects }) => [definition.kind, objects]));

const rebuiltObjects = (account: AccountOutcome | undefined): ObjectsByKind =>
  new Map(
    resources.map(({ kind, collection }) => [
      kind,
      new Map((account?.after[collection] ?? []).map((object) => [object.id, object])),
    ]),
  );

const lostIn = (
  reading: TenantReading,
  account: AccountOutcome | undefined,
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
  options.say("Making everything anew in an empty emulator …");
  const run = await runOnCopy({
    ...setup,
    original: { ...emptied(original), states: { ...original.states, ...noStates } },
    accounts: accounts.map(emptyTenant),
  });
  const { calls, changes, undeclared, ...outcome } = outcomeOf(run, stack.names.stack, noStates);
  return {
    ...stack.names,
    ...{ plan, parallel, outcome },
    liveObjects: accounts
      .flatMap(({ account }) => account.kinds)
      .reduce((sum, { objects }) => sum + objects.size, 0),
    lost: accounts.flatMap((account, place) =>
      lostIn(account, run.accounts[place], original.states),
    ),
    notes: [...notes, ...problemsOf(accounts), ...run.missing],
  };
};
