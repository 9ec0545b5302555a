import type { Place } from "./callback-server.mts";
import type { NothingCame } from "./inbox.mts";
import type { Side, SideName } from "./side.mts";

const at = ({ host, port }: Place): string => `${host}:${port}`;

/** Why a message of the service did not get to a side. */
const unreached = ({ name, url, answers }: Side, place: Place): string => {
  const refused = answers.find((status) => status >= 400);
  const what = `The broken link: from the service to the callback of the ${name}, ${url}.`;
  if (refused === 401)
    return `${what} The service called, but with another password than the one that was expected (401). Run pulumi up, then set ORDERS_BOT_STACK anew.`;
  if (refused !== undefined) return `${what} The service called, and was answered ${refused}.`;
  return `${what} The service accepted a message for it, but never called. Check that this address leads to ${at(place)}, where this program listens; if not, change callbackUrl in the stack's configuration and run pulumi up.`;
};

const reason = (id: string, sender: Side, customer: Side, place: Place): string => {
  if (sender.isBusy())
    return `The broken link: from the ${sender.name} to the service. The ${sender.name} got a message, and the service has not answered its call yet.`;
  const isReached = sender.messages.some(({ conversationId }) => conversationId === id);
  return unreached(isReached ? customer : sender, place);
};

/**
 * Which link of the chain broke, as far as the callbacks tell.
 *
 * @param sides what came to them since the customer last said something
 */
export const brokenLink = (
  { expected: { conversationId, from }, message }: NothingCame,
  sides: Readonly<Record<SideName, Side>>,
  place: Place,
): string => `${message}\n${reason(conversationId, sides[from], sides.customer, place)}`;
