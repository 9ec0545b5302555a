import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequestListener, paths } from "./http/request-listener.js";
import { createService, type EmulatedServiceOptions } from "./service.js";

export { type Switch, switchTable } from "./control/switch-table.js";
export { parseSwitch, type Switches, type SwitchName } from "./control/switches.js";
export { type PlanName, planNames } from "./http/rate-limit.js";

export interface EmulatorOptions extends EmulatedServiceOptions {
  /** Port to listen on; 0, the default: any free one. */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
}

/** What a client needs to know of a running emulator. */
export interface EmulatorAddresses {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly authUrl: string;
  readonly customerAuthUrl: string;
  readonly customerTokenUrl: string;
  readonly controlUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface Emulator extends EmulatorAddresses, AsyncDisposable {
  /** Moves a manual clock on, in milliseconds. @throws Error on the real clock */
  advance(ms: number): void;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

/** The address for callers on this machine, where the server listens on all. */
const originOf = (host: string, port: number): string => {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

/**
 * Starts an emulator of the service in this process: OAuth and PKCE, the set-up collections with
 * validation, references, unique names and deletion rules, messages with their delivery to callbacks,
 * conversations, assets, rate limits, faults on demand.
 *
 * @throws Error where the port is taken or the data file cannot be used
 */
export const startEmulator = async (options: EmulatorOptions = {}): Promise<Emulator> => {
  const { port = 0, host = "127.0.0.1" } = options;
  const service = createService(options);
  const server = createServer({ maxHeaderSize: 64 * 1024 }, createRequestListener(service));
  const end = (): void => {
    service.deliveries.close();
    service.journal.close();
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  }).catch((error) => {
    end();
    throw error;
  });
  const origin = originOf(host, (server.address() as AddressInfo).port);
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
    advance: service.clock.advance,
    close,
    [Symbol.asyncDispose]: close,
  };
};
