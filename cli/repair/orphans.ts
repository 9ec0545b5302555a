import type { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { asText, type JsonObject, objectOf, type Printed } from "../../provider/kernel/json.js";
import { ownershipsOf } from "../../provider/kernel/owner.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { describeUser, usersOf } from "../../provider/lifecycle/delete.js";
import {
  type Mark,
  markOn,
  markText,
  nameOnWire,
  readMark,
} from "../../provider/lifecycle/ownership/mark.js";
import {
  markedAmong,
  type Orphan,
  orphansAmong,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import type { StackStates } from "../../provider/lifecycle/ownership/stack-states.js";
import { writtenOver } from "../../provider/lifecycle/put.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { CommandFailure, messageOf } from "../command.js";
import { readingNotes, type ServiceAccess } from "../inventory/open-account.js";
import {
  exportStack,
  type OpenStack,
  openStack,
  type StackOptions,
  whileAlone,
} from "../inventory/open-stack.js";
import { readAccount } from "../inventory/read-account.js";
import {
  openAccounts,
  providerSources,
  type StackAccountOptions,
} from "../inventory/stack-reading.js";
import type { StackLock } from "../pulumi/pulumi-queries.js";
import { textTable, wrapped } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";
import type { foundOrphanSchema } from "./schemas.js";

/** A marked object that is in no state of its stack, as the command prints it. */
type FoundOrphan = Printed<z.output<typeof foundOrphanSchema>>;

/** An orphan without what only the tool itself needs. */
const shownOrphan = (orphan: Orphan): FoundOrphan => {
  const { definition, name, id, mark, standing, pending, heldBy } = orphan;
  return {
    kind: definition.kind,
    name: asText(name),
    id,
    label: mark.label,
    standing,
    ...(pending ? { pending } : {}),
    ...(heldBy.length > 0 ? { heldBy: heldBy.map(({ stack, urn }) => ({ stack, urn })) } : {}),
  };
};

/** What the command found and did. */
export interface OrphansResult {
  readonly names: StackNames;
  readonly found: readonly FoundOrphan[];
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
  /** Whether the lists of the account are not whole, so that some objects may be missing. */
  readonly isIncomplete: boolean;
}

const sections = [
  {
    standing: "leftover",
    heading: "Leftovers: this stack created them, and no state contains them.",
    advice: `pulumi up adopts those that the program still declares. To delete all of them, run: ${ownCommand("orphans --delete")}`,
  },
  {
    standing: "held",
    heading: "Held elsewhere: another stack manages them, or a program looks them up.",
    advice: "The command never changes these objects.",
  },
  {
    standing: "copy",
    heading: "Copies: a person copied them from this stack's objects, including the mark.",
    advice: `The command never deletes these objects. To remove the mark from one, run: ${ownCommand("orphans --release --id <id>")}`,
  },
  {
    standing: "former",
    heading: "Former: from an earlier state or another stack with this name.",
    advice: `If they are yours, remove the mark (${ownCommand("orphans --release --id <id>")}) and adopt them in a program, or delete them (--delete --id <id>).`,
  },
];

const rowOf = (orphan: FoundOrphan): readonly string[] => {
  const { kind, id, name, label, pending, heldBy = [], deleted, released } = orphan;
  const lines = [
    name,
    label,
    ...(pending ? ["(its creation is pending)"] : []),
    ...heldBy.map(({ stack, urn }) => `in ${stack}: ${urn.split("::").at(-1) ?? urn}`),
    ...(deleted ? ["deleted"] : released ? ["released"] : []),
  ];
  return [kind, id, lines.join("\n")];
};

/** What was found and done, for people, within 80 columns. */
export const orphansReport = ({ found, isIncomplete, names }: OrphansResult): string => {
  const among = isIncomplete ? "What could be read" : "The service";
  if (found.length === 0)
    return `${among} contains no leftovers of ${names.project}/${names.stack}.\n`;
  const blocks = sections.flatMap(({ standing, heading, advice }) => {
    const these = found.filter((orphan) => orphan.standing === standing);
    if (these.length === 0) return [];
    const isDone = these.every(({ deleted, released }) => deleted === true || released === true);
    const columns = ["kind", "id", "name, owner"];
    const table = textTable(columns, these.map(rowOf), { whole: ["kind", "id"] });
    return [[heading], table, isDone ? [] : wrapped(advice, 80)];
  });
  const kept = found.flatMap(({ kind, id, reason }) =>
    reason === undefined ? [] : wrapped(`Kept: ${kind} ${id}: ${reason}`, 80),
  );
  return textReport(...blocks, kept);
};

/** Who changed the mark of an object since it was listed; undefined if nobody did. */
const markedSince = (live: WireObject, listed: Mark): string | undefined => {
  const there = markOn(live);
  if (!there) return "its mark was removed in the meantime";
  return markText(there) === markText(listed)
    ? undefined
    : `its mark changed in the meantime: ${there.label}`;
};

/** @throws CommandFailure if an object carries another mark by now, or none, or cannot be read */
const assertMarked = async (
  { definition, id, mark }: Orphan,
  { service }: AccountSession,
): Promise<void> => {
  const live = await service.read(definition, id).catch((error: unknown) => {
    throw new CommandFailure(messageOf(error));
  });
  const reason = live && markedSince(live, mark);
  if (reason) throw new CommandFailure(reason);
};

/** Deletes an object. @returns why it still exists; undefined if it is gone */
const removeOrphan = async (
  { definition, id, mark }: Orphan,
  session: AccountSession,
): Promise<string | undefined> => {
  try {
    await session.service.remove(definition, id);
    return undefined;
  } catch (error) {
    if (!isConversationError(error, "REJECTED", "FORBIDDEN")) return messageOf(error);
    const users = await usersOf(definition, id, session, resources);
    if (users.length === 0) return messageOf(error);
    const named = users.map((user) => describeUser(user, mark)).join("; ");
    return `the service refuses the deletion (${error.details.status ?? "no status"}) because the object is in use by ${named}`;
  }
};

/**
 * The body of the PUT that takes the mark off a live object and leaves everything else as it is,
 * and the members that it would erase because the service hides them, such as `basicAuth.password`.
 */
const withoutMark = (
  definition: Definition,
  live: WireObject,
  settings: Pick<Settings, "platformName" | "put">,
): { readonly body: JsonObject; readonly hidden: readonly string[] } => {
  // What a person wrote; if there is nothing and a PUT keeps omitted members, the name.
  const { description = settings.put === "keep" ? nameOnWire(definition, live) : undefined } =
    readMark(live.description);
  return writtenOver({ definition, settings }, live, {
    desired: { fields: objectOf([["description", description]]) },
    prior: objectOf([["description", live.description]]),
  });
};

/** Takes the mark off an object. @returns why it is still there; undefined if it is gone */
const releaseOrphan = async (
  { definition, id, mark, standing }: Orphan,
  { service, settings }: AccountSession,
): Promise<string | undefined> => {
  try {
    const live = await service.read(definition, id);
    if (!live) return "the object no longer exists";
    if (!markOn(live)) return undefined;
    const reason = markedSince(live, mark);
    if (reason) return reason;
    const { body, hidden } = withoutMark(definition, live, settings);
    if (hidden.length > 0) {
      // The command never deletes a copy.
      const how = standing === "copy" ? "" : `: ${ownCommand(`orphans --delete --id ${id}`)}`;
      return (
        `the service hides ${hidden.join(", ")}, which a change would erase. Remove the mark from the end of its ` +
        `description with a tool that keeps these members, or delete the object${how}`
      );
    }
    await service.replace(definition, id, body);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

type Purpose = "delete" | "release";

/**
 * Deletes or releases an object. Right before anything is sent, it checks again whether a run has
 * taken the object over in the meantime: one of this stack, or of any other, which shows in its mark.
 *
 * @param assertNobody passes if nobody else is working on the stack
 * @returns why it was not done; undefined if it was
 */
export const changeOrphan = (
  orphan: Orphan,
  purpose: Purpose,
  access: ServiceAccess,
  stack: OpenStack,
  assertNobody: () => Promise<unknown>,
): Promise<string | undefined> => {
  const assertStill = async (): Promise<void> => {
    const { definition, id } = orphan;
    const [holder] = (await stack.readStates("own")).holdersOf(definition.kind, id);
    if (holder) throw new CommandFailure(`a run adopted the object in the meantime: ${holder.urn}`);
    await assertNobody();
    // A release has just read it.
    if (purpose === "delete") await assertMarked(orphan, access);
  };
  const act = purpose === "delete" ? removeOrphan : releaseOrphan;
  return access.guarded(assertStill, () => act(orphan, access));
};

const standings = {
  held: "a state contains the object, or a program looks it up",
  copy: "a person copied the object from one of this stack's objects",
} as const;

/** Why one object may not be touched; undefined if it may. */
const refusalFor = (
  id: string,
  purpose: Purpose,
  orphans: readonly Orphan[],
  { holdings }: StackStates,
): string | undefined => {
  const orphan = orphans.find((each) => each.id === id);
  if (!orphan) {
    const holder = holdings.find((each) => each.id === id);
    return holder
      ? `the state of ${holder.stack} contains the object: ${holder.urn}`
      : "no object with this ID carries the stack's mark or name";
  }
  if (orphan.standing === "held") return standings.held;
  return orphan.standing === "copy" && purpose === "delete" ? standings.copy : undefined;
};

/**
 * What may be deleted or released, in the order of the orphans.
 *
 * @param ids only these, if given; else every leftover
 * @throws CommandFailure if one of the IDs must not be touched, or if it is not certain what is left over
 */
const chosenAmong = (
  orphans: readonly Orphan[],
  purpose: Purpose,
  states: StackStates,
  ids?: readonly string[],
): readonly Orphan[] => {
  const nothing = `Nothing was ${purpose}d:`;
  if (ids) {
    const refused = ids.flatMap((id) => {
      const reason = refusalFor(id, purpose, orphans, states);
      return reason ? [`  ${id}: ${reason}`] : [];
    });
    if (refused.length > 0) throw new CommandFailure([nothing, ...refused].join("\n"));
    return orphans.filter(({ id }) => ids.includes(id));
  }
  const leftover = orphans.filter(({ standing }) => standing === "leftover");
  if (leftover.length === 0 || states.complete) return leftover;
  throw new CommandFailure(
    `${nothing} the command could not read every stack in the backend, and an unread stack may contain these objects. ` +
      "Specify the objects that you are sure you do not need: --delete --id <id>",
  );
};

export interface OrphansOptions extends StackOptions, StackAccountOptions {
  readonly delete?: true;
  readonly release?: true;
  readonly ids?: readonly string[];
  /** Go on if the lock cannot be seen. */
  readonly ignoreLock?: true;
  /** Ends the command; what was not done by then gets that as its reason. */
  readonly signal?: AbortSignal;
}

/** Why the lock forbids changes; undefined if it does not. */
const lockRefusal = (
  lock: StackLock,
  { project, stack }: StackNames,
  ignoreLock: boolean,
): string | undefined => {
  if (lock.state === "locked")
    return (
      `the stack ${project}/${stack} is locked${lock.by ? ` (${lock.by})` : ""}, so a run may be changing these objects. ` +
      "Wait until it ends; if it was killed, run pulumi cancel. Then try again"
    );
  if (lock.state === "free" || ignoreLock) return undefined;
  return (
    `the command cannot see whether a run is in progress on the stack ${project}/${stack}: ${lock.why}. ` +
    "If you are sure that no run is in progress, try again with --ignore-lock"
  );
};

const notesOf = (
  { names: { project, stack } }: OpenStack,
  lock: StackLock,
  { own, complete }: StackStates,
): readonly string[] => {
  const name = `${project}/${stack}`;
  const notes: string[] = [];
  if (lock.state === "locked")
    notes.push(
      `${name} is locked${lock.by ? ` (${lock.by})` : ""}: the list may include objects that a run is creating now.`,
    );
  if (ownershipsOf(own).length === 0)
    notes.push(
      `The state of ${name} contains no Ownership: the stack has not created anything yet, or was destroyed. Objects that carry its name come from an earlier state, or from another stack with the same name.`,
    );
  if (!complete)
    notes.push(
      "The command could not read every stack in the backend; an unread stack may contain the listed objects.",
    );
  return notes;
};

/**
 * Finds, and on demand deletes or releases, what carries a stack's mark or name and is in no state.
 * It lists the service first, then reads the lock, then the states: so whatever a run makes or
 * takes over meanwhile shows in a later reading.
 *
 * @throws CommandFailure if a state cannot be read, or if nothing may be changed; ConversationError
 * if the service cannot be listed
 */
export const runOrphans = async (options: OrphansOptions): Promise<OrphansResult> => {
  const stack = await openStack(options);
  const orphans = () => orphansOf(stack, options);
  return options.delete || options.release ? whileAlone(stack, orphans) : orphans();
};

/**
 * The accounts to look in: that of the profile, else that of the settings without one, if there are
 * any, and those of the explicit providers in the state, which no option can name.
 */
const openSearched = async (stack: OpenStack, options: OrphansOptions) => {
  const { profile } = options;
  const sealed = profile === undefined ? await exportStack(stack.place) : undefined;
  const explicit = [...(sealed ? providerSources(sealed, stack.env).keys() : [])];
  if (explicit.length === 0) return openAccounts(stack, undefined, [profile], options);
  const isLeftOut = await stack.readSettings().then(
    () => false,
    (error: unknown) => isConversationError(error, "SETTINGS_MISSING"),
  );
  const document = await exportStack(stack.place, "clear");
  return openAccounts(stack, document, isLeftOut ? explicit : [undefined, ...explicit], options);
};

const orphansOf = async (stack: OpenStack, options: OrphansOptions): Promise<OrphansResult> => {
  const { ids, ignoreLock = false } = options;
  const { names } = stack;
  const opened = await openSearched(stack, options);
  try {
    const read = await Promise.all(
      opened.all.map(async ({ access }) => ({ access, ...(await readAccount(access)) })),
    );
    for (const { error } of read.flatMap(({ kinds }) => kinds)) if (error) throw error;
    const objects = read.map(({ access, kinds }) => ({ access, marked: markedAmong(kinds) }));
    const lock = await stack.readLock();
    const states = await stack.readStates("all");
    const places = new Map(
      objects.flatMap(({ access, marked }) =>
        orphansAmong(marked, names, states, options.release ? ids : []).map(
          (orphan) => [orphan, access] as const,
        ),
      ),
    );
    const orphans = [...places.keys()];
    const unread = read.flatMap(readingNotes);
    const notes = [...unread, ...notesOf(stack, lock, states)];
    const isIncomplete = unread.length > 0;
    const purpose = options.delete ? "delete" : options.release && "release";
    if (!purpose) return { names, notes, isIncomplete, found: orphans.map(shownOrphan) };
    const refusal = lockRefusal(lock, names, ignoreLock);
    if (refusal) throw new CommandFailure(`Nothing was ${purpose}d: ${refusal}.`);
    const chosen = chosenAmong(orphans, purpose, states, ids);
    const assertUnlocked = async (): Promise<void> => {
      const since = lockRefusal(await stack.readLock(), names, ignoreLock);
      if (since) throw new CommandFailure(since);
    };
    const found: FoundOrphan[] = [];
    for (const [orphan, access] of places) {
      const shown = shownOrphan(orphan);
      if (!chosen.includes(orphan)) {
        found.push(shown);
        continue;
      }
      const reason = await changeOrphan(orphan, purpose, access, stack, assertUnlocked);
      const isDone = reason === undefined;
      const done = purpose === "delete" ? { deleted: isDone } : { released: isDone };
      found.push({ ...shown, ...done, ...(isDone ? {} : { reason }) });
    }
    return { names, notes, isIncomplete, found };
  } finally {
    await opened.close();
  }
};
