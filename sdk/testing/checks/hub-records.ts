import type { DeliveryEntry, EmulatorControl, StoredObject } from "../../../emulator/index.js";
import type { Definition } from "../../../provider/definition/define.js";
import { resources } from "../../../provider/resources/index.js";
import { type ReceivedMessage, receivedMessage } from "../../runtime/messages/received-message.js";

/** A call that the emulator answered. */
export interface HubCall {
  /** When it came, on the emulator's clock: ISO 8601. */
  readonly at: string;
  /** Method and path template, such as `POST /channels`. */
  readonly endpoint: string;
  /** Status of the answer. */
  readonly status: number;
}

/** Definition of a kind by its name (`Participant`) or its collection (`participants`). */
export const kindCalled = (name: string): Definition => {
  const found = resources.find(({ kind, collection }) => kind === name || collection === name);
  if (found) return found;
  const known = resources.map(({ kind }) => kind).join(", ");
  throw new Error(`There is no kind of object called ${JSON.stringify(name)}. Kinds: ${known}.`);
};

type Readings = Pick<EmulatorControl, "snapshot" | "log" | "deliveries" | "conversations">;

/** What an emulator holds and has seen, read through its control interface. */
export class HubRecords {
  constructor(
    private readonly control: Readings,
    readonly platformName: string,
  ) {}

  /** Objects of a collection, in the order in which they were made. */
  async objects(collection: string): Promise<readonly StoredObject[]> {
    const { objects } = await this.control.snapshot();
    return objects[collection] ?? [];
  }

  /** Calls of set-up and runtime operations, in order. */
  async calls(): Promise<readonly HubCall[]> {
    return (await this.control.log()).map(({ at, method, template, status }) => ({
      at,
      endpoint: `${method} ${template}`,
      status,
    }));
  }

  /** Every try to deliver a message, in order. */
  deliveries(): Promise<readonly DeliveryEntry[]> {
    return this.control.deliveries();
  }

  /** Messages of a conversation, in order, also while it is going on. */
  async messages(conversationId: string): Promise<readonly ReceivedMessage[]> {
    const found = (await this.control.conversations()).find(({ id }) => id === conversationId);
    return (found?.messages ?? []).flatMap(({ body, recipients, id, messageId, created }) => {
      const wire = { ...body, id, messageId, created, recipients: { recipient: recipients } };
      return receivedMessage(wire, this.platformName, conversationId) ?? [];
    });
  }
}
