import { nameOnWire, stackMark } from "../../provider/lifecycle/ownership/mark.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { originalMark } from "../../provider/lifecycle/seen-object.js";
import { currentDocuments } from "../forecast/documents.js";
import { blastRadius } from "../stack/blast-radius.js";
import { type OpenStack, openStack, type StackOptions } from "../stack/open-stack.js";
import { changesOfPreview } from "../stack/planned-changes.js";
import { openAccounts, type StackAccountOptions } from "../stack/stack-accounts.js";
import { exportStack } from "../stack/stack-export.js";
import { kindIn, profilesIn, readStack, type StackReading } from "../stack/stack-reading.js";
import type {
  ChangedObject,
  DeletedObject,
  DriftChange,
  DriftResult,
  UncheckableSecrets,
} from "./drift.js";
import { type ComparedObject, comparedObjects } from "./managed-objects.js";
import { secretEvidence, secretStanding } from "./secret-standing.js";
import { besideTheStack } from "./unmanaged-objects.js";

export interface DriftOptions extends StackOptions, StackAccountOptions {
  /** Only what the stack's state holds; other objects of the account do not count. */
  readonly managedOnly?: true;
  /** Make a preview, too, and look at who still uses what it deletes. */
  readonly preview?: true;
}

const managed = ({ definition, name, id, resource }: ComparedObject) => ({
  ...{ kind: definition.kind, name, id, urn: resource.urn },
});

/** What a run of this stack began on a resource and did not report on. */
const interrupted = ({ resource }: ComparedObject, { document }: StackReading): boolean =>
  Array.isArray(resource.initErrors) ||
  (document.deployment.pending_operations ?? []).some(
    (operation) => operation.resource.urn === resource.urn,
  );

const whoChanged = (object: ComparedObject, reading: StackReading): string => {
  const { definition, live = {}, changedSince, before } = object;
  const mark = originalMark(definition, live);
  const { ownership } = reading.states.own;
  if (mark && ownership !== undefined && mark.stack !== stackMark(ownership))
    return `the stack that marked it: ${mark.label}`;
  if (interrupted(object, reading)) return "perhaps a run of this stack that was cut off or failed";
  if (changedSince === undefined)
    return "not known: its time of change is that of this stack's last write";
  const since = before.record.modified ?? before.record.created;
  return `not this stack, which wrote it ${since ? `at ${since}` : "before that"}`;
};

/** The object of the same kind that has the name now. */
const sameName = ({ definition, account, name }: ComparedObject): string | undefined =>
  [...kindIn(account, definition).objects].find(
    ([, wire]) => name !== "" && nameOnWire(definition, wire) === name,
  )?.[0];

const deletedObject = (object: ComparedObject, reading: StackReading): DeletedObject => {
  const other = sameName(object);
  return {
    ...managed(object),
    who: interrupted(object, reading)
      ? "perhaps a run of this stack that was cut off"
      : "not this stack, whose state still has it",
    ...(other === undefined ? {} : { sameName: other }),
  };
};

const secretsOf = (objects: readonly ComparedObject[]) => {
  const evidences = new Map(
    [...Map.groupBy(objects, ({ account }) => account)].map(([account, of]) => [
      account,
      secretEvidence(of.flatMap(({ secrets }) => secrets)),
    ]),
  );
  return (object: ComparedObject, standing: "changed" | "hidden"): readonly string[] => {
    const evidence = evidences.get(object.account);
    const isTouched = object.changedSince !== undefined;
    return object.secrets
      .filter((place) => evidence && secretStanding(place, evidence, isTouched) === standing)
      .map(({ path }) => path);
  };
};

const differences = (objects: readonly ComparedObject[], reading: StackReading) => {
  const pathsOf = secretsOf(objects);
  const changed: ChangedObject[] = [];
  const uncheckable: UncheckableSecrets[] = [];
  for (const object of objects) {
    if (!object.live) continue;
    const secrets = pathsOf(object, "changed").map(
      (path): DriftChange => ({ path, state: "[secret]", live: "[secret]" }),
    );
    const changes = [...object.changes, ...secrets];
    const { modified } = object.live;
    const when = typeof modified === "string" ? { modified } : {};
    if (changes.length > 0)
      changed.push({ ...managed(object), changes, ...when, who: whoChanged(object, reading) });
    const paths = [...pathsOf(object, "hidden"), ...object.extraSecrets];
    const { changedSince } = object;
    if (paths.length > 0)
      uncheckable.push({ ...managed(object), paths, ...(changedSince ? { changedSince } : {}) });
  }
  return { changed, uncheckable };
};

const notesOf = (
  objects: readonly ComparedObject[],
  { changed, uncheckable }: ReturnType<typeof differences>,
  { states, accounts }: StackReading,
): readonly string[] => {
  const told = new Set([...changed, ...uncheckable].map(({ urn }) => urn));
  const touched = objects.filter(
    ({ changedSince, resource }) => changedSince !== undefined && !told.has(resource.urn),
  );
  return [
    ...touched.map(
      ({ definition, name, changedSince }) =>
        `${definition.kind} "${name}" was changed at ${changedSince}, in nothing that the program declares.`,
    ),
    ...(states.complete
      ? []
      : [
          "Not every stack of the backend could be read; one of the others may hold what is listed as unmanaged.",
        ]),
    ...(accounts.every(({ reading }) => reading.consistent)
      ? []
      : ["The account changed while it was read; what is listed may be of different moments."]),
  ];
};

const begunNote = (object: string): string =>
  `${object} is being made by a run of this stack. If that run was killed: pulumi-conversation repair.`;

const lockNotes = async ({ readLock, names }: OpenStack): Promise<readonly string[]> => {
  const lock = await readLock();
  if (lock.state !== "locked") return [];
  const by = lock.by ? ` (${lock.by})` : "";
  return [
    `${names.project}/${names.stack} is locked${by}: a run may be at work, and what it has just done may be listed.`,
  ];
};

/** What differs, by what was read. */
export const driftOf = async (
  reading: StackReading,
  names: StackNames,
  managedOnly: boolean,
): Promise<DriftResult> => {
  const objects = await comparedObjects(reading);
  const found = differences(objects, reading);
  const deleted = objects
    .filter(({ live, isRead }) => !live && isRead)
    .map((object) => deletedObject(object, reading));
  const { begun, ...beside } = managedOnly
    ? { unmanaged: [], otherStacks: [], begun: [] }
    : besideTheStack(reading, names);
  const unread = reading.accounts.flatMap((account) =>
    account.reading.kinds.flatMap(({ definition: { kind }, problem }) =>
      problem === undefined ? [] : [{ kind, problem }],
    ),
  );
  const { changed } = found;
  return {
    ...names,
    readAt: reading.accounts[0]?.reading.readAt ?? new Date().toISOString(),
    consistent: reading.accounts.every((account) => account.reading.consistent),
    drift: changed.length + deleted.length + beside.unmanaged.length > 0,
    ...found,
    deleted,
    ...beside,
    unread,
    compared: objects.filter(({ live, isRead }) => live || isRead).length,
    notes: [...begun.map(begunNote), ...notesOf(objects, found, reading)],
  };
};

/**
 * Compares a stack with the service: what its state has with what is live, and what else is there. Reads
 * lists, the state and nothing else; changes nothing.
 *
 * @throws CommandFailure where the state cannot be read; ConversationError where nothing of the service can
 */
export const runDrift = async (options: DriftOptions): Promise<DriftResult> => {
  const stack = await openStack(options);
  const locked = await lockNotes(stack);
  const document = await exportStack(stack.place, "clear");
  const profiles = profilesIn(document);
  const opened = await openAccounts(stack, profiles.length > 0 ? profiles : [undefined], options);
  try {
    const reading = await readStack(stack, document, opened);
    const compared = await driftOf(reading, stack.names, options.managedOnly === true);
    const found = { ...compared, notes: [...locked, ...compared.notes] };
    if (!options.preview) return found;
    const { preview } = await currentDocuments("up", stack.place, options.signal);
    const kinds = reading.accounts.flatMap((account) => account.reading.kinds);
    const changes = changesOfPreview(preview?.steps ?? []);
    return { ...found, deletions: blastRadius(changes, { kinds }, reading.states) };
  } finally {
    await opened.close();
  }
};
