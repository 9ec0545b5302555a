import type { Definition } from "../../provider/definition/define.js";
import { nameOnWire, naturalKey } from "../../provider/definition/kinds.js";
import { asText } from "../../provider/kernel/json.js";
import { ownershipsOf } from "../../provider/kernel/pulumi.js";
import { isCopy, markOn } from "../../provider/lifecycle/ownership.js";
import { markOf, propertiesIn, stackLabel, stackMark } from "../../provider/lifecycle/resource.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import type {
  Holding,
  Mark,
  ResourceMark,
  StackStates,
} from "../../provider/lifecycle/stack-states.js";
import { addressesVariable } from "../../provider/service/emulated-settings.js";
import type { WireObject } from "../../provider/service/lists.js";
import { isProviderAccount } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import type { StackLock } from "../pulumi/locks.js";
import {
  accountIn,
  heldObjects,
  openedValues,
  resourcesInState,
  type StackExport,
  type StateResource,
  sealedFields,
  veiledIn,
} from "../pulumi/stack-documents.js";
import { readingNotes, type ServiceAccess } from "./open-account.js";
import type { OpenStack, StackNames } from "./open-stack.js";
import { type AccountReading, type KindReading, readAccount, unreadKinds } from "./read-account.js";
import { type AccountName, openAccounts, type StackAccountOptions } from "./stack-accounts.js";

/** An account with all its objects. */
export interface AccountRead {
  /** The names that lead to it. */
  readonly names: readonly AccountName[];
  readonly access: ServiceAccess;
  readonly reading: AccountReading;
}

/**
 * Whose an object is, from the point of view of one stack:
 *
 * - `managed`: the state of this stack contains it;
 * - `held`: the state of another stack contains it;
 * - `leftover`: a stack whose state was read created it, and no state contains it;
 * - `copy`: carries the mark of a resource for which a state contains another object, because a
 *   person copied that object, including its description;
 * - `former`: carries the stack's name, but the mark of another state: a destroyed or lost state,
 *   or somebody else's state with the same name;
 * - `elsewhere`: carries the mark of a stack whose state was not read;
 * - `foreign`: is in no state and carries no mark.
 */
export type Standing =
  | "managed"
  | "held"
  | "leftover"
  | "copy"
  | "former"
  | "elsewhere"
  | "foreign";

/** An object of an account, of the stack's state, or of both. */
export interface InventoryItem {
  readonly definition: Definition;
  readonly id: string;
  readonly name: string;
  readonly account: AccountRead;
  /** As its list shows it; undefined if only the state has it. */
  readonly live?: WireObject | undefined;
  /** The resource of this stack that represents it. */
  readonly resource?: StateResource;
  readonly standing: Standing;
  readonly mark?: Mark | undefined;
  /** Whether its mark is of this stack's state, not only of its name. */
  readonly isOwn: boolean;
  /** Whether its mark was copied from another object. */
  readonly isCopy: boolean;
  /** Whether a run of this stack started to create it but did not report the result. */
  readonly isPending: boolean;
  /** The resources, of any stack, whose object it is. */
  readonly heldBy: readonly Holding[];
  /** The resources that only look it up. */
  readonly readBy: readonly Holding[];
  /** The resources that have its mark in a state, but with another object. */
  readonly markedBeside: readonly Holding[];
}

/** What was read of a stack and its accounts: the accounts first, the states after them. */
interface StackReading {
  readonly names: StackNames;
  readonly document: StackExport;
  readonly lock: StackLock;
  /** The states of all stacks in the backend that can be read. */
  readonly states: StackStates;
  readonly accounts: readonly AccountRead[];
  /** For the lifecycle of the resources of an account, which reads through the same sessions. */
  readonly runIn: (name: AccountName) => Run;
}

/** Every object of a stack and its accounts, judged once for all commands. */
export interface Inventory extends StackReading {
  readonly items: readonly InventoryItem[];
  /** The lists of all accounts. */
  readonly kinds: readonly KindReading[];
  /** Kinds that could not be read whole in an account. */
  readonly unread: readonly { readonly kind: string; readonly problem: string }[];
  /** False if an account changed while it was read. */
  readonly consistent: boolean;
  /** What is missing in the accounts and why, in sentences. */
  readonly gaps: readonly string[];
  /** What makes the states uncertain, in sentences. */
  readonly notes: readonly string[];
}

const markKey = (kind: string, { stack, resource }: ResourceMark): string =>
  `${kind} ${stack} ${resource}`;

const ownerKeys = (kind: string, ...owners: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(owners.flatMap((owner) => (owner ? [markKey(kind, markOf(kind, owner))] : []))),
];

/** Judges objects by their marks and by who holds them, from the point of view of one stack. */
export const judgeObjects = (
  states: Omit<StackStates, "complete">,
  { project, stack }: StackNames,
) => {
  const byMark = new Map<string, Holding[]>();
  for (const holding of states.holdings)
    for (const key of ownerKeys(holding.kind, holding.owner, holding.writtenOwner))
      byMark.set(key, [...(byMark.get(key) ?? []), holding]);
  const begun = new Set(states.pending.flatMap(({ kind, owner }) => ownerKeys(kind, owner)));
  const [own, read] = [ownershipsOf(states.own), states.ownerships].map(
    (ownerships) => new Set(ownerships.map(stackMark)),
  );
  const label = `${stackLabel(project, stack)} `;
  return (definition: Definition, id: string, live: WireObject | undefined) => {
    const { kind } = definition;
    const mark = live && markOn(live);
    const key = mark ? markKey(kind, mark) : "";
    const heldBy = states.holdersOf(kind, id);
    const readBy = states.readersOf(kind, id);
    const markedBeside = (byMark.get(key) ?? []).filter((holding) => holding.id !== id);
    // If the resource now has another object, only a leftover has a different serial.
    const isSameSerial = mark?.serial === markedBeside[0]?.serial;
    const isMadeByHand = mark && isCopy(mark, live && nameOnWire(definition, live), live?.created);
    const isCopied = isMadeByHand || (markedBeside.length > 0 && isSameSerial);
    const standingNow = (): Standing => {
      if (heldBy.some((holding) => holding.own)) return "managed";
      if (heldBy.length > 0) return "held";
      if (!mark) return "foreign";
      if (read?.has(mark.stack) || own?.has(mark.stack)) return isCopied ? "copy" : "leftover";
      return mark.label.startsWith(label) ? "former" : "elsewhere";
    };
    return {
      standing: standingNow(),
      mark,
      isOwn: mark !== undefined && own?.has(mark.stack) === true,
      isCopy: isCopied === true,
      isPending: begun.has(key),
      heldBy,
      readBy,
      markedBeside,
    };
  };
};

export const accountNamed = (
  { accounts }: Pick<StackReading, "accounts">,
  name: AccountName,
): AccountRead => {
  const found = accounts.find(({ names }) => names.includes(name));
  if (!found) throw new Error(`no account was opened for ${name}`);
  return found;
};

const notesOn = ({ lock, states, names: { project, stack } }: StackReading): readonly string[] => {
  const notes: string[] = [];
  if (lock.state === "locked")
    notes.push(`${project}/${stack} is locked: a run may be changing what is listed here.`);
  if (!states.complete)
    notes.push(
      "The command could not read every stack in the backend; an unread stack may contain objects listed here as in no stack.",
    );
  return notes;
};

/** Brings what was read together: first the objects of the state, then the accounts' other ones. */
export const inventoryOf = (reading: StackReading): Inventory => {
  const { accounts, document } = reading;
  const judge = judgeObjects(reading.states, reading.names);
  const opened = new Set(accounts.flatMap(({ names }) => names));
  const managed = heldObjects(resourcesInState(document)).flatMap(
    ({ definition, id, resource }) => {
      const of = accountIn(resource);
      if (!opened.has(of)) return [];
      const account = accountNamed(reading, of);
      const live = kindIn(account, definition).objects.get(id);
      const named = live ?? propertiesIn(openedValues(resource.outputs)).fields;
      const shown = veiledIn(sealedFields(definition, resource.outputs ?? {}));
      const name = shown(naturalKey(definition), asText(nameOnWire(definition, named)));
      const judged = { ...judge(definition, id, live), standing: "managed" as const };
      return [{ definition, id, name, account, live, resource, ...judged }];
    },
  );
  const others = accounts.flatMap((account) =>
    account.reading.kinds.flatMap(({ definition, objects }) =>
      [...objects].flatMap(([id, live]) => {
        const found = judge(definition, id, live);
        const name = asText(nameOnWire(definition, live));
        return found.standing === "managed"
          ? []
          : [{ definition, id, name, account, live, ...found }];
      }),
    ),
  );
  const kinds = accounts.flatMap((account) => account.reading.kinds);
  return {
    ...reading,
    items: [...managed, ...others],
    kinds,
    unread: unreadKinds(kinds),
    consistent: accounts.every((account) => account.reading.consistent),
    gaps: accounts.flatMap((account) => readingNotes(account.reading)),
    notes: notesOn(reading),
  };
};

/** A new emulator would make every object of the stack look deleted. */
const assertSameEmulator = (
  { env, document, names: { project, stack } }: OpenStack,
  accounts: readonly AccountRead[],
): void => {
  if (env[addressesVariable] === undefined) return;
  const kinds = accounts.flatMap(({ reading }) => reading.kinds);
  if (kinds.some(({ objects, problem }) => objects.size > 0 || problem !== undefined)) return;
  const held = heldObjects(resourcesInState(document)).length;
  if (held === 0) return;
  throw new CommandFailure(
    `This emulator is empty: it contains none of the objects of ${project}/${stack} (${held} in its state). Nothing was done. Start the emulator with the file that contains them (--data <file>), or run the command without the emulator.`,
  );
};

/**
 * Reads accounts of a stack, then its lock, then the states, which therefore hold what a run has
 * taken over in between. Closes the accounts when the work has ended.
 *
 * @param names the names that lead to the accounts
 * @throws ConversationError if nothing of an account can be read; CommandFailure if the state cannot,
 * or if this runs beside an empty emulator that has none of its objects
 */
export const withInventory = async <T>(
  stack: OpenStack,
  names: readonly AccountName[],
  options: StackAccountOptions,
  work: (inventory: Inventory) => Promise<T>,
): Promise<T> => {
  const opened = await openAccounts(stack, names, options);
  try {
    const accounts = await Promise.all(
      opened.all.map(async (account) => ({
        ...account,
        reading: await readAccount(account.access),
      })),
    );
    assertSameEmulator(stack, accounts);
    const runs = new Map<AccountName, Run>();
    const runIn = (name: AccountName): Run => {
      // A profile stands in the values of its resources.
      const explicit = isProviderAccount(name) ? name : undefined;
      const run =
        runs.get(explicit) ??
        createRun(async (of = explicit) => accountNamed({ accounts }, of).access);
      runs.set(explicit, run);
      return run;
    };
    const lock = await stack.readLock();
    const states = await stack.readStates("all");
    const { names: stackNames, document } = stack;
    return await work(inventoryOf({ names: stackNames, document, lock, states, accounts, runIn }));
  } finally {
    await opened.close();
  }
};

export const kindIn = ({ reading }: AccountRead, { kind }: Definition): KindReading => {
  const found = reading.kinds.find(({ definition }) => definition.kind === kind);
  if (!found) throw new Error(`${kind} was not read`);
  return found;
};
