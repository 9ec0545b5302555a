import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRule } from "../../control/faults.js";
import { NoAnswer, type OutgoingAnswer, type OutgoingCall } from "./outgoing.js";

type Send = (call: OutgoingCall) => Promise<OutgoingAnswer>;

const lost = (): NoAnswer => new NoAnswer("ECONNRESET");

const late = ({ deadlineMs }: OutgoingCall): NoAnswer =>
  new NoAnswer(`no answer within ${deadlineMs} ms`);

/** The time counts as the callback's own: where it takes too long, nobody waits for the rest of it. */
const delayed = async (ms: number, call: OutgoingCall, send: Send): Promise<OutgoingAnswer> => {
  const { deadlineMs, signal } = call;
  await sleep(Math.min(ms, deadlineMs), undefined, { ref: false, signal });
  if (ms >= deadlineMs) throw late(call);
  return send({ ...call, deadlineMs: deadlineMs - ms });
};

/**
 * Makes a call to a callback in the way that a fault spoils it: as though the callback, or the line
 * to it, had behaved so.
 *
 * @throws NoAnswer that says why there is no answer
 */
export const callWithFault = async (
  fault: FaultRule | undefined,
  call: OutgoingCall,
  send: Send,
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
      throw late(call);
    case "delay":
      return delayed(fault.ms ?? 0, call, send);
    default:
      return send(call);
  }
};
