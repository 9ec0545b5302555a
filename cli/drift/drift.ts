import { z } from "zod";
import { changesOf } from "../../provider/definition/changes.js";
import type { Printed } from "../../provider/kernel/json.js";
import { ownershipsOf } from "../../provider/kernel/owner.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { nameOnWire, stackMark, stackOfLabel } from "../../provider/lifecycle/ownership/mark.js";
import { type Properties, propertiesIn } from "../../provider/lifecycle/resource.js";
import { currentDocuments } from "../forecast/documents.js";
import { blastRadius, blastRadiusSchema, changesOfPreview } from "../inventory/blast-radius.js";
import {
  type Inventory,
  type InventoryItem,
  kindIn,
  withInventory,
} from "../inventory/inventory.js";
import { exportStack, openStack, type StackOptions } from "../inventory/open-stack.js";
import { accountsIn, type StackAccountOptions } from "../inventory/stack-accounts.js";
import { accountIn, openedValues, sealedFields, veiledIn } from "../pulumi/stack-documents.js";
import { withoutIgnored } from "./ignored-changes.js";
import { type SecretPlace, secretEvidence, secretPlaces, secretStanding } from "./secrets.js";

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
  sameName: z.exactOptional(z.string()).describe("ID of an object that now has the same name"),
});

const unmanagedSchema = z.strictObject({
  ...object,
  standing: z
    .enum(["foreign", "leftover", "copy", "former"])
    .describe(
      "`foreign`: has no mark. `leftover`: this stack created it. `copy`: a person copied it from this stack's object. `former`: is from a state that no longer exists or that the command cannot read",
    ),
  created: z.exactOptional(z.string()),
  modified: z.exactOptional(z.string()),
  label: z
    .exactOptional(z.string())
    .describe("Project, stack, and logical name in the object's mark"),
});

const otherStacksSchema = z.strictObject({
  ...object,
  stack: z.string().describe("The stack that manages the object, or the stack named in its mark"),
});

const uncheckableSchema = z.strictObject({
  ...managed,
  paths: z.array(z.string()),
  changedSince: z
    .exactOptional(z.string())
    .describe("The time of the last change, if later than this stack's last write"),
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
  uncheckable: z
    .array(uncheckableSchema)
    .describe("Secrets that the command could not check for changes"),
  unread: z
    .array(z.strictObject({ kind: z.string(), problem: z.string() }))
    .describe("Kinds that the command could not read completely, with the reason for each"),
  compared: z.int().min(0).describe("Number of compared stack resources"),
  notes: z.array(z.string()),
  deletions: z
    .exactOptional(blastRadiusSchema)
    .describe("With --preview: what blocks the previewed deletions"),
});

/** The differences between a stack and the service. */
export type DriftResult = Printed<z.output<typeof driftSchema>>;

/** A field that differs from the state. */
export type DriftChange = DriftResult["changed"][number]["changes"][number];

/** A resource of the stack that represents an object, compared with the object as it was read. */
interface ComparedObject {
  readonly item: InventoryItem;
  readonly before: Properties;
  readonly changes: readonly DriftChange[];
  readonly secrets: readonly SecretPlace[];
  /** When the object was changed, if later than this stack's last write. */
  readonly changedSince?: string;
  /** Whether a run of this stack began something on it without reporting the result. */
  readonly isInterrupted: boolean;
}

/**
 * Compares a resource of the stack with its object. Reads nothing but what the lists have shown, if
 * they show whole objects.
 */
const compareObject = async (
  item: InventoryItem,
  { document, runIn }: Inventory,
): Promise<ComparedObject> => {
  const { definition, id, live, account, resource } = item;
  const values = openedValues(resource?.outputs);
  const before = propertiesIn(values);
  const pending = document.deployment.pending_operations ?? [];
  const isInterrupted =
    Array.isArray(resource?.initErrors) ||
    pending.some((operation) => operation.resource.urn === resource?.urn);
  const known = { item, before, isInterrupted };
  if (!live || !resource) return { ...known, changes: [], secrets: [] };
  const { fields } = definition;
  const { ignoreChanges } = resource;
  const { props } = await lifecycle(definition, runIn(accountIn(resource))).read(id, values);
  const now = propertiesIn(withoutIgnored(openedValues(props), values, ignoreChanges));
  const compared = withoutIgnored(before.fields, {}, ignoreChanges);
  const shown = veiledIn(
    [resource.inputs, resource.outputs].flatMap((each = {}) => sealedFields(definition, each)),
  );
  const changes = changesOf(fields, now.fields, before.fields);
  const { modified } = now.record;
  return {
    ...known,
    changes: changes.map(({ path, from, to }) => ({
      path,
      ...(to === undefined ? {} : { state: shown(path, to) }),
      ...(from === undefined ? {} : { live: shown(path, from) }),
    })),
    secrets: secretPlaces(definition, compared, live, account.access.settings),
    ...(modified && modified !== before.record.modified ? { changedSince: modified } : {}),
  };
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
    return "unknown: the object last changed when this stack last wrote or read it";
  const since = before.record.modified ?? before.record.created;
  return `someone else: this stack last wrote or read the object ${since ? `at ${since}` : "before that"}`;
};

/** The secrets of each object that were changed, and those that cannot be checked. */
const judgeSecrets = (objects: readonly ComparedObject[]) => {
  const evidences = new Map(
    [...Map.groupBy(objects, ({ item }) => item.account)].map(([account, of]) => [
      account,
      secretEvidence(of.flatMap(({ secrets }) => secrets)),
    ]),
  );
  return ({ item, secrets, changedSince }: ComparedObject, wanted: "changed" | "hidden") => {
    const evidence = evidences.get(item.account);
    const isTouched = changedSince !== undefined;
    return secrets
      .filter((place) => evidence && secretStanding(place, evidence, isTouched) === wanted)
      .map(({ path }) => path);
  };
};

const findChanges = (objects: readonly ComparedObject[], inventory: Inventory) => {
  const secretsOf = judgeSecrets(objects);
  const changed: DriftResult["changed"][number][] = [];
  const uncheckable: DriftResult["uncheckable"][number][] = [];
  for (const object of objects) {
    const { live } = object.item;
    if (!live) continue;
    const secrets = secretsOf(object, "changed").map(
      (path): DriftChange => ({ path, state: "[secret]", live: "[secret]" }),
    );
    const changes = [...object.changes, ...secrets];
    if (changes.length > 0) {
      const who = findChanger(object, inventory);
      changed.push({ ...shownManaged(object), changes, ...textIn(live, "modified"), who });
    }
    const paths = secretsOf(object, "hidden");
    const { changedSince } = object;
    if (paths.length > 0)
      uncheckable.push({
        ...shownManaged(object),
        paths,
        ...(changedSince ? { changedSince } : {}),
      });
  }
  return { changed, uncheckable };
};

/** What the account no longer has. A kind that could not be read whole proves nothing. */
const findDeleted = (objects: readonly ComparedObject[]): DriftResult["deleted"] => {
  const holding = new Set(objects.flatMap(({ item }) => (item.live ? [item.account] : [])));
  return objects.filter(isGone).map((object) => {
    const { definition, account, name } = object.item;
    // Its settings may lead to another account, as a state does not say where its objects were made.
    const isElsewhere = !holding.has(account);
    const { baseUrl } = account.access.settings;
    const who = isElsewhere
      ? `unknown: the account at ${baseUrl} has none of the stack's objects`
      : "someone else: none of this stack's runs deleted the object";
    const [sameName] =
      [...kindIn(account, definition).objects].find(
        ([, wire]) => name !== "" && nameOnWire(definition, wire) === name,
      ) ?? [];
    return {
      ...shownManaged(object),
      who: object.isInterrupted ? "perhaps an interrupted run of this stack" : who,
      ...(isElsewhere ? { elsewhere: true as const } : {}),
      ...(sameName === undefined ? {} : { sameName }),
    };
  });
};

const isRead = ({ account, definition }: InventoryItem): boolean =>
  kindIn(account, definition).problem === undefined;

const isGone = ({ item }: ComparedObject): boolean => !item.live && isRead(item);

const textIn = (wire: object, name: "created" | "modified") => {
  const value: unknown = Object.entries(wire).find(([key]) => key === name)?.[1];
  return typeof value === "string" ? { [name]: value } : {};
};

/** All objects of the accounts that this stack does not hold: in no stack at all, or in another one. */
const findBeside = ({ items }: Inventory) => {
  const unmanaged: DriftResult["unmanaged"][number][] = [];
  const otherStacks: DriftResult["otherStacks"][number][] = [];
  const begun: string[] = [];
  for (const { definition, name, id, live = {}, mark, standing, isPending, heldBy } of items) {
    const shown = { kind: definition.kind, name, id };
    const label = mark?.label ?? "";
    if (standing === "managed") continue;
    if (standing === "held") otherStacks.push({ ...shown, stack: heldBy[0]?.stack ?? "" });
    // A state that cannot be read from here, such as one in another backend, may well hold it.
    else if (standing === "elsewhere") otherStacks.push({ ...shown, stack: stackOfLabel(label) });
    else if (standing === "leftover" && isPending) begun.push(`${shown.kind} "${name}" (ID ${id})`);
    else
      unmanaged.push({
        ...shown,
        standing,
        ...(mark ? { label } : {}),
        ...textIn(live, "created"),
        ...textIn(live, "modified"),
      });
  }
  return { unmanaged, otherStacks, begun };
};

const notesOf = (
  objects: readonly ComparedObject[],
  { changed, uncheckable }: ReturnType<typeof findChanges>,
  begun: readonly string[],
  { states, consistent, lock, names }: Inventory,
): readonly string[] => {
  const listed = new Set([...changed, ...uncheckable].map(({ urn }) => urn));
  const touched = objects.filter(
    ({ changedSince, item }) => changedSince !== undefined && !listed.has(item.resource?.urn ?? ""),
  );
  const by = lock.state === "locked" && lock.by ? ` (${lock.by})` : "";
  return [
    ...(lock.state === "locked"
      ? [
          `${names.project}/${names.stack} is locked${by}: a run may be in progress, and its latest changes may appear here.`,
        ]
      : []),
    ...begun.map(
      (object) =>
        `A run of this stack is creating ${object}. If that run was killed, use: ${ownCommand("repair")}`,
    ),
    ...touched.map(
      ({ item: { definition, name }, changedSince }) =>
        `${definition.kind} "${name}" changed at ${changedSince}, but not in a field that the program declares and does not ignore.`,
    ),
    ...(states.complete
      ? []
      : [
          "The command could not read every stack in the backend; an unread stack may contain objects listed as unmanaged.",
        ]),
    ...(consistent
      ? []
      : [
          "The account changed while the command was reading it, so the result may mix old and new objects.",
        ]),
  ];
};

/** The differences, computed from what was read. */
export const driftIn = async (inventory: Inventory, managedOnly: boolean): Promise<DriftResult> => {
  const { names, items, accounts, consistent, unread } = inventory;
  const objects = await Promise.all(
    items
      .filter(({ standing }) => standing === "managed")
      .map((item) => compareObject(item, inventory)),
  );
  const found = findChanges(objects, inventory);
  const deleted = findDeleted(objects);
  const { begun, ...beside } = managedOnly
    ? { unmanaged: [], otherStacks: [], begun: [] }
    : findBeside(inventory);
  return {
    ...names,
    readAt: accounts[0]?.reading.readAt ?? new Date().toISOString(),
    consistent,
    drift: found.changed.length + deleted.length + beside.unmanaged.length > 0,
    ...found,
    deleted,
    ...beside,
    unread,
    compared: objects.filter(({ item }) => item.live || isRead(item)).length,
    notes: notesOf(objects, found, begun, inventory),
  };
};

interface DriftOptions extends StackOptions, StackAccountOptions {
  /** Only what the stack's state holds; other objects of the account do not count. */
  readonly managedOnly?: true;
  /** Also make a preview, and find who still uses what it deletes. */
  readonly preview?: true;
}

/**
 * Compares a stack with the service: what its state has with what is live, and lists what else
 * exists. Reads only lists and the state; changes nothing.
 *
 * @throws CommandFailure if the state cannot be read; ConversationError if nothing of the service can
 */
export const runDrift = async (options: DriftOptions): Promise<DriftResult> => {
  const stack = await openStack(options);
  const document = await exportStack(stack.place, "clear");
  const used = accountsIn(document);
  const names = used.length > 0 ? used : [undefined];
  return withInventory(stack, document, names, options, async (inventory) => {
    const found = await driftIn(inventory, options.managedOnly === true);
    if (!options.preview) return found;
    const { preview } = await currentDocuments("up", stack.place, options.signal);
    const changes = changesOfPreview(preview?.steps ?? []);
    return { ...found, deletions: blastRadius(changes, inventory) };
  });
};
