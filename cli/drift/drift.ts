import { z } from "zod";
import { changesOf } from "../../provider/definition/changes.js";
import type { Printed } from "../../provider/kernel/json.js";
import { ownershipsOf } from "../../provider/kernel/pulumi.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import {
  type Properties,
  propertiesIn,
  stackMark,
  stackOfLabel,
} from "../../provider/lifecycle/resource.js";
import { type AskedStack, messageOf, sameStackCommand } from "../command.js";
import {
  type Inventory,
  type InventoryItem,
  kindIn,
  withInventory,
} from "../inventory/inventory.js";
import { openStack, type StackOptions } from "../inventory/open-stack.js";
import { unreadKinds } from "../inventory/read-account.js";
import { accountsIn, type StackAccountOptions } from "../inventory/stack-accounts.js";
import {
  accountIn,
  openedValues,
  type StateResource,
  sealedFields,
  veiledIn,
} from "../pulumi/stack-documents.js";
import { pendingOperations } from "../pulumi/stack-states.js";

const object = { kind: z.string(), name: z.string(), id: z.string() };
const managed = { ...object, urn: z.string() };
const who = z.string().describe("Who may have made the change, as text without a period");

const driftChangeSchema = z.strictObject({
  path: z.string().describe("The path in a program, such as roles[custom_bot].callback"),
  state: z
    .exactOptional(z.string())
    .describe("The value in the state, as short JSON text; [secret] for a secret"),
  live: z.exactOptional(z.string()).describe("The value in the service, as short JSON text"),
});

const changedSchema = z.strictObject({
  ...managed,
  changes: z.array(driftChangeSchema),
  modified: z
    .exactOptional(z.string())
    .describe("The time of the last change, according to the service"),
  who,
});

const deletedSchema = z.strictObject({
  ...managed,
  who,
  elsewhere: z
    .exactOptional(z.literal(true))
    .describe(
      "True if the account has none of the stack's objects, so that its settings may lead to another account",
    ),
});

const unmanagedSchema = z.strictObject({
  ...object,
  standing: z
    .enum(["foreign", "leftover", "copy", "former"])
    .describe(
      "`foreign`: has no mark. `leftover`: a stack of the backend created it. `copy`: a person copied it from a stack's object. `former`: is from a state that no longer exists or that the command cannot read",
    ),
  label: z
    .exactOptional(z.string())
    .describe("Project, stack, and logical name in the object's mark"),
});

const otherStacksSchema = z.strictObject({
  ...object,
  stack: z.string().describe("The stack that manages the object, or the stack named in its mark"),
});

/** Shape of what `drift --json` prints. */
export const driftSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  readAt: z.iso.datetime(),
  consistent: z.boolean().describe("False if an account changed while the command was reading it"),
  drift: z.boolean().describe("Whether `changed`, `deleted`, or `unmanaged` contains an object"),
  changed: z.array(changedSchema).describe("Objects that differ from the state"),
  deleted: z.array(deletedSchema).describe("Objects that no longer exist"),
  unmanaged: z.array(unmanagedSchema).describe("Objects that belong to no stack"),
  otherStacks: z.array(otherStacksSchema),
  unread: z
    .array(z.strictObject({ kind: z.string(), problem: z.string() }))
    .describe("Kinds of which the command could not read everything, with the reason for each"),
  compared: z.int().min(0).describe("Number of compared stack resources"),
  notes: z.array(z.string()),
});

/** The differences between a stack and the service. */
export type DriftResult = Printed<z.output<typeof driftSchema>>;

export type DriftChange = DriftResult["changed"][number]["changes"][number];

/** A resource of the stack that represents an object, compared with the object as it was read. */
interface ComparedObject {
  readonly item: InventoryItem;
  readonly before: Properties;
  readonly changes: readonly DriftChange[];
  /** When the object was changed, if later than this stack's last write. */
  readonly changedSince?: string;
  /** Whether a run of this stack began something on it without reporting the result. */
  readonly isInterrupted: boolean;
  /** Whether the account no longer has it. A kind that could not be read whole proves nothing. */
  readonly isGone: boolean;
  /** Why the object itself could not be read, if it had to be. */
  readonly problem?: string;
}

/**
 * A path as fields are named in it, such as `roles[].headers.X-Key`: an index of `ignoreChanges`
 * stands for every item, and `.*` for everything below.
 */
const fieldOf = (path: string): string =>
  path
    .replaceAll(/\["([^"[\]]*)"\]/g, ".$1")
    .replaceAll(/\[[^[\]]*\]/g, "[]")
    .replace(/\.\*$/, "");

/** Whether a change is in what a resource ignores (Pulumi's option `ignoreChanges`). */
const isIgnored = (path: string, { ignoreChanges }: StateResource): boolean => {
  const field = fieldOf(path);
  return (ignoreChanges ?? []).some((each) => {
    const ignored = fieldOf(each);
    return (
      ignored === "*" || `${field}.`.startsWith(`${ignored}.`) || field.startsWith(`${ignored}[`)
    );
  });
};

/**
 * Compares a resource of the stack with its object. Reads nothing but what the lists have shown, if
 * they show whole objects; only the object itself proves that it is gone, as a list may be behind.
 * Secrets are not compared: they are as the state has them.
 *
 * @param isElsewhere whether its account is known to lack all objects of the stack
 */
const compareObject = async (
  item: InventoryItem,
  { document, runIn }: Inventory,
  isElsewhere: boolean,
): Promise<ComparedObject> => {
  const { definition, id, live, resource } = item;
  const values = openedValues(resource?.outputs);
  const before = propertiesIn(values);
  const isInterrupted =
    Array.isArray(resource?.initErrors) ||
    pendingOperations(document).some((operation) => operation.resource.urn === resource?.urn);
  const known = { item, before, isInterrupted, changes: [], isGone: isElsewhere };
  if (!resource || isElsewhere || !(live || isRead(item))) return known;
  const run = runIn(accountIn(resource));
  const answer = await lifecycle(definition, run).read(id, values).catch(messageOf);
  if (typeof answer === "string") return { ...known, problem: answer };
  const { id: found, props } = answer;
  if (found === "") return { ...known, isGone: true };
  const now = propertiesIn(openedValues(props));
  const shown = veiledIn(
    [resource.inputs, resource.outputs].flatMap((each = {}) => sealedFields(definition, each)),
  );
  const changes = changesOf(definition.fields, now.fields, before.fields);
  const { modified } = now.record;
  return {
    ...known,
    changes: changes
      .filter(({ path }) => !isIgnored(path, resource))
      .map(({ path, from, to }) => ({
        path,
        ...(to === undefined ? {} : { state: shown(path, to) }),
        ...(from === undefined ? {} : { live: shown(path, from) }),
      })),
    ...(modified && modified !== before.record.modified ? { changedSince: modified } : {}),
  };
};

/**
 * Compares all objects of the stack. If an account lists none of them, it is probably another one:
 * then its first object speaks for all, so that a large stack does not cost a call for each.
 */
const compareObjects = async (inventory: Inventory): Promise<readonly ComparedObject[]> => {
  const managed = inventory.items.filter(({ standing }) => standing === "managed");
  const compared = [...Map.groupBy(managed, ({ account }) => account).values()].map(
    async (items) => {
      const first = items.some(({ live }) => live) ? undefined : items.find(isRead);
      const probe = first && (await compareObject(first, inventory, false));
      return Promise.all(
        items.map((item) =>
          probe && item === first
            ? probe
            : compareObject(item, inventory, probe?.isGone === true && isRead(item)),
        ),
      );
    },
  );
  return (await Promise.all(compared)).flat();
};

const shownManaged = ({ item: { definition, name, id, resource } }: ComparedObject) => ({
  kind: definition.kind,
  name,
  id,
  urn: resource?.urn ?? "",
});

const findChanger = (
  { item: { mark, isCopy }, changedSince, before, isInterrupted }: ComparedObject,
  { states }: Inventory,
): string => {
  const own = ownershipsOf(states.own).map(stackMark);
  if (mark && !isCopy && own.length > 0 && !own.includes(mark.stack))
    return `the stack that its mark names: ${mark.label}`;
  if (isInterrupted) return "perhaps an interrupted or failed run of this stack";
  if (changedSince === undefined)
    return "unknown: the object has not changed since this stack last wrote or read it";
  const since = before.record.modified ?? before.record.created;
  return `someone else: this stack last wrote or read the object ${since ? `as of ${since}` : "before that"}`;
};

const findChanged = (
  objects: readonly ComparedObject[],
  inventory: Inventory,
): DriftResult["changed"] =>
  objects
    .filter(({ changes }) => changes.length > 0)
    .map((object) => ({
      ...shownManaged(object),
      changes: object.changes,
      ...(object.changedSince ? { modified: object.changedSince } : {}),
      who: findChanger(object, inventory),
    }));

/** What the account no longer has. */
const findDeleted = (objects: readonly ComparedObject[]): DriftResult["deleted"] => {
  const holding = new Set(
    objects.flatMap(({ item, isGone }) =>
      !isGone && (item.live || isRead(item)) ? [item.account] : [],
    ),
  );
  return objects
    .filter(({ isGone }) => isGone)
    .map((object) => {
      const { account } = object.item;
      // Its settings may lead to another account, as a state does not say where its objects were made.
      const isElsewhere = !holding.has(account);
      const { baseUrl } = account.access.settings;
      const who = isElsewhere
        ? `unknown: the account at ${baseUrl} has none of the stack's objects`
        : "someone else: none of this stack's runs deleted the object";
      return {
        ...shownManaged(object),
        who: object.isInterrupted ? "perhaps an interrupted run of this stack" : who,
        ...(isElsewhere ? { elsewhere: true as const } : {}),
      };
    });
};

const isRead = ({ account, definition }: InventoryItem): boolean =>
  kindIn(account, definition).problem === undefined;

/** All objects of the accounts that this stack does not hold: in no stack at all, or in another one. */
const findBeside = ({ items }: Inventory) => {
  const unmanaged: DriftResult["unmanaged"][number][] = [];
  const otherStacks: DriftResult["otherStacks"][number][] = [];
  const begun: string[] = [];
  for (const { definition, name, id, mark, standing, isPending, heldBy } of items) {
    const shown = { kind: definition.kind, name, id };
    const label = mark?.label ?? "";
    if (standing === "managed") continue;
    if (standing === "held") otherStacks.push({ ...shown, stack: heldBy[0]?.stack ?? "" });
    // A state that cannot be read from here, such as one in another backend, may well hold it.
    else if (standing === "elsewhere") otherStacks.push({ ...shown, stack: stackOfLabel(label) });
    else if (standing === "leftover" && isPending) begun.push(`${shown.kind} "${name}" (ID ${id})`);
    else unmanaged.push({ ...shown, standing, ...(mark ? { label } : {}) });
  }
  return { unmanaged, otherStacks, begun };
};

const notesOf = (
  objects: readonly ComparedObject[],
  begun: readonly string[],
  { gaps, notes }: Inventory,
  asked: AskedStack,
): readonly string[] => {
  const touched = objects.filter(
    ({ changedSince, changes }) => changedSince !== undefined && changes.length === 0,
  );
  return [
    ...notes,
    ...begun.map(
      (object) =>
        `A run of this stack is creating ${object}. If that run was killed, use: ${sameStackCommand("repair", asked)}`,
    ),
    ...touched.map(
      ({ item: { definition, name }, changedSince }) =>
        `${definition.kind} "${name}" changed at ${changedSince}, but not in a compared field: one that the program declares, does not ignore, and that is no secret.`,
    ),
    ...gaps,
    ...objects.flatMap(({ problem }) => problem ?? []),
  ];
};

export const driftIn = async (
  inventory: Inventory,
  { managedOnly, signal, ...asked }: AskedStack & Pick<DriftOptions, "managedOnly" | "signal">,
): Promise<DriftResult> => {
  const { names, accounts, consistent, unread } = inventory;
  const objects = await compareObjects(inventory);
  // What an interruption keeps from being read is no part of a report.
  signal?.throwIfAborted();
  const changed = findChanged(objects, inventory);
  const deleted = findDeleted(objects);
  const { begun, ...beside } = managedOnly
    ? { unmanaged: [], otherStacks: [], begun: [] }
    : findBeside(inventory);
  return {
    ...names,
    readAt: accounts[0]?.reading.readAt ?? new Date().toISOString(),
    consistent,
    drift: changed.length + deleted.length + beside.unmanaged.length > 0,
    changed,
    deleted,
    ...beside,
    unread: [...unread, ...unreadKinds(objects.map(({ item, problem }) => ({ ...item, problem })))],
    compared: objects.filter(({ item, problem }) => !problem && (item.live || isRead(item))).length,
    notes: notesOf(objects, begun, inventory, asked),
  };
};

interface DriftOptions extends StackOptions, StackAccountOptions {
  /** Only what the stack's state holds; other objects of the account do not count. */
  readonly managedOnly?: true;
}

/**
 * Compares a stack with the service: what its state has with what is live, and lists what else
 * exists. Reads states, lists, and the objects that these lack or show otherwise; changes nothing.
 *
 * @throws CommandFailure if the state cannot be read; ConversationError if nothing of the service can
 */
export const runDrift = async (options: DriftOptions): Promise<DriftResult> => {
  const stack = await openStack(options);
  const used = accountsIn(stack.document);
  const names = used.length > 0 ? used : [undefined];
  return withInventory(stack, names, options, (inventory) => driftIn(inventory, options));
};
