import type {
  Authentication,
  Channel,
  ClientApplication,
  ConversationAccount,
  Orchestration,
  Participant,
} from "../../../sdk/index.js";
import type {
  CallbackCredentials,
  CallbackOptions,
  ConversationClient,
  FirstMessage,
  Message,
  ReceivedMessage,
  RunningEmulator,
} from "../../../sdk/runtime/index.js";
import type { EmulatedStack, TestConversation, TestHooks } from "../../../sdk/testing/index.js";

/* What a reader of an example in a doc comment has at hand already. Types only: nothing is run. */

export declare const hub: ConversationClient;
export declare const client: ConversationClient;
export declare const startEmulator: () => Promise<RunningEmulator>;

export declare const authenticate: CallbackCredentials;
export declare const onMessage: CallbackOptions["onMessage"];
export declare const password: string;
export declare const forget: (conversationId: string) => void;

export declare const message: ReceivedMessage & Message;
export declare const conversation: string;
export declare const conversationId: string;
export declare const again: FirstMessage;
export declare const error: unknown;
export declare const id: string;
export declare const assetId: string;

export declare const authUrl: string;
export declare const tokenUrl: string;
export declare const clientId: string;
export declare const redirectUri: string;
export declare const scope: string;
export declare const code: string;
export declare const verifier: string;
export declare const begun: { readonly state: string };

/** As much of a browser as the examples of the code flow use. */
export declare const location: { readonly href: string; assign(address: string): void };
export declare const sessionStorage: { setItem(key: string, value: string): void };

export declare const shop: ConversationAccount;
export declare const authentication: Authentication;
export declare const clientApplication: ClientApplication;
export declare const participant: Participant;
export declare const channel: Channel;
export declare const orchestration: Orchestration;

export declare const stack: EmulatedStack;
export declare const ada: TestConversation;
export declare const before: TestHooks["before"];
export declare const after: TestHooks["after"];
export declare const test: (name: string, work: () => Promise<void>) => void;
