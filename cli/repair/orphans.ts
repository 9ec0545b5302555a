import type { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { mergeFields } from "../../provider/definition/merge.js";
import { textTable, wrapped } from "../../provider/kernel/columns.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { asText, type JsonObject, objectOf, type Printed } from "../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../provider/lifecycle/ownership/mark.js";
import {
  markedObjects,
  type Orphan,
  orphansAmong,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import { describeUser, usersOf } from "../../provider/lifecycle/ownership/users.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import type { StackLock } from "../../provider/pulumi-cli/pulumi-queries.js";
import type { StackStates } from "../../provider/pulumi-cli/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/collections.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { accessService, type ServiceAccess } from "../account/open-account.js";
import { CommandFailure, messageOf } from "../command.js";
import { type OpenStack, openStack, type StackOptions } from "../stack/open-stack.js";
import type { StackAccountOptions } from "../stack/stack-accounts.js";
import { whileAlone } from "../stack/while-alone.js";
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
  /** Sentences about what could not be seen. */
  readonly notes: readonly string[];
}

const width = 80;
const leastColumn = 20;

const sections = [
  {
    standing: "left-over",
    heading: "Left over: this stack made it, and no state holds it.",
    advice:
      "pulumi up takes over what the program still declares. To delete all of them: pulumi-conversation orphans --delete",
  },
  {
    standing: "held",
    heading: "Held elsewhere: another stack has it, or a program looks it up.",
    advice: "These are never touched.",
  },
  {
    standing: "copy",
    heading: "Copies: somebody made them from one of ours, description included.",
    advice:
      "These are never deleted. To take our mark off one: pulumi-conversation orphans --release --id <id>",
  },
  {
    standing: "former",
    heading: "Of a former state of this name, or of somebody else's.",
    advice:
      "If they are yours, take the mark off (pulumi-conversation orphans --release --id <id>) and adopt them in a program, or delete them (--delete --id <id>).",
  },
];

const lastCell = (orphan: FoundOrphan, columns: number): string => {
  const { name, label, pending, heldBy = [], deleted, released } = orphan;
  const holders = heldBy.map(({ stack, urn }) => `in ${stack}: ${urn.split("::").at(-1) ?? urn}`);
  const done = deleted ? ["deleted"] : released ? ["released"] : [];
  const lines = [
    name,
    label,
    ...(pending ? ["(its creation is pending)"] : []),
    ...holders,
    ...done,
  ];
  return lines.flatMap((line) => wrapped(line, columns)).join("\n");
};

const tableOf = (found: readonly FoundOrphan[]): readonly string[] => {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length));
  const taken =
    widest(["kind", ...found.map(({ kind }) => kind)]) + widest(found.map(({ id }) => id)) + 4;
  const columns = Math.max(leastColumn, width - taken);
  return textTable(
    ["kind", "id", "name, made by"],
    found.map((orphan) => [orphan.kind, orphan.id, lastCell(orphan, columns)]),
    { whole: ["kind", "id"] },
  );
};

const sectionLines = (
  { standing, heading, advice }: (typeof sections)[number],
  found: readonly FoundOrphan[],
): readonly string[] => {
  const these = found.filter((orphan) => orphan.standing === standing);
  if (these.length === 0) return [];
  const isDone = ({ deleted, released }: FoundOrphan) => deleted === true || released === true;
  const advised = these.every(isDone) ? [] : wrapped(advice, width);
  return [heading, "", ...tableOf(these), "", ...advised, ...(advised.length > 0 ? [""] : [])];
};

const kept = ({ kind, id, reason }: FoundOrphan): readonly string[] =>
  reason === undefined ? [] : wrapped(`Kept: ${kind} ${id}: ${reason}`, width);

/** What was found and done, for people, within 80 columns. */
export const orphansReport = ({ found, names: { project, stack } }: OrphansResult): string => {
  const name = `${project}/${stack}`;
  const lines =
    found.length === 0
      ? [`Nothing at the service is left over from ${name}.`]
      : sections.flatMap((section) => sectionLines(section, found));
  return `${[...lines, ...found.flatMap(kept)].join("\n").trimEnd()}\n`;
};

/** Why an object could not be deleted; a refusal names who still uses it. */
const reasonOf = async (
  error: unknown,
  { definition, id, mark }: Orphan,
  session: AccountSession,
): Promise<string> => {
  if (!isConversationError(error, "REJECTED", "FORBIDDEN")) return messageOf(error);
  const users = await usersOf(definition, id, session, resources);
  if (users.length === 0) return messageOf(error);
  const named = users.map((user) => describeUser(user, mark)).join("; ");
  return `the service refuses (${error.details.status ?? "no status"}), as it is used by ${named}`;
};

/** Deletes an object. @returns why it is still there; undefined: it is gone */
const removeOrphan = async (
  orphan: Orphan,
  session: AccountSession,
): Promise<string | undefined> => {
  try {
    await session.service.remove(orphan.definition, orphan.id);
    return undefined;
  } catch (error) {
    return reasonOf(error, orphan, session);
  }
};

/** The body of the PUT that takes a mark off, and what it would erase as the service hides it. */
interface Unmarked {
  readonly body: JsonObject;
  /** Paths such as `basicAuth.password`. */
  readonly hidden: readonly string[];
}

/** What a person wrote; where that is nothing and a PUT keeps what it leaves out, the name. */
const descriptionOf = (definition: Definition, live: WireObject, keeps: boolean): JsonObject => {
  const { description } = readMark(live.description);
  const written = description ?? (keeps ? nameOnWire(definition, live) : undefined);
  return objectOf([["description", written]]);
};

/** A live object without its mark, everything else as it is. */
const withoutMark = (
  definition: Definition,
  live: WireObject,
  { put }: Pick<Settings, "put">,
): Unmarked => {
  const { id: _, created: __, modified, ...rest } = live;
  const keeps = put === "keep";
  const { body, hidden } = mergeFields({
    fields: definition.fields,
    rule: definition.rule,
    live: rest,
    desired: descriptionOf(definition, live, keeps),
    prior: objectOf([["description", live.description]]),
    keeps,
  });
  return { body: modified === undefined ? body : { ...body, modified }, hidden };
};

/** Takes the mark off an object. @returns why it is still there; undefined: it is gone */
const releaseOrphan = async (
  { definition, id, mark }: Orphan,
  { service, settings }: AccountSession,
): Promise<string | undefined> => {
  try {
    const live = await service.read(definition, id);
    if (!live) return "it is gone";
    const there = readMark(live.description).mark;
    if (!there) return undefined;
    if (there.stack !== mark.stack || there.resource !== mark.resource)
      return `somebody has marked it anew since: ${there.label}`;
    const { body, hidden } = withoutMark(definition, live, settings);
    if (hidden.length > 0)
      return (
        `the service hides ${hidden.join(", ")}, which a change would erase. Take the mark off the end of its ` +
        "description where it can be edited without that, or delete it: orphans --delete --id"
      );
    await service.replace(definition, id, body);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** What is to be done with objects, in words for messages. */
interface Purpose {
  /** Such as `deleted`. */
  readonly done: string;
  readonly option: "--delete" | "--release";
}

/** Changes one object; `assertStill` passes right before anything is sent, once nobody else is at work on it. */
export const changeOrphan = async (
  orphan: Orphan,
  { option }: Purpose,
  access: ServiceAccess,
  assertStill: () => Promise<void>,
): Promise<FoundOrphan> => {
  const act = option === "--delete" ? removeOrphan : releaseOrphan;
  const reason = await access.guarded(assertStill, () => act(orphan, access));
  const ok = reason === undefined;
  return {
    ...shownOrphan(orphan),
    ...(option === "--delete" ? { deleted: ok } : { released: ok }),
    ...(ok ? {} : { reason }),
  };
};

const standings = {
  held: "a state holds it or looks it up",
  copy: "it is a copy that somebody made of one of ours, and belongs to them",
} as const;

/** Why one object may not be touched; undefined where it may. */
const refusalFor = (
  id: string,
  { option }: Purpose,
  orphans: readonly Orphan[],
  { holdings }: StackStates,
): string | undefined => {
  const orphan = orphans.find((each) => each.id === id);
  if (!orphan) {
    const holder = holdings.find((each) => each.id === id);
    return holder
      ? `the state of ${holder.stack} holds it: ${holder.urn}`
      : "no object with this id carries the mark or the name of the stack";
  }
  if (orphan.standing === "held") return standings.held;
  return orphan.standing === "copy" && option === "--delete" ? standings.copy : undefined;
};

/**
 * What may be deleted or released, in the order of the orphans.
 *
 * @param ids only these, where given; else every left-over
 * @throws CommandFailure where one of the ids must not be touched, or where left-overs cannot be told for certain
 */
const chosenAmong = (
  orphans: readonly Orphan[],
  purpose: Purpose,
  states: StackStates,
  ids?: readonly string[],
): readonly Orphan[] => {
  const nothing = `Nothing was ${purpose.done}:`;
  if (ids) {
    const refused = ids.flatMap((id) => {
      const reason = refusalFor(id, purpose, orphans, states);
      return reason ? [`  ${id}: ${reason}`] : [];
    });
    if (refused.length > 0) throw new CommandFailure([nothing, ...refused].join("\n"));
    return orphans.filter(({ id }) => ids.includes(id));
  }
  const leftOver = orphans.filter(({ standing }) => standing === "left-over");
  if (leftOver.length === 0 || states.complete) return leftOver;
  throw new CommandFailure(
    `${nothing} not every stack of the backend could be read, and one of the others may hold what looks left over. ` +
      "Name what is surely not needed: --delete --id <id>",
  );
};

export interface OrphansOptions extends StackOptions, StackAccountOptions {
  readonly delete?: true;
  readonly release?: true;
  readonly ids?: readonly string[];
  /** Go on where the lock cannot be seen. */
  readonly ignoreLock?: true;
  /** Ends it; what was not done by then has that as its reason. */
  readonly signal?: AbortSignal;
}

const atWork = ({ project, stack }: StackNames, by: string | undefined): string =>
  `the stack ${project}/${stack} is locked${by ? ` (${by})` : ""}, so a run may be at work on these objects. ` +
  "Wait until it has ended; if it was killed, run: pulumi cancel. Then try again";

/** Why the lock forbids to change anything; undefined where it does not. */
const lockRefusal = (
  lock: StackLock,
  names: StackNames,
  ignoreLock: boolean,
): string | undefined => {
  if (lock.state === "locked") return atWork(names, lock.by);
  if (lock.state === "free" || ignoreLock) return undefined;
  return (
    `whether a run is at work on the stack ${names.project}/${names.stack} cannot be seen: ${lock.why}. ` +
    "Make sure that none is, then try again with --ignore-lock"
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
      `${name} is locked${lock.by ? ` (${lock.by})` : ""}: what a run is making now is listed too.`,
    );
  if (own.ownership === undefined)
    notes.push(
      `The state of ${name} holds no Ownership: it has made nothing yet, or was destroyed. What carries its name is of a former state, or of another one of the same name.`,
    );
  if (!complete)
    notes.push(
      "Not every stack of the backend could be read; one of the others may hold what is listed.",
    );
  return notes;
};

/**
 * Looks once more, right before an object is changed: no run has taken it over in the meantime, and
 * none is at work.
 *
 * @throws CommandFailure where one has or is
 */
const assertStill = async (
  { definition, id }: Orphan,
  stack: OpenStack,
  ignoreLock: boolean,
): Promise<void> => {
  const states = await stack.readStates("own");
  const holder = states.holdersOf(definition.kind, id)[0];
  if (holder) throw new CommandFailure(`a run has taken it over since: ${holder.urn}`);
  const refusal = lockRefusal(await stack.readLock(), stack.names, ignoreLock);
  if (refusal) throw new CommandFailure(refusal);
};

const purposeOf = ({ delete: remove, release }: OrphansOptions): Purpose | undefined => {
  if (remove) return { done: "deleted", option: "--delete" };
  return release ? { done: "released", option: "--release" } : undefined;
};

/**
 * Finds, and on demand deletes or releases, what carries a stack's mark or name and is in no state.
 * The service is listed before the lock is looked at, and the lock before the states: so whatever a
 * run makes or takes over meanwhile shows in one of the later looks.
 *
 * @throws CommandFailure where a state cannot be read, or where nothing may be changed; ConversationError
 * where the service cannot be listed
 */
export const runOrphans = async (options: OrphansOptions): Promise<OrphansResult> => {
  const stack = await openStack(options);
  const orphans = () => orphansOf(stack, options);
  return purposeOf(options) ? whileAlone(stack, orphans) : orphans();
};

const orphansOf = async (stack: OpenStack, options: OrphansOptions): Promise<OrphansResult> => {
  const { say = () => undefined, ids, clock, signal } = options;
  const { names } = stack;
  const ignoreLock = options.ignoreLock === true;
  const access = accessService(await stack.readSettings(), {
    ...{ environment: stack.env, say, clock, signal },
  });
  try {
    const objects = await markedObjects(access, resources);
    const lock = await stack.readLock();
    const states = await stack.readStates("all");
    const orphans = orphansAmong(objects, names, states, options.release ? ids : []);
    const notes = notesOf(stack, lock, states);
    const purpose = purposeOf(options);
    if (!purpose) return { names, notes, found: orphans.map(shownOrphan) };
    const refusal = lockRefusal(lock, names, ignoreLock);
    if (refusal) throw new CommandFailure(`Nothing was ${purpose.done}: ${refusal}.`);
    const chosen = chosenAmong(orphans, purpose, states, ids);
    const found: FoundOrphan[] = [];
    for (const orphan of orphans)
      found.push(
        chosen.includes(orphan)
          ? await changeOrphan(orphan, purpose, access, () =>
              assertStill(orphan, stack, ignoreLock),
            )
          : shownOrphan(orphan),
      );
    return { names, notes, found };
  } finally {
    await access.close();
  }
};
