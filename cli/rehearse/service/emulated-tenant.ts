import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { controlRoutes } from "../../../emulator/control/control-routes.js";
import { createRequestListener, paths } from "../../../emulator/http/listener.js";
import type { FaultRule, Switches } from "../../../emulator/index.js";
import { createService, type EmulatedService } from "../../../emulator/service/service.js";
import { parseSwitches } from "../../../emulator/service/switches.js";
import { unlimitedBurst } from "../../../provider/pacing/pacer.js";
import { resources } from "../../../provider/resources/index.js";
import { endpointName, setUpOperation } from "../../../provider/service/http/operations.js";
import type { SettingKey, Settings } from "../../../provider/service/setting-table.js";
import { describeSettings } from "../../../provider/service/settings.js";
import type { KindReading } from "../../account/read-account.js";
import { type Conditions, endpointLimit } from "../../forecast/conditions.js";
import { rateBucket } from "../../forecast/simulation/simulated-service.js";
import { foundSwitches } from "../../probe/probe-findings.js";
import type { StackExport } from "../../stack/stack-export.js";
import { type CopiedObjects, copyAccount, stateBodies } from "./account-copy.js";
import { type DeployingClient, refusedLists } from "./deploying-client.js";
import { type RehearsedCall, type RelayOptions, startRelay } from "./recording-relay.js";
import type { RehearsedTime } from "./rehearsed-time.js";
import type { TenantReading } from "./tenant-reading.js";

/** An emulator with the account of a tenant, behind a relay that lets time pass as at the service. */
export interface EmulatedTenant {
  /** Environment variables and configuration that point a program at it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, string>>;
  readonly before: CopiedObjects;
  readonly missing: readonly string[];
  /** Whether the lists show what the service does with secrets. */
  readonly showsSecrets: boolean;
  readonly calls: readonly RehearsedCall[];
  /** The objects that it has now. */
  readonly objects: () => CopiedObjects;
  readonly close: () => Promise<void>;
}

export interface TenantOptions {
  readonly reading: TenantReading;
  readonly client: DeployingClient;
  readonly document: StackExport;
  readonly conditions: Conditions;
  readonly time: RehearsedTime;
  /** How the emulator behaves where the service's behaviour is not certain. */
  readonly switches: Partial<Switches>;
}

/** The relay knows the rates: a run that kept to them by itself would wait in real time. */
const noLimit = String(unlimitedBurst);

const kept = ["scope", "platformName", "ownershipMark", "put"] as const;

/** What the run is told of the tenant: the emulator's address, and what decides what it does. */
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
    describeSettings(profile).flatMap((names) => {
      const value = values[names.key];
      return value === undefined ? [] : [[names[source], value] as const];
    }),
  );

/** How the emulator gives secrets back: as the service was seen to. */
const secretsSwitch = ({ masked, omitted, echoed }: Record<string, number>) => {
  if (masked) return { secrets: "mask" } as const;
  if (omitted) return { secrets: "omit" } as const;
  return echoed ? ({ secrets: "echo" } as const) : {};
};

/** What an account's settings say of the service, and what a probe of it found out. */
export const knownSwitches = ({ put, findings }: Settings): Partial<Switches> => {
  const found = findings === undefined ? {} : foundSwitches(findings);
  return put === undefined ? found : { ...found, put };
};

/** Refuses the lists that the service refuses. */
const forbiddenLists = (kinds: readonly KindReading[]): readonly FaultRule[] =>
  kinds.map(({ definition }) => {
    const { method, template } = setUpOperation(definition, "list");
    return { on: `${method} ${template}`, kind: "forbidden-list", times: 1_000_000, after: 0 };
  });

/** A bucket for each endpoint, full at the start. */
const turnsOf = (conditions: Conditions): RelayOptions["turnOf"] => {
  const buckets = new Map<string, (now: number) => number>();
  return (endpoint, now) => {
    const name = endpointName(endpoint);
    const take = buckets.get(name) ?? rateBucket(endpointLimit(endpoint, conditions));
    buckets.set(name, take);
    return take(now / 1000) * 1000;
  };
};

const randomSecret = (): string => randomBytes(24).toString("base64url");

/** Not by snapshot: that refuses what has a form which this product does not know. */
const serve = async (service: EmulatedService) => {
  const routes = controlRoutes(service, paths.control);
  // Nobody controls it from outside: it holds the secrets of the stack in clear.
  const server = createServer(createRequestListener(service, { routes, secret: randomSecret() }));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      service.deliveries.close();
    },
  };
};

const clientId = "rehearsal";

/** Starts an emulator of a tenant. */
export const emulateTenant = async (options: TenantOptions): Promise<EmulatedTenant> => {
  const { reading, client, document, conditions, time } = options;
  const { settings, account, roundTripMs, pageSize } = reading;
  const { profile, platformName } = settings;
  const isPartial = account.kinds.some(({ problem }) => problem !== undefined);
  const copy = copyAccount(reading, stateBodies(document, settings));
  const switches = parseSwitches({
    platformName,
    ...(isPartial || copy.missing.length > 0 ? { unknownReference: "accept" } : {}),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...secretsSwitch({ ...copy.secrets }),
    ...options.switches,
  });
  const clientSecret = randomSecret();
  const service = createService({ plan: "none", switches });
  service.store.replaceAll(copy.objects);
  service.clients.put({ clientId, clientSecret, scopes: client.scopes });
  service.faults.add(forbiddenLists(refusedLists(reading, client)));
  const emulator = await serve(service);
  const relay = await startRelay({
    profile,
    target: emulator.origin,
    basePath: paths.base,
    time,
    roundTripMs,
    turnOf: turnsOf(conditions),
  });
  const access = {
    baseUrl: relay.address + paths.base,
    tokenUrl: relay.address + paths.token,
    clientId,
    clientSecret,
  };
  const values = valuesFor(settings, client, access);
  return {
    variables: namedValues(values, profile, "environment"),
    config: namedValues(values, profile, "config"),
    before: copy.objects,
    missing: copy.missing,
    showsSecrets: Object.values(copy.secrets).some((count) => count > 0),
    calls: relay.calls,
    objects: () =>
      Object.fromEntries(
        resources.map(({ collection }) => [collection, service.store.all(collection)]),
      ),
    close: async () => {
      await relay.close();
      await emulator.close();
    },
  };
};
