import type { DeliveryEntry } from "../../../emulator/index.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import { objectsIn, textAt } from "../../runtime/json-members.js";
import { senderFromWire } from "../../runtime/messages/message-types.js";
import type { Party, ReceivedMessage } from "../../runtime/messages/received-message.js";
import type { HubRecords } from "../checks/hub-records.js";
import { plainAddress } from "../checks/plain-address.js";

/** Whether a message got to one of those it is for. */
export interface Reached {
  /** Whom it is for. */
  readonly recipient: Party;
  /** Whether the callback accepted it. Left out: it is still on its way, as far as can be seen. */
  readonly isReached?: boolean;
  /** What the callback answered, or why nothing was delivered; empty where nothing is known. */
  readonly why: string;
}

/** A message, and whom it reached. */
export interface ReachedMessage {
  /** The message, as it stands in the conversation. */
  readonly message: ReceivedMessage;
  /** Everybody whom it is for. */
  readonly reached: readonly Reached[];
}

/** Addresses of the callbacks of each role. */
type CallbackAddresses = ReadonlyMap<string, ReadonlySet<string>>;

const callbackAddresses = async (records: HubRecords): Promise<CallbackAddresses> => {
  const applications = await records.objects(clientApplication.collection);
  const found = new Map<string, Set<string>>();
  for (const role of applications.flatMap((object) => objectsIn(object, "roles"))) {
    const kind = senderFromWire(textAt(role, "name") ?? "", records.platformName);
    const addresses = found.get(kind) ?? new Set();
    found.set(kind, addresses.add(plainAddress(textAt(role, "callback") ?? "")));
  }
  return found;
};

const isOf = ({ messageId, created }: ReceivedMessage, each: DeliveryEntry): boolean =>
  each.messageId === messageId && (!created || Date.parse(each.at) >= created.getTime());

const accepted = ({ status = 0 }: DeliveryEntry): boolean => status >= 200 && status <= 299;

const whyOf = (tries: readonly DeliveryEntry[]): string => {
  const answers = tries.map(({ status, error }) => status ?? error ?? "no answer");
  return [...new Set(answers)].join(", ");
};

const reachedOf = (
  recipient: Party,
  tries: readonly DeliveryEntry[],
  addresses: CallbackAddresses,
  finalTries: number,
): Reached => {
  const own = tries.filter(({ url, attempt, error = "" }) =>
    // Where there was nowhere to deliver to, the log names the role in place of the address.
    attempt === 0 ? error.includes(recipient.kind) : addresses.get(recipient.kind)?.has(url),
  );
  const taken = own.find(accepted);
  if (taken) return { recipient, isReached: true, why: `${taken.status}` };
  const isOver = own.some(({ attempt }) => attempt === 0 || attempt >= finalTries);
  return { recipient, why: whyOf(own), ...(isOver ? { isReached: false } : {}) };
};

/**
 * The messages of a conversation, and whom each reached.
 *
 * @param finalTries after so many tries the service gives a delivery up
 */
export const reachedMessages = async (
  records: HubRecords,
  conversationId: string,
  finalTries: number,
): Promise<readonly ReachedMessage[]> => {
  const messages = await records.messages(conversationId);
  const tries = await records.deliveries();
  const addresses = await callbackAddresses(records);
  return messages.map((message) => {
    const own = tries.filter((each) => isOf(message, each));
    const reached = message.recipients.map((recipient) =>
      reachedOf(recipient, own, addresses, finalTries),
    );
    return { message, reached };
  });
};
