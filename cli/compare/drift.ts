import { changesOf, extraChanges } from "../../provider/definition/changes.js";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { itemPath, memberPath } from "../../provider/definition/fields.js";
import { pairs, plainText, sameMeaning } from "../../provider/definition/meaning.js";
import { isMissing, looksMasked } from "../../provider/definition/merge.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import { asText, isObject, type JsonObject, listAt, memberOf } from "../../provider/kernel/json.js";
import { ownershipsOf } from "../../provider/kernel/owner.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { environmentSecretsIn, holdsUndisclosed } from "../../provider/kernel/stand-ins.js";
import { lifecycle } from "../../provider/lifecycle/index.js";
import { nameOnWire, stackMark, stackOfLabel } from "../../provider/lifecycle/ownership/mark.js";
import {
  isBegun,
  kindOfMarked,
  markedObject,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import type { StackStates } from "../../provider/lifecycle/ownership/stack-states.js";
import { type Properties, propertiesIn } from "../../provider/lifecycle/properties.js";
import { originalMark } from "../../provider/lifecycle/seen.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { currentDocuments } from "../forecast/documents.js";
import { blastRadius, changesOfPreview } from "../inventory/blast-radius.js";
import {
  exportStack,
  type OpenStack,
  openStack,
  type StackOptions,
} from "../inventory/open-stack.js";
import { unreadAmong } from "../inventory/read-account.js";
import {
  type AccountRead,
  accountsIn,
  kindIn,
  openAccounts,
  readStack,
  type StackAccountOptions,
  type StackReading,
} from "../inventory/stack-reading.js";
import {
  accountIn,
  definitionOfType,
  openedValues,
  type StateResource,
  sealedFields,
  veiledIn,
} from "../pulumi/stack-documents.js";
import { withoutIgnored } from "./ignored-changes.js";
import type {
  ChangedObject,
  DeletedObject,
  DriftChange,
  DriftResult,
  OtherStacksObject,
  UncheckableSecrets,
  UnmanagedObject,
} from "./schemas.js";

/** A secret of a resource: what the state has, and what the service shows in its place. */
interface SecretPlace {
  readonly field: Field;
  /** As a program would write it, such as `basicAuth.password`. */
  readonly path: string;
  readonly prior: unknown;
  readonly live: unknown;
}

const inEntries = (of: Field, path: string, prior: JsonObject, live: unknown): SecretPlace[] => {
  const there = isObject(live) ? Object.entries(live) : [];
  return Object.entries(prior).flatMap(([key, value]) => {
    const found = there.find(([name]) => plainText(name) === plainText(key));
    return inField(of, memberPath(path, key), value, found?.[1]);
  });
};

const inField = (field: Field, path: string, prior: unknown, live: unknown): SecretPlace[] => {
  if (isMissing(prior)) return [];
  if (field.secret) return [{ field, path, prior, live }];
  if (field.type === "object" && isObject(prior))
    return inFields(field.fields, prior, isObject(live) ? live : {}, path);
  if (field.type === "map" && isObject(prior)) return inEntries(field.of, path, prior, live);
  if (field.type !== "list" || !Array.isArray(prior)) return [];
  const items = listAt(live);
  const places = pairs(field, prior, items);
  return prior.flatMap((item: unknown, at) => {
    const place = places[at];
    // An item that is gone is a change of its list, not of its secrets.
    if (place === undefined) return [];
    return inField(field.of, itemPath(path, field, item, at), item, items[place]);
  });
};

const inFields = (fields: Fields, prior: JsonObject, live: JsonObject, path = ""): SecretPlace[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    inField(field, memberPath(path, name), memberOf(prior, name), memberOf(live, name)),
  );

/**
 * Every secret that a state gives an object.
 *
 * @param prior the values of the state, in plain text
 */
const secretPlaces = (
  { fields }: Definition,
  prior: JsonObject,
  wire: WireObject,
  settings: Settings,
): readonly SecretPlace[] => inFields(fields, prior, fieldsFromWire(fields, wire, settings));

/** What is known about the secrets of a whole account, as a service treats them alike. */
interface SecretEvidence {
  /** It has shown one in plain text. */
  readonly echoes: boolean;
  /** Texts that it shows in place of more than one secret. */
  readonly masks: ReadonlySet<string>;
  /** Fields of which it has shown something, if only a mask. */
  readonly shown: ReadonlySet<Field>;
}

const isSame = ({ field: { secret: _, ...open }, live, prior }: SecretPlace): boolean =>
  sameMeaning(open, live, prior);

const isShown = ({ live }: SecretPlace): boolean => !isMissing(live) && !looksMasked(asText(live));

/** Whether the state has something else in its place: the name of an environment variable, or what an import did not read. */
const isElsewhere = ({ prior }: SecretPlace): boolean =>
  environmentSecretsIn(prior).length > 0 || holdsUndisclosed(prior);

/** What the secrets of an account reveal about how the service treats them. */
const secretEvidence = (all: readonly SecretPlace[]): SecretEvidence => {
  const places = all.filter((place) => !isElsewhere(place));
  const others = places.filter((place) => isShown(place) && !isSame(place));
  const texts = others.map(({ live }) => asText(live));
  return {
    echoes: places.some((place) => isShown(place) && isSame(place)),
    masks: new Set(texts.filter((text, at) => texts.indexOf(text) !== at)),
    shown: new Set(places.flatMap(({ field, live }) => (isMissing(live) ? [] : [field]))),
  };
};

/** A hash or a cipher, as some services show it in place of a secret. */
const looksHashed = (text: string): boolean =>
  /^(\$\w+\$|(sha|md5|hmac|v\d+:))/i.test(text) || /^[A-Za-z0-9+/_-]{24,}={0,2}$/.test(text);

/**
 * The standing of a secret: as the state has it, changed by somebody, or hidden and therefore
 * unknown.
 *
 * @param isTouched whether somebody changed the object after it was written
 */
const secretStanding = (
  place: SecretPlace,
  { echoes, masks, shown }: SecretEvidence,
  isTouched: boolean,
): "same" | "changed" | "hidden" => {
  // The service may already have left it out during the import.
  if (holdsUndisclosed(place.prior)) return "hidden";
  const isGone = isMissing(place.live) && (shown.has(place.field) || (echoes && isTouched));
  if (isGone) return "changed";
  if (!isShown(place) || isElsewhere(place)) return "hidden";
  if (isSame(place)) return "same";
  if (echoes) return "changed";
  const text = asText(place.live);
  return masks.has(text) || looksHashed(text) ? "hidden" : "changed";
};

/** A resource of the stack that represents an object, and the object as it was read. */
interface ComparedObject {
  readonly definition: Definition;
  readonly resource: StateResource;
  readonly id: string;
  readonly name: string;
  readonly account: AccountRead;
  readonly before: Properties;
  /** Undefined if it is gone or its kind could not be read. */
  readonly live: WireObject | undefined;
  /** Whether its kind was read completely, so that absence counts. */
  readonly isRead: boolean;
  readonly changes: readonly DriftChange[];
  readonly secrets: readonly SecretPlace[];
  /** What the program marks as secret in `extra`: what the service shows there is not compared. */
  readonly extraSecrets: readonly string[];
  /** When the object was changed, if later than this stack's last write. */
  readonly changedSince?: string;
}

/** Fields that the program declares and whose live value differs in meaning. */
const changesIn = (
  { fields }: Definition,
  before: Properties,
  now: Properties,
  shown: ReturnType<typeof veiledIn>,
): readonly DriftChange[] => {
  // What the program marks as secret there takes the value of the state, so that it never differs.
  const inExtra = isObject(before.extra)
    ? extraChanges(isObject(now.extra) ? now.extra : {}, before.extra)
    : [];
  return [...changesOf(fields, now.fields, before.fields), ...inExtra].map(
    ({ path, from, to }) => ({
      path,
      ...(to === undefined ? {} : { state: shown(path, to) }),
      ...(from === undefined ? {} : { live: shown(path, from) }),
    }),
  );
};

const nameOf = (definition: Definition, live: WireObject | undefined, before: Properties): string =>
  asText(nameOnWire(definition, live ?? before.fields));

const compared = async (
  resource: StateResource,
  id: string,
  definition: Definition,
  reading: StackReading,
): Promise<ComparedObject> => {
  const values = openedValues(resource.outputs);
  const account = reading.accountOf(accountIn(resource));
  const { objects, problem } = kindIn(account, definition);
  const before = propertiesIn(values);
  const live = objects.get(id);
  const { extraSecrets: marked = [] } = before;
  const extraSecrets = marked.map((path) => ["extra", path].filter(Boolean).join("."));
  const isRead = problem === undefined;
  const found = { definition, resource, id, account, before, live, isRead, extraSecrets };
  const name = nameOf(definition, live, before);
  if (!live) return { ...found, name, changes: [], secrets: [] };
  const { props } = await lifecycle(definition, reading.runIn(accountIn(resource))).read(
    id,
    values,
  );
  const { ignoreChanges } = resource;
  const now = propertiesIn(withoutIgnored(openedValues(props), values, ignoreChanges));
  const compared = withoutIgnored(before.fields, {}, ignoreChanges);
  const sealed = [resource.inputs, resource.outputs].flatMap((values = {}) =>
    sealedFields(definition, values),
  );
  const isLater = now.record.modified !== before.record.modified;
  return {
    ...found,
    name,
    changes: changesIn(definition, before, now, veiledIn(sealed)),
    secrets: secretPlaces(definition, compared, live, account.access.settings),
    ...(isLater && now.record.modified ? { changedSince: now.record.modified } : {}),
  };
};

/**
 * Compares every resource of the stack that represents an object with that object. Reads lists
 * only, if they show whole objects.
 */
const comparedObjects = async (reading: StackReading): Promise<readonly ComparedObject[]> => {
  const resources = reading.document.deployment.resources ?? [];
  const all = await Promise.all(
    resources.map(async (resource) => {
      const definition = definitionOfType(resource.type);
      const { id, external, delete: leaving } = resource;
      if (!definition || !id || external === true || leaving === true) return [];
      return [await compared(resource, id, definition, reading)];
    }),
  );
  return all.flat();
};

/** What is in the accounts but not in the stack. */
interface BesideTheStack {
  /** Objects that a run began to make without reporting the result, named for people. */
  readonly begun: readonly string[];
  readonly unmanaged: readonly UnmanagedObject[];
  readonly otherStacks: readonly OtherStacksObject[];
}

const textIn = (wire: WireObject, name: string): Readonly<Record<string, string>> => {
  const value = wire[name];
  return typeof value === "string" ? { [name]: value } : {};
};

type Place =
  | { readonly other: string }
  | { readonly begun: true }
  | Pick<UnmanagedObject, "standing" | "label">
  | undefined;

/** The owner of an object; undefined if this stack has it. */
const placeOf = (
  definition: Definition,
  id: string,
  wire: WireObject,
  states: StackStates,
  { project, stack }: StackNames,
): Place => {
  const { kind } = definition;
  const holders = states.holdersOf(kind, id);
  if (holders.some(({ own }) => own)) return undefined;
  const [holder] = holders;
  if (holder) return { other: holder.stack };
  // An object that a program only looks up may be managed by anybody, or by nobody.
  const marked = markedObject(definition, id, wire);
  if (!marked) return { standing: "foreign" };
  const { mark } = marked;
  const isLeftover = kindOfMarked(marked, states) === "leftover";
  if (isLeftover && isBegun(definition, mark, states)) return { begun: true };
  if (ownershipsOf(states.own).map(stackMark).includes(mark.stack))
    return { standing: kindOfMarked(marked, states), label: mark.label };
  const isSeen = states.ownerships.map(stackMark).includes(mark.stack);
  if (isSeen) return { standing: kindOfMarked(marked, states), label: mark.label };
  const of = stackOfLabel(mark.label);
  // A state that cannot be read from here, such as one in another backend, may well hold it.
  return of === `${project}/${stack}` ? { standing: "former", label: mark.label } : { other: of };
};

/** All objects of the accounts that this stack does not hold: in no stack at all, or in another one. */
const besideTheStack = ({ accounts, states }: StackReading, names: StackNames): BesideTheStack => {
  const unmanaged: UnmanagedObject[] = [];
  const otherStacks: OtherStacksObject[] = [];
  const begun: string[] = [];
  const all = accounts.flatMap(({ reading }) => reading.kinds);
  for (const { definition, objects } of all)
    for (const [id, wire] of objects) {
      const place = placeOf(definition, id, wire, states, names);
      if (!place) continue;
      const named = { kind: definition.kind, name: asText(nameOnWire(definition, wire)), id };
      if ("begun" in place) begun.push(`${named.kind} "${named.name}" (ID ${id})`);
      else if ("other" in place) otherStacks.push({ ...named, stack: place.other });
      else
        unmanaged.push({
          ...named,
          ...place,
          ...textIn(wire, "created"),
          ...textIn(wire, "modified"),
        });
    }
  return { unmanaged, otherStacks, begun };
};

interface DriftOptions extends StackOptions, StackAccountOptions {
  /** Only what the stack's state holds; other objects of the account do not count. */
  readonly managedOnly?: true;
  /** Also make a preview, and find who still uses what it deletes. */
  readonly preview?: true;
}

const managed = ({ definition, name, id, resource }: ComparedObject) => ({
  ...{ kind: definition.kind, name, id, urn: resource.urn },
});

/** Whether a run of this stack began something on a resource without reporting the result. */
const interrupted = ({ resource }: ComparedObject, { document }: StackReading): boolean =>
  Array.isArray(resource.initErrors) ||
  (document.deployment.pending_operations ?? []).some(
    (operation) => operation.resource.urn === resource.urn,
  );

const whoChanged = (object: ComparedObject, reading: StackReading): string => {
  const { definition, live = {}, changedSince, before } = object;
  const mark = originalMark(definition, live);
  const own = ownershipsOf(reading.states.own).map(stackMark);
  if (mark && own.length > 0 && !own.includes(mark.stack))
    return `the stack that its mark names: ${mark.label}`;
  if (interrupted(object, reading)) return "perhaps an interrupted or failed run of this stack";
  if (changedSince === undefined)
    return "unknown: the object last changed when this stack last wrote or read it";
  const since = before.record.modified ?? before.record.created;
  return `someone else: this stack last wrote or read the object ${since ? `at ${since}` : "before that"}`;
};

/** The object of the same kind that has the name now. */
const sameName = ({ definition, account, name }: ComparedObject): string | undefined =>
  [...kindIn(account, definition).objects].find(
    ([, wire]) => name !== "" && nameOnWire(definition, wire) === name,
  )?.[0];

/**
 * @param isElsewhere whether its account has none of the stack's objects: its settings may lead to
 * another account, as a state does not say where its objects were made
 */
const deletedObject = (
  object: ComparedObject,
  reading: StackReading,
  isElsewhere: boolean,
): DeletedObject => {
  const other = sameName(object);
  const { baseUrl } = object.account.access.settings;
  const who = isElsewhere
    ? `unknown: the account at ${baseUrl} has none of the stack's objects`
    : "someone else: none of this stack's runs deleted the object";
  return {
    ...managed(object),
    who: interrupted(object, reading) ? "perhaps an interrupted run of this stack" : who,
    ...(isElsewhere ? { elsewhere: true as const } : {}),
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
  const listed = new Set([...changed, ...uncheckable].map(({ urn }) => urn));
  const touched = objects.filter(
    ({ changedSince, resource }) => changedSince !== undefined && !listed.has(resource.urn),
  );
  return [
    ...touched.map(
      ({ definition, name, changedSince }) =>
        `${definition.kind} "${name}" changed at ${changedSince}, but not in a field that the program declares and does not ignore.`,
    ),
    ...(states.complete
      ? []
      : [
          "The command could not read every stack in the backend; an unread stack may contain objects listed as unmanaged.",
        ]),
    ...(accounts.every(({ reading }) => reading.consistent)
      ? []
      : [
          "The account changed while the command was reading it, so the result may mix old and new objects.",
        ]),
  ];
};

const begunNote = (object: string): string =>
  `A run of this stack is creating ${object}. If that run was killed, use: ${ownCommand("repair")}`;

const lockNotes = async ({ readLock, names }: OpenStack): Promise<readonly string[]> => {
  const lock = await readLock();
  if (lock.state !== "locked") return [];
  const by = lock.by ? ` (${lock.by})` : "";
  return [
    `${names.project}/${names.stack} is locked${by}: a run may be in progress, and its latest changes may appear here.`,
  ];
};

/** The differences, computed from what was read. */
export const driftOf = async (
  reading: StackReading,
  names: StackNames,
  managedOnly: boolean,
): Promise<DriftResult> => {
  const objects = await comparedObjects(reading);
  const found = differences(objects, reading);
  const holding = new Set(objects.flatMap(({ live, account }) => (live ? [account] : [])));
  const deleted = objects
    .filter(({ live, isRead }) => !live && isRead)
    .map((object) => deletedObject(object, reading, !holding.has(object.account)));
  const { begun, ...beside } = managedOnly
    ? { unmanaged: [], otherStacks: [], begun: [] }
    : besideTheStack(reading, names);
  const kinds = reading.accounts.flatMap((account) => account.reading.kinds);
  const unread = unreadAmong(kinds).map(({ definition: { kind }, problem }) => ({ kind, problem }));
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
 * Compares a stack with the service: what its state has with what is live, and lists what else
 * exists. Reads only lists and the state; changes nothing.
 *
 * @throws CommandFailure if the state cannot be read; ConversationError if nothing of the service can
 */
export const runDrift = async (options: DriftOptions): Promise<DriftResult> => {
  const stack = await openStack(options);
  const locked = await lockNotes(stack);
  const document = await exportStack(stack.place, "clear");
  const names = accountsIn(document);
  const opened = await openAccounts(
    stack,
    document,
    names.length > 0 ? names : [undefined],
    options,
  );
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
