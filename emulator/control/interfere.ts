import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../http/refusal.js";
import { tooManyRequests } from "../http/throttle.js";
import type { Fault } from "./faults.js";

/** No answer is to be sent: the connection is cut, or kept open for ever. */
export const silence = Symbol("silence");

const errorBody = (status: number): unknown => {
  if (status < 400) return undefined;
  if (status === 429) return tooManyRequests;
  return { code: `${status}-100`, developerMessage: "This answer was asked for with a fault." };
};

/** The answer that a fault asks for; without a body of its own a failure gets the service's. */
export const statusAnswer = ({ status = 500, body, headers = {} }: Fault): Answer => ({
  status,
  body: body === undefined ? errorBody(status) : body,
  headers,
});

/**
 * What a fault does before the service acts.
 *
 * @returns the answer where the service is not to act; undefined: it acts
 */
export const interfere = async (
  fault: Fault | undefined,
  response: ServerResponse,
): Promise<Answer | typeof silence | undefined> => {
  switch (fault?.kind) {
    case "status":
      return statusAnswer(fault);
    case "redirect":
      return { status: 307, headers: { location: fault.location ?? "" } };
    case "drop-before-commit":
      response.destroy();
      return silence;
    case "hang":
      return silence;
    case "delay":
      await sleep(fault.ms ?? 0, undefined, { ref: false });
      return undefined;
    default:
      return undefined;
  }
};
