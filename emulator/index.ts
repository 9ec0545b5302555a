import "../provider/kernel/needed-node.js";

import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { controlOf } from "./control/control.js";
import { openDataFile } from "./control/data-file.js";
import { controlThrough, type EmulatorControl } from "./control/emulator-control.js";
import { createService, type EmulatedServiceOptions } from "./hub/service.js";
import { createRequestListener, paths } from "./listener.js";

export type {
  EmulatorControl,
  EmulatorStats,
  FaultRequest,
} from "./control/emulator-control.js";
export { ControlError, type ControlOptions, connectControl } from "./control/emulator-control.js";
export type { EmulatorSnapshot } from "./control/snapshot.js";
export type { ConversationDocument, StoredMessage } from "./conversations/conversation-store.js";
export type { DeliveryEntry } from "./conversations/deliveries.js";
export type { StoredObject } from "./objects/objects.js";
export { type PlanName, planNames } from "./service/access.js";
export type { CallCounts, LogEntry } from "./service/calls.js";
export type { FaultKind, FaultRule } from "./service/faults.js";
export type { Switches } from "./service/switches.js";
export type { Client } from "./tokens/clients.js";

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
  /**
   * Keeps everything that the emulator stores in this file, as a snapshot. If omitted, it is gone
   * when the emulator closes.
   */
  readonly data?: string;
}

/** What a client needs to reach a running emulator. */
export interface EmulatorAddresses {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly authUrl: string;
  readonly controlUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * The secret that control calls must send as `Authorization: Bearer`; present only if the
   * emulator requires one.
   */
  readonly controlSecret?: string;
}

/** A running emulator: its URLs, its control interface, and a way to stop it. */
export interface Emulator extends EmulatorAddresses, AsyncDisposable {
  /**
   * The emulator's control interface, which shows what happened and makes calls fail; needs neither
   * a URL nor a secret.
   */
  readonly control: EmulatorControl;
  /**
   * Advances a manual clock by a number of milliseconds, from 0 to 10^12.
   *
   * @throws Error if the emulator uses the real clock, or for any other number
   */
  advance(ms: number): void;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
}

/** The address for callers on this machine, even if the server listens on all interfaces. */
const originOf = (host: string, port: number): string => {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

/** Room for the long headers of some callers. */
const maxHeaderSize = 64 * 1024;
/**
 * Longer than clients keep an idle connection, so that none is closed just when its next call is
 * sent.
 */
const keepAliveTimeout = 65_000;
const startServer = async (listener: RequestListener, port: number, host: string) => {
  const server = createServer({ maxHeaderSize, keepAliveTimeout }, listener);
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
  const { port = 0, host = "127.0.0.1" } = options;
  const secret = secretOf(options.controlSecret);
  const service = createService(options);
  const control = controlOf(service);
  const data = options.data === undefined ? undefined : openDataFile(service, options.data);
  // Those of this start win over those of the file.
  Object.assign(service.switches, options.switches);
  const answer = createRequestListener(service, secret);
  const server = await startServer(
    (request, response) => {
      if (request.method !== "GET") response.once("close", () => data?.saveSoon());
      answer(request, response);
    },
    port,
    host,
  );
  const origin = originOf(host, (server.address() as AddressInfo).port);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
    service.deliveries.close();
    data?.save();
  };
  const { clientId, clientSecret = "" } = service.clients.own;
  return {
    baseUrl: origin + paths.base,
    tokenUrl: origin + paths.token,
    authUrl: origin + paths.authorize,
    controlUrl: origin + paths.control,
    clientId,
    clientSecret,
    ...(secret === undefined ? {} : { controlSecret: secret }),
    control: controlThrough(async (method, path, sent) => {
      const { status, body } = control(method, paths.control + path, sent ?? "");
      return { status, text: body === undefined ? "" : JSON.stringify(body) };
    }),
    advance: service.clock.advance,
    close,
    [Symbol.asyncDispose]: close,
  };
};
