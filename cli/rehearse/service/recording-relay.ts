import { randomBytes } from "node:crypto";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, jsonIn } from "../../../provider/kernel/json.js";
import type { Endpoint, Method } from "../../../provider/service/http/operations.js";
import type { RehearsedTime } from "./rehearsed-time.js";

/** A call of a rehearsal as it arrived and was answered. */
export interface RehearsedCall {
  readonly profile?: string;
  readonly method: Method;
  /** Such as `/channels/{id}`. */
  readonly template: string;
  readonly collection: string;
  /** Id in the path, or of what the call has made. */
  readonly id?: string;
  readonly status: number;
  /** Milliseconds of the rehearsed time. */
  readonly sentAt: number;
  readonly endedAt: number;
}

export interface RelayOptions {
  readonly profile: string | undefined;
  /** Origin of the emulator, such as `http://127.0.0.1:4010`. */
  readonly target: string;
  /** Path below which the service is. */
  readonly basePath: string;
  readonly time: RehearsedTime;
  /** For a call that is wanted at a moment the one at which its rate lets it go, in milliseconds. */
  readonly turnOf: (endpoint: Endpoint, now: number) => number;
  /** From a call to its answer, in milliseconds. */
  readonly roundTripMs: number;
}

/** The way to an emulator that lets every call take the time that it would take at the service. */
export interface RecordingRelay {
  /** The address that stands for the target's origin; its path cannot be guessed. */
  readonly address: string;
  /** In the order in which they were sent; those for a token are left out. */
  readonly calls: readonly RehearsedCall[];
  readonly close: () => Promise<void>;
}

const textOf = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

interface Forwarded {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

const forward = (
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  target: string,
  agent: Agent,
): Promise<Forwarded> =>
  new Promise((resolve, reject) => {
    const { host: _, ...others } = headers;
    const sent = request(target + url, { method, headers: others, agent }, (answer) => {
      textOf(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** `/channels/7` → its collection, its template and its id. */
const partsOf = (path: string) => {
  const [, collection = "", id] = path.split("/");
  const template = id === undefined ? `/${collection}` : `/${collection}/{id}`;
  return { collection, template, ...(id === undefined ? {} : { id: decodeURIComponent(id) }) };
};

const createdId = ({ status, body }: Forwarded): string | undefined => {
  const made = status === 201 ? jsonIn(body.toString()) : undefined;
  return isObject(made) && typeof made.id === "string" ? made.id : undefined;
};

const methods: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const methodOf = ({ method }: IncomingMessage): Method =>
  methods.find((known) => known === method) ?? "GET";

/** What a rehearsal never does, as it would reach people: the emulator delivers messages to callbacks. */
const isMessage = ({ collection }: { readonly collection: string }): boolean =>
  collection === "conversations" || collection === "assets";

/** Starts a relay on a free port of this machine. */
export const startRelay = async (options: RelayOptions): Promise<RecordingRelay> => {
  const { profile, target, basePath, time, turnOf, roundTripMs } = options;
  const agent = new Agent({ keepAlive: true });
  const calls: RehearsedCall[] = [];

  const carryOut = async (incoming: IncomingMessage, response: ServerResponse, body: Buffer) => {
    const [path = ""] = (incoming.url ?? "").split("?");
    const isToken = !path.startsWith(`${basePath}/`);
    const parts = partsOf(path.slice(basePath.length));
    const method = methodOf(incoming);
    const endpoint = { method, template: parts.template };
    const sentAt = isToken ? time.now() : turnOf(endpoint, time.now());
    await time.until(sentAt);
    const answer = await time.during(() =>
      isMessage(parts) && !isToken
        ? Promise.resolve({ status: 403, headers: {}, body: Buffer.alloc(0) })
        : forward(incoming, body, target, agent),
    );
    const endedAt = sentAt + roundTripMs;
    if (!isToken) {
      const id = createdId(answer);
      const of = profile === undefined ? {} : { profile };
      calls.push({
        ...of,
        method,
        ...parts,
        ...(id ? { id } : {}),
        status: answer.status,
        sentAt,
        endedAt,
      });
    }
    await time.until(endedAt);
    const { "transfer-encoding": _, connection: __, ...headers } = answer.headers;
    response.writeHead(answer.status, headers).end(answer.body);
    time.answered();
  };

  // Only the run knows it: calls of others on this machine would count as its own, and hold its time up.
  const secretPath = `/${randomBytes(24).toString("hex")}`;
  const server = createServer((incoming, response) => {
    const { url = "" } = incoming;
    if (!url.startsWith(`${secretPath}/`)) {
      incoming.resume();
      response.writeHead(404).end();
      return;
    }
    incoming.url = url.slice(secretPath.length);
    time.woken();
    textOf(incoming)
      .then((body) => carryOut(incoming, response, body))
      .catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${secretPath}`,
    calls,
    close: async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
};
