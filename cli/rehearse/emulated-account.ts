import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequestListener, paths } from "../../emulator/http/listener.js";
import type { FaultRule, StoredObject, Switches } from "../../emulator/index.js";
import { createService } from "../../emulator/service/service.js";
import { parseSwitches } from "../../emulator/service/switches.js";
import type { Field, Fields, ListField, MapField } from "../../provider/definition/define.js";
import {
  deletionOrder,
  fieldsByWireName,
  holdsSecret,
  membersOf,
} from "../../provider/definition/fields.js";
import {
  entriesByKey,
  isMissing,
  itemsOf,
  looksMasked,
  partnersOf,
} from "../../provider/definition/merge.js";
import { bodyOf } from "../../provider/definition/wire.js";
import { type Conditions, endpointLimit } from "../../provider/forecast/forecast.js";
import { rateBucket } from "../../provider/forecast/simulation.js";
import {
  isObject,
  type JsonObject,
  jsonIn,
  memberOf,
  objectOf,
} from "../../provider/kernel/json.js";
import { propertiesIn } from "../../provider/lifecycle/properties.js";
import { unlimitedBurst } from "../../provider/pacing/pacer.js";
import {
  accountIn,
  definitionOfType,
  openedValues,
  type StackExport,
} from "../../provider/pulumi-cli/stack-documents.js";
import { resources } from "../../provider/resources/index.js";
import { type EmulatedAddresses, ownSettings } from "../../provider/service/emulated-settings.js";
import {
  type Endpoint,
  endpointName,
  type Method,
  setUpOperation,
} from "../../provider/service/http/operations.js";
import type { SettingKey, Settings } from "../../provider/service/setting-table.js";
import { describeSettings, isProviderAccount } from "../../provider/service/settings.js";
import { type KindReading, unreadAmong } from "../account/read-account.js";
import {
  type DeployingClient,
  type RehearsedAccount,
  refusedLists,
  type TenantReading,
} from "./accounts.js";
import type { RehearsedTime } from "./rehearsed-time.js";

/** Replaces an unknown secret that the service omits but the object must have. */
const unknownSecret = "not-known";

/** What a service does with secrets in the objects that it returns. */
interface SecretsSeen {
  masked: number;
  omitted: number;
  echoed: number;
}

/** A secret for the copy: if the service hides it, the value in the state. */
const secretOf = (live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (isMissing(live)) {
    if (known === undefined) return undefined;
    seen.omitted += 1;
    return known;
  }
  const isHidden = typeof live === "string" && looksMasked(live) && live !== known;
  seen[isHidden ? "masked" : "echoed"] += 1;
  return isHidden ? (known ?? live) : live;
};

const inList = (field: ListField, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  const items = itemsOf(field, live);
  const partners = partnersOf(field, items, itemsOf(field, known));
  const revealed = items.map((item, place) => revealedValue(field.of, item, partners[place], seen));
  if (Array.isArray(live)) return revealed;
  return field.envelope && isObject(live) ? { ...live, [field.envelope]: revealed } : live;
};

const inMap = (field: MapField, live: unknown, known: unknown, seen: SecretsSeen): unknown => {
  if (!Array.isArray(live)) return live;
  const { key, value } = membersOf(field);
  const entries = entriesByKey(field, known);
  return live.map((entry: unknown) =>
    isObject(entry)
      ? {
          ...entry,
          [value]:
            revealedValue(field.of, entry[value], entries.get(String(entry[key]))?.[value], seen) ??
            unknownSecret,
        }
      : entry,
  );
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
 * @param seen counts what the service does with secrets
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

/** The objects of an account as a state has them, in the service's JSON: by kind and ID. */
type StateBodies = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

/** The objects of one account as the stack's state has them, secrets in plain text. */
export const stateBodies = (
  document: StackExport,
  { settings, alsoNamed = [] }: Pick<TenantReading, "settings" | "alsoNamed">,
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
export const copyAccount = ({ account }: TenantReading, bodies: StateBodies) => {
  const secrets: SecretsSeen = { masked: 0, omitted: 0, echoed: 0 };
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

/** A call of a rehearsal, with its arrival and its answer. */
export interface RehearsedCall {
  readonly profile?: string;
  readonly method: Method;
  /** Such as `/channels/{id}`. */
  readonly template: string;
  readonly collection: string;
  /** ID in the path, or of the object that the call made. */
  readonly id?: string;
  readonly status: number;
  /** Milliseconds of the rehearsed time. */
  readonly sentAt: number;
  readonly endedAt: number;
}

/** How long a call takes, and when it may be sent. */
interface Timing {
  readonly time: RehearsedTime;
  /** The time at which its rate allows a call that is wanted now, in milliseconds. */
  readonly turnOf: (endpoint: Endpoint, now: number) => number;
  /** From a call to its answer, in milliseconds. */
  readonly roundTripMs: number;
}

/** An address at which every call takes the time that it would take with the service. */
export interface TimedServer {
  /** Its path cannot be guessed. */
  readonly address: string;
  /** In the order in which they were sent; those for a token are omitted. */
  readonly calls: readonly RehearsedCall[];
  readonly close: () => Promise<void>;
}

/** A response that is held back when it is ready. */
class HeldResponse extends ServerResponse {
  #held: unknown[] | undefined;

  /** Settles with the body as soon as the response is ready or the caller is gone. */
  readonly ready = new Promise<unknown>((settle) => {
    this.once("held", settle);
    this.once("close", settle);
  });

  override end(...given: unknown[]): this {
    this.#held = given;
    this.emit("held", given[0]);
    return this;
  }

  /** Sends the response that was held back. */
  release(): void {
    if (this.#held) Reflect.apply(super.end, this, this.#held);
  }
}

/** `/channels/7` → its collection, its template, and its ID. */
const partsOf = (path: string) => {
  const [, collection = "", id] = path.split("/");
  const template = id === undefined ? `/${collection}` : `/${collection}/{id}`;
  return { collection, template, ...(id === undefined ? {} : { id: decodeURIComponent(id) }) };
};

const createdId = (status: number, body: unknown): string | undefined => {
  const made = status === 201 ? jsonIn(String(body)) : undefined;
  return isObject(made) && typeof made.id === "string" ? made.id : undefined;
};

const methods: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * A call that a rehearsal never makes, as it would reach people: the emulator delivers messages to
 * callbacks.
 */
const isMessage = ({ collection }: { readonly collection: string }): boolean =>
  collection === "conversations" || collection === "assets";

/**
 * Serves on a free port of this machine, in rehearsed time.
 *
 * @param serve answers a call at once
 */
export const serveInTime = async (
  serve: (incoming: IncomingMessage, response: ServerResponse) => void,
  profile: string | undefined,
  { time, turnOf, roundTripMs }: Timing,
): Promise<TimedServer> => {
  const calls: RehearsedCall[] = [];

  const answer = async (incoming: IncomingMessage, response: HeldResponse) => {
    const [path = ""] = (incoming.url ?? "").split("?");
    const isToken = !path.startsWith(`${paths.base}/`);
    const parts = partsOf(path.slice(paths.base.length));
    const method = methods.find((known) => known === incoming.method) ?? "GET";
    const sentAt = isToken ? time.now() : turnOf({ method, template: parts.template }, time.now());
    await time.until(sentAt);
    const body = await time.during(() => {
      if (isMessage(parts) && !isToken) response.writeHead(403).end();
      else serve(incoming, response);
      return response.ready;
    });
    const endedAt = sentAt + roundTripMs;
    const status = response.statusCode;
    if (!isToken) {
      const id = createdId(status, body);
      calls.push({
        ...(profile === undefined ? {} : { profile }),
        ...{ method, ...parts, ...(id ? { id } : {}) },
        ...{ status, sentAt, endedAt },
      });
    }
    await time.until(endedAt);
    response.release();
    time.answered();
  };

  // Only the run knows it: calls of others on this machine would count as the run's and hold up its
  // time.
  const secretPath = `/${randomBytes(24).toString("hex")}`;
  const server = createServer({ ServerResponse: HeldResponse }, (incoming, response) => {
    const { url = "" } = incoming;
    if (!url.startsWith(`${secretPath}/`)) {
      incoming.resume();
      response.writeHead(404).end();
      response.release();
      return;
    }
    incoming.url = url.slice(secretPath.length);
    time.woken();
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${secretPath}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
};

/** An emulator with the account of a tenant, behind a relay that lets time pass as the service would. */
export interface EmulatedAccount {
  readonly profile: string | undefined;
  /** Start of its addresses. */
  readonly address: string;
  /** Environment variables and configuration that point a program at it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, string>>;
  /** The same for providers that a program gives settings itself, by `baseUrl`. */
  readonly instead: NonNullable<EmulatedAddresses["instead"]>;
  readonly before: CopiedObjects;
  readonly missing: readonly string[];
  /** Whether the lists show what the service does with secrets. */
  readonly showsSecrets: boolean;
  readonly calls: readonly RehearsedCall[];
  /** Its current objects. */
  readonly objects: () => CopiedObjects;
  readonly close: () => Promise<void>;
}

/** The server enforces the rates: a run that did so itself would wait in real time. */
const noLimit = String(unlimitedBurst);

const kept = ["scope", ...ownSettings] as const;

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
    plan: "enterprise",
    burst: noLimit,
    share: "1",
  };
};

const namedValues = (
  values: Partial<Record<SettingKey, string>>,
  profile: string | undefined,
  source: "environment" | "config",
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (isProviderAccount(profile) ? [] : describeSettings(profile)).flatMap((names) => {
      const value = values[names.key];
      return value === undefined ? [] : [[names[source], value] as const];
    }),
  );

/** How the emulator returns secrets: as the service was observed to. */
const secretsSwitch = ({ masked, omitted, echoed }: SecretsSeen) => {
  if (masked) return { secrets: "mask" } as const;
  if (omitted) return { secrets: "omit" } as const;
  return echoed ? ({ secrets: "echo" } as const) : {};
};

/** What an account's settings say about the service. */
export const knownSwitches = ({ put }: Settings): Partial<Switches> =>
  put === undefined ? {} : { put };

/** Refuses the lists that the service refuses. */
const forbiddenLists = (kinds: readonly KindReading[]): readonly FaultRule[] =>
  kinds.map(({ definition }) => {
    const { method, template } = setUpOperation(definition, "list");
    return { on: `${method} ${template}`, kind: "forbidden-list", times: 1_000_000, after: 0 };
  });

/** A bucket for each endpoint, full at the start. */
const turnsOf = (conditions: Conditions): Timing["turnOf"] => {
  const buckets = new Map<string, (now: number) => number>();
  return (endpoint, now) => {
    const name = endpointName(endpoint);
    const take = buckets.get(name) ?? rateBucket(endpointLimit(endpoint, conditions));
    buckets.set(name, take);
    return take(now / 1000) * 1000;
  };
};

const randomSecret = (): string => randomBytes(24).toString("base64url");

const clientId = "rehearsal";

/**
 * Starts an emulator of an account.
 *
 * @param given how it behaves if the service's behavior is not certain
 */
export const emulateAccount = async (
  reading: RehearsedAccount,
  document: StackExport,
  time: RehearsedTime,
  given: Partial<Switches>,
): Promise<EmulatedAccount> => {
  const { settings, client, conditions, roundTripMs, pageSize } = reading;
  const { profile, platformName } = settings;
  const copy = copyAccount(reading, stateBodies(document, reading));
  const switches = parseSwitches({
    platformName,
    ...(copy.missing.length > 0 ? { unknownReference: "accept" } : {}),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...secretsSwitch(copy.secrets),
    ...given,
  });
  const clientSecret = randomSecret();
  const service = createService({ plan: "none", switches });
  // Not by snapshot, which refuses objects in a form that this product does not know.
  service.store.replaceAll(copy.objects);
  service.clients.put({ clientId, clientSecret, scopes: client.scopes });
  service.faults.add(forbiddenLists(refusedLists(reading, client)));
  const turnOf = turnsOf(conditions);
  // Nobody may control it from outside: it holds the secrets of the stack in plain text.
  const server = await serveInTime(createRequestListener(service, randomSecret()), profile, {
    ...{ time, turnOf, roundTripMs },
  });
  const access = {
    baseUrl: server.address + paths.base,
    tokenUrl: server.address + paths.token,
    clientId,
    clientSecret,
  };
  const values = valuesFor(settings, client, access);
  return {
    profile,
    address: server.address,
    variables: namedValues(values, profile, "environment"),
    config: namedValues(values, profile, "config"),
    instead: { [settings.baseUrl]: values, [access.baseUrl]: values },
    before: copy.objects,
    missing: copy.missing,
    showsSecrets: Object.values(copy.secrets).some((count) => count > 0),
    calls: server.calls,
    objects: () =>
      Object.fromEntries(
        resources.map(({ collection }) => [collection, service.store.all(collection)]),
      ),
    close: async () => {
      await server.close();
      service.deliveries.close();
    },
  };
};
