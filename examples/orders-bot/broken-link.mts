import type { Place } from "./callback-server.mts";
import type { NothingCame } from "./inbox.mts";
import type { Side, SideName } from "./side.mts";

const at = ({ host, port }: Place): string => `${host}:${port}`;

/** Why a message of the service did not reach a side. */
const unreached = ({ name, url, answers }: Side, place: Place): string => {
  const refused = answers.find((status) => status >= 400);
  const what = `The broken link: from the service to the callback of the ${name}, ${url}.`;
  if (refused === 401)
    return `${what} The service called it with the wrong password (401). Run pulumi up, then set ORDERS_BOT_STACK again.`;
  if (refused !== undefined) return `${what} The callback returned ${refused}.`;
  return `${what} The service accepted a message for it, but never called it. Check that this address leads to ${at(place)}, where this program listens. If not, change callbackUrl in the stack's configuration and run pulumi up.`;
};

const reason = (id: string, sender: Side, customer: Side, place: Place): string => {
  if (sender.isBusy())
    return `The broken link: from the ${sender.name} to the service. The ${sender.name} got a message, but the service has not responded to its call yet.`;
  const isReached = sender.messages.some(({ conversationId }) => conversationId === id);
  return unreached(isReached ? customer : sender, place);
};

/**
 * Which link of the chain broke, judged by the callbacks.
 *
 * @param sides what they received since the customer last said something
 */
export const brokenLink = (
  { expected: { conversationId, from }, message }: NothingCame,
  sides: Readonly<Record<SideName, Side>>,
  place: Place,
): string => `${message}\n${reason(conversationId, sides[from], sides.customer, place)}`;
