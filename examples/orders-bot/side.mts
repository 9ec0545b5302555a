import { type Callbacks, callbacks, type ReceivedMessage } from "pulumi-conversation/runtime";

/** The participants of a conversation. Each has its own callback. */
export type SideName = "customer" | "bot" | "agent";

/** One side, and what its callback received recently. */
export interface Side {
  readonly name: SideName;
  /** Its callback, as the service knows it. */
  readonly url: string;
  /** Status codes of its responses, in order. */
  readonly answers: readonly number[];
  readonly messages: readonly ReceivedMessage[];
  readonly handler: Callbacks;
  /** Whether it is still working on a message. */
  isBusy(): boolean;
  answered(status: number): void;
  /** Forgets everything received so far. */
  forget(): void;
}

export interface SideOptions {
  readonly name: SideName;
  readonly url: string;
  readonly password: string;
  readonly onMessage: (message: ReceivedMessage) => void | Promise<void>;
  readonly onError: (error: unknown, message?: ReceivedMessage) => void;
}

export const sideOf = ({ name, url, password, onMessage, onError }: SideOptions): Side => {
  const answers: number[] = [];
  const messages: ReceivedMessage[] = [];
  let atWork = 0;
  const handler = callbacks({
    authenticate: { basic: { username: "hub", password } },
    onMessage: async (message) => {
      messages.push(message);
      atWork += 1;
      try {
        await onMessage(message);
      } finally {
        atWork -= 1;
      }
    },
    onError,
  });
  return {
    name,
    url,
    answers,
    messages,
    handler,
    isBusy: () => atWork > 0,
    answered: (status) => void answers.push(status),
    forget: () => {
      answers.length = 0;
      messages.length = 0;
    },
  };
};
