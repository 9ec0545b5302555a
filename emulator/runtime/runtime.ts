import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import type { EmulatorClock } from "../clock.js";
import type { Switches } from "../control/switches.js";
import type { Journal, Store } from "../objects/store.js";
import { type AssetDocument, Assets, isAssetDocument } from "./assets/assets.js";
import { SignedAddresses } from "./assets/signed-addresses.js";
import { type AlarmClock, withAlarms } from "./callbacks/alarms.js";
import { Courier } from "./callbacks/courier.js";
import {
  type ConversationDocument,
  Conversations,
  isConversationDocument,
} from "./conversations.js";

/** What the running service works with. */
export interface RuntimeOptions {
  readonly clock: EmulatorClock;
  readonly journal: Journal;
  readonly store: Store;
  readonly switches: () => Switches;
  /** Milliseconds of real time in which a callback must answer. Default: 5,000 (public reference). */
  readonly callbackDeadlineMs?: number;
}

/** The part of a snapshot that the running service holds. */
export interface RuntimeDocument {
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
}

const callbackDeadlineMs = 5_000;

/** The running service: conversations, deliveries and assets. */
export class Runtime {
  /** The emulator's clock; moving it on makes what is due happen. */
  readonly clock: AlarmClock;
  readonly conversations: Conversations;
  readonly assets: Assets;
  readonly addresses: SignedAddresses;
  readonly courier: Courier;

  constructor(options: RuntimeOptions) {
    const { journal, store, switches } = options;
    this.clock = withAlarms(options.clock);
    this.conversations = new Conversations(journal);
    this.assets = new Assets(journal);
    this.addresses = new SignedAddresses(journal);
    this.courier = new Courier({
      clock: this.clock,
      store,
      conversations: this.conversations,
      switches,
      deadlineMs: options.callbackDeadlineMs ?? callbackDeadlineMs,
    });
  }

  /** For a snapshot: conversations with their messages, assets with their contents. */
  document(): JsonObject {
    return { conversations: this.conversations.all(), assets: this.assets.all() };
  }

  /** Puts other conversations and assets in the place of all; deliveries on their way are dropped. */
  replaceAll({ conversations, assets }: RuntimeDocument): void {
    this.conversations.replaceAll(conversations);
    this.assets.replaceAll(assets);
    this.courier.reset();
  }

  /** Ends all deliveries. */
  close(): void {
    this.courier.close();
  }
}

/** A clean slate. */
export const emptyRuntime: RuntimeDocument = { conversations: [], assets: [] };

/**
 * The running service's part of a snapshot; one from before it was kept has none.
 *
 * @throws Error that says what is wrong
 */
export const parseRuntimeDocument = (document: JsonObject): RuntimeDocument => {
  const { conversations = [], assets = [] } = document;
  if (!Array.isArray(conversations) || !conversations.every(isConversationDocument))
    throw new Error('"conversations" must be a list of conversations with their messages');
  if (!Array.isArray(assets) || !assets.every(isAssetDocument))
    throw new Error('"assets" must be a list of assets, each with the content that its size says');
  const isTwice = [conversations, assets].some(
    (list: readonly unknown[]) =>
      new Set(list.map((each) => (isObject(each) ? each.id : each))).size < list.length,
  );
  if (isTwice) throw new Error("an id is there twice");
  return { conversations, assets };
};
