import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../provider/kernel/json.js";
import { tooManyRequests } from "../http/rate-limit.js";
import { noResponse, type ServiceResponse, sendResponse, serialised } from "../http/response.js";
import type { FaultRule } from "./faults.js";

const errorBody = (status: number): unknown => {
  if (status < 400) return undefined;
  if (status === 429) return tooManyRequests;
  return { code: `${status}-100`, developerMessage: "This answer was asked for with a fault." };
};

/** With these an answer ends at its head (RFC 9110 §6.4.1): a body would be taken for the next answer. */
const withoutBody = [204, 205, 304];

/** The response that a fault asks for; without a body of its own a failure gets the service's. */
const statusResponse = ({ status = 500, body, headers = {} }: FaultRule): ServiceResponse =>
  withoutBody.includes(status)
    ? { status, headers }
    : { status, body: body === undefined ? errorBody(status) : body, headers };

/**
 * What a fault does before the service acts.
 *
 * @returns the response where the service is not to act; undefined: it acts
 */
export const beforeOperation = async (
  fault: FaultRule,
  response: ServerResponse,
): Promise<ServiceResponse | undefined> => {
  switch (fault.kind) {
    case "status":
      return statusResponse(fault);
    case "redirect":
      return { status: 307, headers: { location: fault.location ?? "" } };
    case "drop-before-commit":
      response.destroy();
      return noResponse;
    case "hang":
      return noResponse;
    case "delay":
      await sleep(fault.ms ?? 0, undefined, { ref: false });
      return undefined;
    default:
      return undefined;
  }
};

/** These faults send a body whatever the service answers. */
const withBody = ({ status, body, headers }: ServiceResponse) => ({
  status: status === 204 ? 200 : status,
  bytes: Buffer.from(serialised(body ?? { accepted: true })),
  headers: { "content-type": "application/json", ...headers },
});

const truncate = (response: ServerResponse, answer: ServiceResponse): void => {
  const { status, bytes, headers } = withBody(answer);
  response.writeHead(status, { ...headers, "content-length": bytes.length + 100 });
  // The socket goes only when this part is out, so that the caller sees an answer that breaks off.
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy());
};

const drip = async (response: ServerResponse, answer: ServiceResponse): Promise<void> => {
  const { status, bytes, headers } = withBody(answer);
  response.writeHead(status, { ...headers, "content-length": bytes.length });
  for (const byte of bytes) {
    if (response.destroyed) return;
    response.write(Uint8Array.of(byte));
    await sleep(200, undefined, { ref: false });
  }
  response.end();
};

const hugeBytes = 24 * 1024 * 1024;

const sendHuge = (response: ServerResponse, answer: ServiceResponse): void => {
  response.writeHead(withBody(answer).status, { "content-type": "application/json" });
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
const withoutId = (answer: ServiceResponse): ServiceResponse => {
  const { id: _id, access_token: _token, ...rest } = isObject(answer.body) ? answer.body : {};
  return { ...answer, status: withBody(answer).status, body: rest };
};

const page = "<!doctype html><html><body>The service is being maintained.</body></html>";

/** Sends an answer in the way that a fault spoils it. */
export const sendWithFault = (
  response: ServerResponse,
  answer: ServiceResponse,
  fault: FaultRule,
) => {
  if (answer === noResponse) return;
  switch (fault.kind) {
    case "status-after-commit":
      return sendResponse(response, statusResponse(fault));
    case "drop-after-commit":
      return void response.destroy();
    case "truncate":
      return truncate(response, answer);
    case "not-json":
      return sendResponse(response, { status: withBody(answer).status, body: page });
    case "no-id":
      return sendResponse(response, withoutId(answer));
    case "drip":
      return void drip(response, answer);
    case "huge":
      return sendHuge(response, answer);
    default:
      return sendResponse(response, answer);
  }
};
