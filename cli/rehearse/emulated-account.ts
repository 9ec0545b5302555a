import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createService, type EmulatedService } from "../../emulator/hub/service.js";
import type { StoredObject, Switches } from "../../emulator/index.js";
import { createRequestListener, paths } from "../../emulator/listener.js";
import { parseSwitches } from "../../emulator/service/switches.js";
import type { Definition } from "../../provider/definition/define.js";
import { looksMasked, valuesIn } from "../../provider/definition/fields.js";
import { bodyOf } from "../../provider/definition/wire.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { propertiesIn } from "../../provider/lifecycle/resource.js";
import { unlimitedBurst } from "../../provider/pacing/pacer.js";
import { resources } from "../../provider/resources/index.js";
import type { EmulatedAddresses } from "../../provider/service/emulated-settings.js";
import {
  describeSettings,
  isProviderAccount,
  type SettingKey,
} from "../../provider/service/settings.js";
import { type KindReading, unreadAmong } from "../inventory/read-account.js";
import type { AccountName } from "../inventory/stack-accounts.js";
import {
  accountIn,
  heldObjects,
  openedValues,
  resourcesInState,
  type StackExport,
} from "../pulumi/stack-documents.js";
import type { RehearsedAccount } from "./accounts.js";

/** Objects of each collection, as an emulator accepts them. */
export type CopiedObjects = Readonly<Record<string, readonly StoredObject[]>>;

/** An object as the stack's state has it. */
interface KnownObject {
  readonly definition: Definition;
  readonly id: string;
  /** In the service's JSON, secrets in plain text. */
  readonly body: JsonObject;
}

/** The objects of one account as the stack's state has them. */
const knownObjects = (
  document: StackExport,
  { settings, names }: RehearsedAccount,
): readonly KnownObject[] =>
  heldObjects(resourcesInState(document)).flatMap(({ definition, id, resource }) => {
    if (!names.includes(accountIn(resource))) return [];
    const { fields } = propertiesIn(openedValues(resource.inputs));
    return [{ definition, id, body: bodyOf(definition, fields, settings) }];
  });

const secretsOf = ({ fields }: Definition, wire: JsonObject): readonly unknown[] =>
  valuesIn(fields, wire).flatMap(({ field, value }) => (field.secret ? [value] : []));

/** How the service shows secrets; undefined if neither the account nor the state has one. */
const secretsShown = (
  kinds: readonly KindReading[],
  known: readonly KnownObject[],
): Switches["secrets"] | undefined => {
  const shown = kinds.flatMap(({ definition, objects }) =>
    [...objects.values()].flatMap((wire) => secretsOf(definition, wire)),
  );
  if (shown.some((value) => typeof value === "string" && looksMasked(value))) return "mask";
  if (shown.length > 0) return "echo";
  const isHidden = known.some(({ definition, body }) => secretsOf(definition, body).length > 0);
  return isHidden ? "omit" : undefined;
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
  known: readonly KnownObject[],
): readonly StoredObject[] => {
  const listed = [...objects].map(([key, wire]) => ({
    ...wire,
    id: textOr(wire.id, key),
    created: textOr(wire.created, epoch),
    modified: textOr(wire.modified, epoch),
  }));
  const unlisted = known.filter(
    ({ definition: { kind }, id }) =>
      problem !== undefined && kind === definition.kind && !objects.has(id),
  );
  return [
    ...listed,
    ...unlisted.map(({ id, body }) => ({ ...body, id, created: epoch, modified: epoch })),
  ];
};

/**
 * Copies an account: every object with its ID.
 *
 * @returns the copy, with what could not be copied and why, each a sentence
 */
export const copyAccount = (account: RehearsedAccount, document: StackExport) => {
  const { kinds } = account.reading;
  const known = knownObjects(document, account);
  const objects: CopiedObjects = Object.fromEntries(
    kinds.map((kind) => [kind.definition.collection, copyOfKind(kind, known)]),
  );
  const missing = unreadAmong(kinds).map(
    ({ definition: { noun }, problem }) =>
      `The copy contains only the ${noun}s in the stack's state: ${problem}`,
  );
  return { objects, missing, secrets: secretsShown(kinds, known) };
};

/** A call that a rehearsal never makes: the emulator would deliver the message to a callback. */
const reachesPeople = /^\/(conversations|assets)(\/|$)/;

const randomSecret = (): string => randomBytes(24).toString("base64url");

/**
 * Serves a service on a free port of this machine, at a path that only the run knows: nobody else
 * on this machine can call it.
 *
 * @param onCall receives each call, such as `PUT /channels/<id>`, except those for a token
 */
const serveRun = async (
  service: EmulatedService,
  onCall: (call: string) => void,
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

/** Nothing on an emulator waits for a rate: the time of the real run is forecast. */
const unpaced = { plan: "enterprise", burst: String(unlimitedBurst), share: "1" } as const;

/** The variables that give a profile these settings; none for an explicit provider. */
const variablesFor = (
  values: Partial<Record<SettingKey, string>>,
  profile: AccountName,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (isProviderAccount(profile) ? [] : describeSettings(profile)).flatMap(
      ({ key, environment }) => {
        const value = values[key];
        return value === undefined ? [] : [[environment, value] as const];
      },
    ),
  );

/**
 * Starts an emulator of an account.
 *
 * @param given how it behaves if the service's behavior is not certain
 */
export const emulateAccount = async (
  account: RehearsedAccount,
  document: StackExport,
  given: Partial<Switches>,
) => {
  const { settings, names, scopes } = account;
  const { platformName, put } = settings;
  const { objects, secrets, missing } = copyAccount(account, document);
  const switches = parseSwitches({
    platformName,
    ...(missing.length > 0 ? { unknownReference: "accept" } : {}),
    ...(secrets ? { secrets } : {}),
    ...(put === undefined ? {} : { put }),
    ...given,
  });
  const client = { clientId: "rehearsal", clientSecret: randomSecret() };
  const service = createService({ plan: "none", switches });
  // Not by snapshot, which refuses objects in a form that this product does not know.
  service.store.replaceAll(objects);
  service.clients.put({ ...client, scopes });
  const calls: string[] = [];
  const { address, close } = await serveRun(service, (call) => calls.push(call));
  const baseUrl = address + paths.base;
  // Those that decide what a run writes stay as they are.
  const values: Partial<Record<SettingKey, string>> = {
    ...{ ...client, ...unpaced, baseUrl, tokenUrl: address + paths.token },
    scope: scopes.join(" "),
  };
  const instead: EmulatedAddresses["instead"] = { [settings.baseUrl]: values, [baseUrl]: values };
  return {
    ...{ names, address, missing, calls, close },
    /** Environment variables that point a program at it. */
    variables: Object.assign({}, ...names.map((name) => variablesFor(values, name))),
    /** The same for providers that a program gives settings itself, by `baseUrl`. */
    instead,
    objects: (): CopiedObjects =>
      Object.fromEntries(
        resources.map(({ collection }) => [collection, service.store.all(collection)]),
      ),
  };
};

export type EmulatedAccount = Awaited<ReturnType<typeof emulateAccount>>;
