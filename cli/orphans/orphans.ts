import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { deletionOrder, nameOnWire } from "../../provider/definition/kinds.js";
import { writtenOver } from "../../provider/definition/wire.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { type JsonObject, objectOf, type Printed } from "../../provider/kernel/json.js";
import { describeUser, usersOf } from "../../provider/lifecycle/delete.js";
import { markOn, readMark } from "../../provider/lifecycle/ownership.js";
import { markText, stackLabel } from "../../provider/lifecycle/resource.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import type { Mark } from "../../provider/lifecycle/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/settings.js";
import { type AskedStack, CommandFailure, messageOf, sameStackCommand } from "../command.js";
import { type Inventory, type InventoryItem, withInventory } from "../inventory/inventory.js";
import {
  assertNoRun,
  type OpenStack,
  openStack,
  type StackNames,
  type StackOptions,
  whileAlone,
} from "../inventory/open-stack.js";
import { accountNames, type StackAccountOptions } from "../inventory/stack-accounts.js";
import { textTable, wrapped } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";

/** Shape of a marked object that is in no state of its stack. */
const foundOrphanSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z.string(),
  label: z.string().describe("Project, stack, and logical name in the object's mark"),
  standing: z.enum(["leftover", "held", "copy", "former"]),
  pending: z
    .exactOptional(z.literal(true))
    .describe("True if a run did not finish creating the object; the next `up` adopts it"),
  heldBy: z
    .exactOptional(z.array(z.strictObject({ stack: z.string(), urn: z.string() })))
    .describe("The resources that manage or look up the object"),
  deleted: z.exactOptional(z.boolean()).describe("With --delete: whether the object was deleted"),
  released: z.exactOptional(z.boolean()).describe("With --release: whether its mark was removed"),
  reason: z.exactOptional(z.string()).describe("Why the object was not deleted or released"),
});

/** Shape of what `orphans --json` prints. */
export const orphansSchema = z.array(foundOrphanSchema);

type FoundOrphan = Printed<z.output<typeof foundOrphanSchema>>;

/** A marked object that is not in its stack's state. */
export interface Orphan extends InventoryItem {
  readonly mark: Mark;
  readonly standing: FoundOrphan["standing"];
}

/**
 * The standing of an object that carries a stack's mark or name and is not in its state; undefined
 * for others. What another stack holds, or any program looks up, counts as held.
 *
 * @param asked IDs of further objects, which may carry the mark of a stack that no longer exists
 */
export const orphanStanding = (
  item: Pick<InventoryItem, "mark" | "id" | "standing" | "isOwn" | "heldBy" | "readBy">,
  { names: { project, stack }, states }: Pick<Inventory, "names" | "states">,
  asked: readonly string[] = [],
): Orphan["standing"] | undefined => {
  const { mark, id, standing, isOwn, heldBy, readBy } = item;
  if (!mark || standing === "managed") return undefined;
  const isNamed = mark.label.startsWith(`${stackLabel(project, stack)} `);
  // The leftovers of a removed stack can be named by id from any stack that sees all others.
  const isAsked = states.complete && asked.includes(id);
  if (!isOwn && !isNamed && !isAsked) return undefined;
  if (heldBy.length + readBy.length > 0) return "held";
  if (standing === "former" || standing === "elsewhere") return "former";
  // The leftovers of another stack, such as a renamed one, are for that stack to find.
  return isOwn && (standing === "leftover" || standing === "copy") ? standing : undefined;
};

/** The orphans of a stack, in an order in which they can be deleted. */
export const orphansIn = (
  inventory: Inventory,
  asked: readonly string[] = [],
): readonly Orphan[] => {
  const order = deletionOrder(resources);
  const orphans = inventory.items.flatMap((item): readonly Orphan[] => {
    const standing = orphanStanding(item, inventory, asked);
    return item.mark && standing ? [{ ...item, mark: item.mark, standing }] : [];
  });
  return orphans.toSorted((a, b) => order.indexOf(a.definition) - order.indexOf(b.definition));
};

/** An orphan without what only the tool itself needs. */
const shownOrphan = (orphan: Orphan): FoundOrphan => {
  const { definition, name, id, mark, standing, isPending, heldBy, readBy } = orphan;
  const holders = [...heldBy, ...readBy].map(({ stack, urn }) => ({ stack, urn }));
  return {
    kind: definition.kind,
    name,
    id,
    label: mark.label,
    standing,
    ...(isPending ? { pending: true as const } : {}),
    ...(holders.length > 0 ? { heldBy: holders } : {}),
  };
};

export interface OrphansResult {
  readonly names: StackNames;
  readonly found: readonly FoundOrphan[];
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
  /** Whether the lists of the account are not whole, so that some objects may be missing. */
  readonly isIncomplete: boolean;
}

const sectionsFor = (asked: AskedStack) => [
  {
    standing: "leftover",
    heading: "Leftovers: this stack created them, and no state contains them.",
    advice: `pulumi up adopts those that the program still declares. To delete all of them, run: ${sameStackCommand("orphans --delete", asked)}`,
  },
  {
    standing: "held",
    heading: "Held elsewhere: another stack manages them, or a program looks them up.",
    advice: "The command never changes these objects.",
  },
  {
    standing: "copy",
    heading: "Copies: a person copied them from this stack's objects, including the mark.",
    advice: `The command never deletes these objects. To remove the mark from one, run: ${sameStackCommand("orphans --release --id <id>", asked)}`,
  },
  {
    standing: "former",
    heading: "Former: from an earlier state or another stack with this name.",
    advice: `If they are yours, remove the mark (${sameStackCommand("orphans --release --id <id>", asked)}) and adopt them in a program, or delete them (--delete --id <id>).`,
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

export const orphansReport = (
  { found, isIncomplete, names }: OrphansResult,
  asked: AskedStack,
): string => {
  const among = isIncomplete ? "What could be read" : "The service";
  if (found.length === 0)
    return `${among} contains no leftovers of ${names.project}/${names.stack}.\n`;
  const blocks = sectionsFor(asked).flatMap(({ standing, heading, advice }) => {
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

/** Whether somebody changed the mark of an object since it was listed. */
const isMarkedAnew = (live: WireObject, listed: Mark): boolean => {
  const there = markOn(live);
  return !there || markText(there) !== markText(listed);
};

const markedAnew = "its mark was changed or removed in the meantime";

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
  return writtenOver(definition, settings, {
    live,
    desired: objectOf([["description", description]]),
    prior: objectOf([["description", live.description]]),
  });
};

/** Takes the mark off an object. @returns why it is still there; undefined if it is gone */
const releaseOrphan = async (
  { definition, id, mark, standing }: Orphan,
  { service, settings }: AccountSession,
  asked: AskedStack,
): Promise<string | undefined> => {
  try {
    const live = await service.read(definition, id);
    if (!live) return "the object no longer exists";
    if (!markOn(live)) return undefined;
    if (isMarkedAnew(live, mark)) return markedAnew;
    const { body, hidden } = withoutMark(definition, live, settings);
    if (hidden.length > 0) {
      // The command never deletes a copy.
      const how =
        standing === "copy" ? "" : `: ${sameStackCommand(`orphans --delete --id ${id}`, asked)}`;
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

/** The stack as the command line names it, and how to act on it. */
export interface OrphanChange extends AskedStack {
  /** Go on if the backend does not show its locks. */
  readonly ignoreLock?: true;
}

/**
 * Deletes or releases an object. Right before anything is sent, it checks again whether a run has
 * taken the object over in the meantime: one of this stack, or of any other, which shows in its mark.
 *
 * @returns why it was not done; undefined if it was
 */
export const changeOrphan = (
  orphan: Orphan,
  purpose: Purpose,
  stack: OpenStack,
  options: OrphanChange,
): Promise<string | undefined> => {
  const { definition, id, mark } = orphan;
  const { access } = orphan.account;
  const assertStill = async (): Promise<void> => {
    const [holder] = (await stack.readStates("own")).holdersOf(definition.kind, id);
    if (holder) throw new CommandFailure(`a run adopted the object in the meantime: ${holder.urn}`);
    await assertNoRun(stack, options.ignoreLock);
    // A release has just read it.
    if (purpose === "release") return;
    const live = await access.service.read(definition, id).catch((error: unknown) => {
      throw new CommandFailure(messageOf(error));
    });
    if (live && isMarkedAnew(live, mark)) throw new CommandFailure(markedAnew);
  };
  return access.guarded(assertStill, () =>
    purpose === "delete" ? removeOrphan(orphan, access) : releaseOrphan(orphan, access, options),
  );
};

/** Why one object may not be touched; undefined if it may. */
const refusalFor = (
  id: string,
  purpose: Purpose,
  orphans: readonly Orphan[],
  { states }: Inventory,
): string | undefined => {
  const orphan = orphans.find((each) => each.id === id);
  if (!orphan) {
    const holder = states.holdings.find((each) => each.id === id);
    return holder
      ? `the state of ${holder.stack} contains the object: ${holder.urn}`
      : "no object with this ID carries the stack's mark or name";
  }
  if (orphan.standing === "held") return "a state contains the object, or a program looks it up";
  return orphan.standing === "copy" && purpose === "delete"
    ? "a person copied the object from one of this stack's objects"
    : undefined;
};

/**
 * What may be deleted or released, in the order of the orphans.
 *
 * @param ids only these, if given; else every leftover
 * @throws CommandFailure if one of the IDs must not be touched, or if it is not certain what is left over
 */
const chooseOrphans = (
  orphans: readonly Orphan[],
  purpose: Purpose,
  inventory: Inventory,
  ids?: readonly string[],
): readonly Orphan[] => {
  const nothing = `Nothing was ${purpose}d:`;
  if (ids) {
    const refused = ids.flatMap((id) => {
      const reason = refusalFor(id, purpose, orphans, inventory);
      return reason ? [`  ${id}: ${reason}`] : [];
    });
    if (refused.length > 0) throw new CommandFailure([nothing, ...refused].join("\n"));
    return orphans.filter(({ id }) => ids.includes(id));
  }
  const leftover = orphans.filter(({ standing }) => standing === "leftover");
  if (leftover.length === 0 || inventory.states.complete) return leftover;
  throw new CommandFailure(
    `${nothing} the command could not read every stack in the backend, and an unread stack may contain these objects. ` +
      "Specify the objects that you are sure you do not need: --delete --id <id>",
  );
};

export interface OrphansOptions extends StackOptions, StackAccountOptions, OrphanChange {
  readonly delete?: true;
  readonly release?: true;
  readonly ids?: readonly string[];
}

/**
 * Finds, and on demand deletes or releases, what carries a stack's mark or name and is in no state.
 *
 * @throws CommandFailure if a state cannot be read, or if nothing may be changed; ConversationError
 * if the service cannot be listed
 */
export const runOrphans = async (options: OrphansOptions): Promise<OrphansResult> => {
  const stack = await openStack(options);
  const { names } = stack;
  const { ids, profile } = options;
  const purpose = options.delete ? "delete" : options.release && "release";
  const findAndChange = async (inventory: Inventory): Promise<OrphansResult> => {
    const { kinds, gaps, notes } = inventory;
    for (const { error } of kinds) if (error) throw error;
    const orphans = orphansIn(inventory, options.release ? ids : []);
    const known = { names, notes: [...gaps, ...notes], isIncomplete: gaps.length > 0 };
    if (!purpose) return { ...known, found: orphans.map(shownOrphan) };
    await assertNoRun(stack, options.ignoreLock);
    const chosen = chooseOrphans(orphans, purpose, inventory, ids);
    const found: FoundOrphan[] = [];
    for (const orphan of orphans) {
      if (!chosen.includes(orphan)) {
        found.push(shownOrphan(orphan));
        continue;
      }
      const reason = await changeOrphan(orphan, purpose, stack, options);
      const isDone = reason === undefined;
      const done = purpose === "delete" ? { deleted: isDone } : { released: isDone };
      found.push({ ...shownOrphan(orphan), ...done, ...(isDone ? {} : { reason }) });
    }
    return { ...known, found };
  };
  const { entries } = await stack.readConfig();
  const searched = profile === undefined ? accountNames(stack, entries) : [profile];
  const search = () => withInventory(stack, searched, options, findAndChange);
  return purpose ? whileAlone(stack, search) : search();
};
