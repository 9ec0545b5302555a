import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isObject } from "../../../provider/kernel/json.js";
import { callbackFailures } from "../../runtime/callbacks/callback-failures.js";
import { textAt } from "../../runtime/json-members.js";
import { errorText } from "../checks/error-text.js";

interface Failure {
  readonly line: string;
  /** Undefined where it is not known. */
  readonly conversationId: string | undefined;
}

/** What handlers of callbacks threw: they run apart from the test, which sees only what comes of it. */
export class HandlerFailures {
  readonly #failures: Failure[] = [];
  readonly #published = (failure: unknown): void => {
    const { error, message } = isObject(failure) ? failure : {};
    const conversationId = textAt(message, "conversationId");
    // The handlers of every stack of this process are heard here: without a message it may be another's.
    if (conversationId !== undefined)
      this.#failures.push({ line: errorText(error), conversationId });
  };

  constructor() {
    subscribe(callbackFailures, this.#published);
  }

  /** Notes what a listener threw that is called directly. */
  add(address: string, error: unknown): void {
    this.#failures.push({ line: `${address}: ${errorText(error)}`, conversationId: undefined });
  }

  /** A line for each failure of a conversation, and for those of which it is not known. */
  of(conversationId: string | undefined): readonly string[] {
    const own = this.#failures.filter(
      (each) => each.conversationId === undefined || each.conversationId === conversationId,
    );
    // A message that is delivered again often fails again.
    return [...new Set(own.map(({ line }) => line))];
  }

  close(): void {
    unsubscribe(callbackFailures, this.#published);
  }
}
