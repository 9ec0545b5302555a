import type { JsonObject } from "../../provider/kernel/json.js";

/** What the service answers. */
export interface Answer {
  readonly status: number;
  /** Sent as JSON; left out: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Detail {
  readonly key: string;
  readonly value: string;
}

const cut = (text: string): string => (text.length > 255 ? `${text.slice(0, 254)}…` : text);

/** The only way in which a part of the emulator says no: an error body of the service (public reference). */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly status: number,
    /** `<status>-<number>`. */
    readonly code: string,
    message: string,
    readonly details: readonly Detail[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }

  /** @param forUsers also with a message for users, which a caller must ask for */
  answer(forUsers: boolean): Answer {
    const details = this.details
      .slice(0, 30)
      .map(({ key, value }) => ({ key: cut(key), value: cut(value) }));
    const body: JsonObject = {
      code: this.code,
      developerMessage: cut(this.message),
      ...(details.length > 0 ? { details } : {}),
      ...(forUsers ? { userMessage: cut(this.message) } : {}),
    };
    return { status: this.status, body, headers: this.headers };
  }
}
