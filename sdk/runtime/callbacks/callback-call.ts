/** One call, whatever server it came through. */
export interface CallbackCall {
  readonly method: string;
  readonly authorization: string | undefined;
  /** Reads the body, up to so many bytes; undefined where it is longer. */
  readonly body: (maxBytes: number) => Promise<CallContent | undefined>;
}

/** A body as text, or as the value that a parser before us made of it. */
export type CallContent = { readonly text: string } | { readonly value: unknown };

/** An answer without a body. */
export interface CallbackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}
