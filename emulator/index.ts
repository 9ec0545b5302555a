import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { controlOf } from "./control/control.js";
import { controlThrough, type EmulatorControl } from "./control/emulator-control.js";
import { createService, type EmulatedServiceOptions } from "./hub/service.js";
import { createRequestListener, paths } from "./listener.js";

export type {
  DeliveryMatch,
  EmulatorControl,
  EmulatorStats,
  FaultRequest,
} from "./control/emulator-control.js";
export { ControlError, type ControlOptions, connectControl } from "./control/emulator-control.js";
export type { EmulatorSnapshot } from "./control/snapshot.js";
export type { ConversationDocument, StoredMessage } from "./conversations/conversation-store.js";
export type { DeliveryEntry } from "./conversations/deliveries.js";
export type { StoredObject } from "./objects/objects.js";
export { type BucketLevel, type PlanName, planNames } from "./service/access.js";
export type { CallCounts, LogEntry } from "./service/calls.js";
export type { FaultKind, FaultRule } from "./service/faults.js";
export {
  parseSwitch,
  type Switch,
  type Switches,
  type SwitchName,
  switchTable,
} from "./service/switches.js";
export type { Client } from "./tokens/clients.js";

/** The certificate and key of a TLS server, as PEM text. */
export interface TlsFiles {
  /** The certificate, followed by its intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

/** How an emulator behaves, and where it listens. */
export interface EmulatorOptions extends EmulatedServiceOptions {
  /** Port to listen on. Default: 0 (any free port). */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /**
   * Lets other hosts control the emulator and requires this secret in every control call; `true`
   * generates a random secret. If omitted, only this machine may control the emulator, without a
   * secret.
   */
  readonly controlSecret?: string | true;
  /** Serves https with this certificate. If omitted, serves http. */
  readonly tls?: TlsFiles;
}

/** What a client needs to reach a running emulator. */
export interface EmulatorAddresses {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly authUrl: string;
  readonly customerAuthUrl: string;
  readonly customerTokenUrl: string;
  readonly controlUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * The secret that control calls must send as `Authorization: Bearer`; present only if the
   * emulator requires one.
   */
  readonly controlSecret?: string;
  /** The certificate that callers must trust, as PEM text; present only with TLS. */
  readonly certificate?: string;
}

/** A running emulator: its URLs, its control interface, and a way to stop it. */
export interface Emulator extends EmulatorAddresses, AsyncDisposable {
  /**
   * The emulator's control interface, which shows what happened and makes calls fail; needs neither
   * a URL nor a secret.
   */
  readonly control: EmulatorControl;
  /**
   * Advances a manual clock by a number of milliseconds.
   *
   * @throws Error if the emulator uses the real clock
   */
  advance(ms: number): void;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

/** The address for callers on this machine, even if the server listens on all interfaces. */
const originOf = (scheme: string, host: string, port: number): string => {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

/** Room for the long headers of some callers. */
const maxHeaderSize = 64 * 1024;
/**
 * Longer than clients keep an idle connection, so that none is closed just when its next call is
 * sent.
 */
const keepAliveTimeout = 65_000;
const serverWith = (listener: RequestListener, tls: TlsFiles | undefined) => {
  if (!tls) return createServer({ maxHeaderSize, keepAliveTimeout }, listener);
  try {
    return createTlsServer({ maxHeaderSize, keepAliveTimeout, ...tls }, listener);
  } catch (error) {
    // OpenSSL's message names neither the certificate nor the key.
    throw new Error(
      "Could not start the emulator: the TLS certificate and key must be a matching pair of PEM strings.",
      {
        cause: error,
      },
    );
  }
};

const listening = async (
  listener: RequestListener,
  tls: TlsFiles | undefined,
  { port, host }: { readonly port: number; readonly host: string },
) => {
  const server = serverWith(listener, tls);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return server;
};

const secretOf = (given: string | true | undefined): string | undefined => {
  if (given === true) return randomBytes(24).toString("hex");
  if (given === undefined || /^[\x21-\x7e]{8,200}$/.test(given)) return given;
  throw new Error("controlSecret must have 8 to 200 visible ASCII characters.");
};

/**
 * Starts an emulator of the service in this process. It supports OAuth and PKCE, rate limits, and
 * the setup collections with validation, references, unique names, and deletion rules. It also
 * supports conversations, messages and their delivery to callbacks, assets, and faults on demand.
 *
 * @throws Error if the port is in use or the data file cannot be used
 */
export const startEmulator = async (options: EmulatorOptions = {}): Promise<Emulator> => {
  const { port = 0, host = "127.0.0.1", tls } = options;
  const secret = secretOf(options.controlSecret);
  const service = createService(options);
  const control = controlOf(service);
  const listener = createRequestListener(service, secret);
  const end = (): void => {
    service.deliveries.close();
    service.journal.close();
  };
  const server = await listening(listener, tls, { port, host }).catch((error) => {
    end();
    throw error;
  });
  const origin = originOf(tls ? "https" : "http", host, (server.address() as AddressInfo).port);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    end();
  };
  const { clientId, clientSecret = "" } = service.clients.own;
  return {
    baseUrl: origin + paths.base,
    tokenUrl: origin + paths.token,
    authUrl: origin + paths.authorize,
    customerAuthUrl: origin + paths.customerAuthorize,
    customerTokenUrl: origin + paths.customerToken,
    controlUrl: origin + paths.control,
    clientId,
    clientSecret,
    ...(secret === undefined ? {} : { controlSecret: secret }),
    ...(tls === undefined ? {} : { certificate: tls.cert }),
    control: controlThrough(async (method, path, sent) => {
      const { status, body } = control(method, paths.control + path, sent ?? "");
      return { status, text: body === undefined ? "" : JSON.stringify(body) };
    }),
    advance: service.clock.advance,
    close,
    [Symbol.asyncDispose]: close,
  };
};
