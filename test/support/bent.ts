import { createServer, type IncomingMessage } from "node:http";
import { paths } from "../../emulator/http/listener.js";
import type { EmulatorOptions } from "../../emulator/index.js";
import { type Emulated, emulated } from "./emulated.js";
import { closeServer, listenHere, originOf } from "./loopback-server.js";

type Json = Record<string, unknown>;

/** One call on its way through: `channels`, and the id where it is about one object. */
export interface BentCall {
  readonly method: string;
  readonly collection: string;
  readonly id: string | undefined;
}

export interface BentAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly date?: string;
  /** Sent as it is, in place of the body. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a service differs from the emulator behind it. */
export interface Ways {
  /** What the service makes of a body before it stores it. */
  readonly stored?: (body: Json, call: BentCall) => Json;
  /** How it shows an object, in lists and alone. */
  readonly shown?: (object: Json, call: BentCall) => Json;
  /** Anything else; `lost`: the connection ends after the effect. */
  readonly answer?: (answer: BentAnswer, call: BentCall) => BentAnswer | "lost";
}

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shownBody = (body: unknown, call: BentCall, { shown }: Ways): unknown => {
  if (!shown || call.method !== "GET" || !isObject(body)) return body;
  if (call.id !== undefined) return "id" in body ? shown(body, call) : body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((item) => shown(item as Json, call)) : value,
    ]),
  );
};

const callOf = (method = "GET", url = "/"): BentCall => {
  const [collection = "", id] = new URL(url, "http://x").pathname
    .replace(/^.*\/v\d+\//, "")
    .split("/");
  return { method, collection, id };
};

/** A hub whose ways a test may change while it runs. */
export interface Bent extends Emulated {
  readonly bend: { ways: Ways };
}

/** The emulator behind a service with ways of its own. */
export const bent = async (
  ways: Ways = {},
  options: EmulatorOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Bent> => {
  let origin = "";
  const current = { ways };
  const server = createServer(async (request, response) => {
    const call = callOf(request.method, request.url);
    const bytes = await read(request);
    const { stored, answer } = current.ways;
    const body =
      bytes.length > 0 && stored
        ? JSON.stringify(stored(JSON.parse(bytes.toString()) as Json, call))
        : bytes;
    const { authorization, "content-type": type = "application/json" } = request.headers;
    const given = await fetch(origin + request.url, {
      method: call.method,
      headers: { "content-type": type, ...(authorization ? { authorization } : {}) },
      ...(bytes.length > 0 ? { body } : {}),
    });
    const text = await given.text();
    const plain: BentAnswer = {
      status: given.status,
      body: shownBody(text === "" ? undefined : JSON.parse(text), call, current.ways),
      date: given.headers.get("date") ?? "",
    };
    const bentAnswer = answer ? answer(plain, call) : plain;
    if (bentAnswer === "lost") {
      response.destroy();
      return;
    }
    const { body: shown, text: raw, headers } = bentAnswer;
    const content = raw ?? (shown === undefined ? "" : JSON.stringify(shown));
    response.sendDate = false;
    response.writeHead(bentAnswer.status, {
      ...(bentAnswer.date ? { date: bentAnswer.date } : {}),
      ...(content ? { "content-type": "application/json" } : {}),
      ...headers,
    });
    response.end(content);
  });
  await listenHere(server);
  const own = originOf(server);
  const hub = await emulated(options, {
    ...environment,
    CONVERSATION_BASE_URL: own + paths.base,
  });
  origin = new URL(hub.emulator.baseUrl).origin;
  const stop = async (): Promise<void> => {
    await hub.stop();
    await closeServer(server);
  };
  return Object.assign(Object.create(hub) as Emulated, { bend: current, stop });
};
