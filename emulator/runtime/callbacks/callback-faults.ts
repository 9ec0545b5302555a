import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRule } from "../../control/faults.js";
import { NoAnswer, type OutgoingAnswer, type OutgoingCall } from "./outgoing.js";

const lost = (): NoAnswer => new NoAnswer("ECONNRESET");

/**
 * Makes a call to a callback in the way that a fault spoils it: as though the callback, or the line
 * to it, had behaved so.
 *
 * @throws NoAnswer that says why there is no answer
 */
export const callWithFault = async (
  fault: FaultRule | undefined,
  call: OutgoingCall,
  send: (call: OutgoingCall) => Promise<OutgoingAnswer>,
): Promise<OutgoingAnswer> => {
  switch (fault?.kind) {
    case "status":
      return { status: fault.status ?? 500, body: "" };
    case "status-after-commit":
      await send(call);
      return { status: fault.status ?? 500, body: "" };
    case "drop-before-commit":
      throw lost();
    case "drop-after-commit":
      await send(call);
      throw lost();
    case "hang":
      // Nobody learns more from waiting for it.
      throw new NoAnswer(`no answer within ${call.deadlineMs} ms`);
    case "delay":
      await sleep(fault.ms ?? 0, undefined, { ref: false, signal: call.signal });
      return send(call);
    default:
      return send(call);
  }
};
