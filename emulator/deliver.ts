import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../provider/kernel/json.js";
import type { Fault } from "./control/faults.js";
import { statusAnswer } from "./control/interfere.js";
import type { Answer } from "./http/refusal.js";

const jsonHeaders = { "content-type": "application/json" };
const pageHeaders = { "content-type": "text/html" };

const serialised = (body: unknown): string =>
  typeof body === "string" ? body : JSON.stringify(body);

/** Sends an answer in full: text as it is, anything else as JSON. */
export const sendAnswer = (
  response: ServerResponse,
  { status, body, headers = {} }: Answer,
): void => {
  if (response.destroyed) return;
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const usual = typeof body === "string" ? pageHeaders : jsonHeaders;
  const text = serialised(body);
  response
    .writeHead(status, { ...usual, "content-length": Buffer.byteLength(text), ...headers })
    .end(text);
};

const textOf = ({ body }: Answer): string => serialised(body ?? { accepted: true });

const truncate = (response: ServerResponse, answer: Answer): void => {
  const text = textOf(answer);
  response.writeHead(answer.status === 204 ? 200 : answer.status, {
    ...jsonHeaders,
    "content-length": Buffer.byteLength(text) + 100,
  });
  // The socket goes only when this part is out, so that the caller sees an answer that breaks off.
  response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy());
};

const drip = async (response: ServerResponse, answer: Answer): Promise<void> => {
  const text = textOf(answer);
  response.writeHead(answer.status === 204 ? 200 : answer.status, {
    ...jsonHeaders,
    "content-length": Buffer.byteLength(text),
  });
  for (const byte of Buffer.from(text)) {
    if (response.destroyed) return;
    response.write(Uint8Array.of(byte));
    await sleep(200, undefined, { ref: false });
  }
  response.end();
};

const hugeBytes = 24 * 1024 * 1024;

const huge = (response: ServerResponse, { status }: Answer): void => {
  response.writeHead(status === 204 ? 200 : status, jsonHeaders);
  response.write('{"padding":"');
  const chunk = "x".repeat(1024 * 1024);
  let left = hugeBytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once("drain", more);
        return;
      }
    }
    response.end('"}');
  };
  more();
};

/** What a caller cannot do without: the id of an object, or the token itself. */
const withoutId = (answer: Answer): Answer => {
  const { id: _id, access_token: _token, ...rest } = isObject(answer.body) ? answer.body : {};
  return { ...answer, status: answer.status === 204 ? 200 : answer.status, body: rest };
};

const page = "<!doctype html><html><body>The service is being maintained.</body></html>";

/** Sends an answer in the way that a fault spoils it. */
export const sendSpoiled = (response: ServerResponse, answer: Answer, fault: Fault) => {
  switch (fault.kind) {
    case "status-after-commit":
      return sendAnswer(response, statusAnswer(fault));
    case "drop-after-commit":
      return void response.destroy();
    case "truncate":
      return truncate(response, answer);
    case "not-json":
      return void response
        .writeHead(answer.status === 204 ? 200 : answer.status, { "content-type": "text/html" })
        .end(page);
    case "no-id":
      return sendAnswer(response, withoutId(answer));
    case "drip":
      return void drip(response, answer);
    case "huge":
      return huge(response, answer);
    default:
      return sendAnswer(response, answer);
  }
};
