import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createService, type EmulatedService } from "../../emulator/hub/service.js";
import type { FaultRule, StoredObject, Switches } from "../../emulator/index.js";
import { createRequestListener, paths } from "../../emulator/listener.js";
import { parseSwitches } from "../../emulator/service/switches.js";
import type { Field, Fields, ListField, MapField } from "../../provider/definition/define.js";
import {
  fieldsByWireName,
  holdsSecret,
  keyOf,
  looksMasked,
  membersOf,
} from "../../provider/definition/fields.js";
import { deletionOrder } from "../../provider/definition/kinds.js";
import { pairs } from "../../provider/definition/meaning.js";
import { bodyOf, isMissing, itemsOf, readWire } from "../../provider/definition/wire.js";
import {
  isObject,
  type JsonObject,
  listedObjects,
  memberOf,
  objectOf,
} from "../../provider/kernel/json.js";
import { propertiesIn } from "../../provider/lifecycle/resource.js";
import { unlimitedBurst } from "../../provider/pacing/pacer.js";
import { resources } from "../../provider/resources/index.js";
import { type EmulatedAddresses, ownSettings } from "../../provider/service/emulated-settings.js";
import { setUpOperation } from "../../provider/service/operations.js";
import {
  describeSettings,
  isProviderAccount,
  type SettingKey,
  type Settings,
} from "../../provider/service/settings.js";
import { type KindReading, unreadAmong } from "../inventory/read-account.js";
import {
  accountIn,
  definitionOfType,
  openedValues,
  type StackExport,
} from "../pulumi/stack-documents.js";
import { type DeployingClient, type RehearsedAccount, refusedLists } from "./accounts.js";

/** Replaces an unknown secret that the service omits but the object must have. */
const unknownSecret = "not-known";

/** What a service does with secrets in the objects that it returns; the first one seen counts. */
const waysWithSecrets = ["mask", "omit", "echo"] as const;
type SecretsSeen = Set<(typeof waysWithSecrets)[number]>;

/** A secret for the copy: if the service hides it, the value in the state. */
const secretOf = (live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (isMissing(live)) {
    if (known !== undefined) seen.add("omit");
    return known;
  }
  const isHidden = typeof live === "string" && looksMasked(live) && live !== known;
  seen.add(isHidden ? "mask" : "echo");
  return isHidden ? (known ?? live) : live;
};

const inList = (field: ListField, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  const [items, others] = [itemsOf(field, live), itemsOf(field, known)];
  const read = (list: readonly unknown[]) => list.map((item) => readWire(field.of, item));
  const places = pairs(field, read(items), read(others));
  const revealed = items.map((item, at) =>
    revealedValue(field.of, item, others[places[at] ?? -1], seen),
  );
  if (Array.isArray(live)) return revealed;
  return field.envelope && isObject(live) ? { ...live, [field.envelope]: revealed } : live;
};

const inMap = (field: MapField, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (!Array.isArray(live)) return live;
  const { value } = membersOf(field);
  const values = new Map(
    listedObjects(known).map((entry) => [keyOf(field, entry), entry[value]] as const),
  );
  return live.map((entry: unknown) => {
    if (!isObject(entry)) return entry;
    const revealed = revealedValue(field.of, entry[value], values.get(keyOf(field, entry)), seen);
    return { ...entry, [value]: revealed ?? unknownSecret };
  });
};

const revealedValue = (field: Field, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (field.secret)
    return secretOf(live, known, seen) ?? (field.required ? unknownSecret : undefined);
  if (!holdsSecret(field) || isMissing(live)) return live;
  switch (field.type) {
    case "object":
      return isObject(live)
        ? membersWithSecrets(field.fields, live, isObject(known) ? known : {}, seen)
        : live;
    case "list":
      return inList(field, live, known, seen);
    case "map":
      return inMap(field, live, known, seen);
    default:
      return live;
  }
};

/**
 * An object as the service stores it, as far as that is known: what it hides comes from the state.
 *
 * @param known the object as the state has it, in the service's JSON; empty if no state does
 * @param seen gets what the service does with secrets
 */
export const membersWithSecrets = (
  fields: Fields,
  live: JsonObject,
  known: JsonObject,
  seen: SecretsSeen,
): JsonObject => {
  const secretFields = [...fieldsByWireName(fields)].flatMap(([name, [, field]]) =>
    holdsSecret(field) ? [[name, field] as const] : [],
  );
  const revealed = secretFields.map(
    ([name, field]) =>
      [name, revealedValue(field, memberOf(live, name), memberOf(known, name), seen)] as const,
  );
  return objectOf([...Object.entries(live), ...revealed]);
};

/** Objects of each collection, as an emulator accepts them. */
export type CopiedObjects = Readonly<Record<string, readonly StoredObject[]>>;

/** The same by kind, in an order in which they can be deleted. */
export const kindsIn = (objects: CopiedObjects) =>
  deletionOrder(resources).map((definition) => ({
    definition,
    objects: new Map((objects[definition.collection] ?? []).map((wire) => [wire.id, wire])),
  }));

type StateBodies = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

/**
 * The objects of one account as the stack's state has them, secrets in plain text and in the
 * service's JSON: by kind and ID.
 */
export const stateBodies = (
  document: StackExport,
  { settings, alsoNamed }: Pick<RehearsedAccount, "settings" | "alsoNamed">,
): StateBodies => {
  const names = [settings.profile, ...alsoNamed];
  const bodies = new Map<string, Map<string, JsonObject>>();
  for (const resource of document.deployment.resources ?? []) {
    const { type, id, inputs, external } = resource;
    const definition = definitionOfType(type);
    const isOther = external === true || !names.includes(accountIn(resource));
    if (!definition || id === undefined || isOther) continue;
    const ofKind = bodies.get(definition.kind) ?? new Map<string, JsonObject>();
    const { fields } = propertiesIn(openedValues(inputs));
    bodies.set(definition.kind, ofKind.set(id, bodyOf(definition, fields, settings)));
  }
  return bodies;
};

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" ? value : otherwise;

const epoch = new Date(0).toISOString();

/**
 * Includes objects in a form that this product does not know: their names are taken, and their
 * references hold. If the list is incomplete, objects of the state are added.
 */
const copyOfKind = (
  { definition, objects, problem }: KindReading,
  bodies: StateBodies,
  secrets: SecretsSeen,
): readonly StoredObject[] => {
  const known = bodies.get(definition.kind) ?? new Map<string, JsonObject>();
  const listed = [...objects].map(([key, wire]) => ({
    ...membersWithSecrets(definition.fields, wire, known.get(key) ?? {}, secrets),
    id: textOr(wire.id, key),
    created: textOr(wire.created, epoch),
    modified: textOr(wire.modified, epoch),
  }));
  const unlisted = problem === undefined ? [] : [...known].filter(([id]) => !objects.has(id));
  return [
    ...listed,
    ...unlisted.map(([id, body]) => ({ ...body, id, created: epoch, modified: epoch })),
  ];
};

/**
 * Copies an account: every object with its ID, hidden secrets as the state knows them.
 *
 * @returns the copy, with what could not be copied and why, each a sentence
 */
export const copyAccount = (
  { account }: Pick<RehearsedAccount, "account">,
  bodies: StateBodies,
) => {
  const secrets: SecretsSeen = new Set();
  const objects: CopiedObjects = Object.fromEntries(
    account.kinds.map((kind) => [kind.definition.collection, copyOfKind(kind, bodies, secrets)]),
  );
  return {
    ...{ objects, secrets },
    missing: unreadAmong(account.kinds).map(
      ({ definition: { noun }, problem }) =>
        `The copy contains only the ${noun}s in the stack's state: ${problem}`,
    ),
  };
};

/** A call that a rehearsal never makes: the emulator would deliver the message to a callback. */
const reachesPeople = /^\/(conversations|assets)(\/|$)/;

export const randomSecret = (): string => randomBytes(24).toString("base64url");

/**
 * Serves a service on a free port of this machine, at a path that only the run knows: nobody else
 * on this machine can call it.
 *
 * @param onCall receives each call, such as `PUT /channels/<id>`, except those for a token
 */
export const serveRun = async (
  service: EmulatedService,
  onCall: (call: string) => void = () => undefined,
): Promise<{ readonly address: string; readonly close: () => Promise<void> }> => {
  // Nobody may control it from outside: it holds the secrets of the stack in plain text.
  const answer = createRequestListener(service, randomSecret());
  const secretPath = `/${randomSecret()}`;
  const server = createServer((request, response) => {
    const { url = "", method = "" } = request;
    if (!url.startsWith(`${secretPath}/`)) return response.writeHead(404).end();
    request.url = url.slice(secretPath.length);
    const [whole = ""] = request.url.split("?");
    if (!whole.startsWith(`${paths.base}/`)) return answer(request, response);
    const path = whole.slice(paths.base.length);
    onCall(`${method} ${path}`);
    if (reachesPeople.test(path)) return response.writeHead(403).end();
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}${secretPath}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      service.deliveries.close();
    },
  };
};

const kept = ["scope", ...ownSettings] as const;

/** Nothing on an emulator waits for a rate: the time of the real run is forecast. */
export const unpaced = { plan: "enterprise", burst: String(unlimitedBurst), share: "1" } as const;

/** The settings that the run gets: the emulator's address, and those that decide what it does. */
const valuesFor = (
  settings: Settings,
  { scopes, isOther }: DeployingClient,
  access: Pick<Settings, "baseUrl" | "tokenUrl" | "clientId" | "clientSecret">,
): Partial<Record<SettingKey, string>> => {
  const own = kept.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]]));
  const scope = isOther ? { scope: scopes.join(" ") } : {};
  return {
    ...Object.fromEntries(own),
    ...scope,
    ...access,
    ...unpaced,
  };
};

/** The variables that give a profile these settings. */
export const variablesFor = (
  values: Partial<Record<SettingKey, string>>,
  profile: string | undefined,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (isProviderAccount(profile) ? [] : describeSettings(profile)).flatMap(
      ({ key, environment }) => {
        const value = values[key];
        return value === undefined ? [] : [[environment, value] as const];
      },
    ),
  );

/** Refuses the lists that the service refuses. */
const forbiddenLists = (kinds: readonly KindReading[]): readonly FaultRule[] =>
  kinds.map(({ definition }) => {
    const { method, template } = setUpOperation(definition, "list");
    return { on: `${method} ${template}`, kind: "forbidden-list", times: 1_000_000, after: 0 };
  });

/**
 * Starts an emulator of an account.
 *
 * @param given how it behaves if the service's behavior is not certain
 */
export const emulateAccount = async (
  reading: RehearsedAccount,
  document: StackExport,
  given: Partial<Switches>,
) => {
  const { settings, client } = reading;
  const { profile, platformName, put } = settings;
  const { objects, secrets, missing } = copyAccount(reading, stateBodies(document, reading));
  const switches = parseSwitches({
    platformName,
    ...(missing.length > 0 ? { unknownReference: "accept" } : {}),
    // As the service was observed to return them.
    ...(secrets.size > 0 ? { secrets: waysWithSecrets.find((way) => secrets.has(way)) } : {}),
    ...(put === undefined ? {} : { put }),
    ...given,
  });
  const [clientId, clientSecret] = ["rehearsal", randomSecret()];
  const service = createService({ plan: "none", switches });
  // Not by snapshot, which refuses objects in a form that this product does not know.
  service.store.replaceAll(objects);
  service.clients.put({ clientId, clientSecret, scopes: client.scopes });
  service.faults.add(forbiddenLists(refusedLists(reading, client)));
  const calls: string[] = [];
  const { address, close } = await serveRun(service, (call) => calls.push(call));
  const access = {
    baseUrl: address + paths.base,
    tokenUrl: address + paths.token,
    clientId,
    clientSecret,
  };
  const values = valuesFor(settings, client, access);
  const instead = { [settings.baseUrl]: values, [access.baseUrl]: values };
  return {
    ...{ profile, address, missing, calls, close },
    /** Environment variables that point a program at it. */
    variables: variablesFor(values, profile),
    /** The same for providers that a program gives settings itself, by `baseUrl`. */
    instead: instead satisfies EmulatedAddresses["instead"],
    before: objects,
    /** Its current objects. */
    objects: (): CopiedObjects =>
      Object.fromEntries(
        resources.map(({ collection }) => [collection, service.store.all(collection)]),
      ),
  };
};

/** An emulator with the account of a tenant. */
export type EmulatedAccount = Awaited<ReturnType<typeof emulateAccount>>;
