// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

/** Enough of an answer of `fetch`. */
export interface FetchAnswer {
  readonly status: number;
  text(): Promise<string>;
  /** Where it is given it is read in place of `text`, so that an answer without end is noticed. */
  readonly body?: { getReader(): BodyReader } | null;
}

interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** What a token address answered. */
export interface TokenAnswer {
  readonly status: number;
  /** Left out: it is longer than any answer of a token address. */
  readonly text?: string;
}

/** Longest answer in bytes. */
const mostBytes = 1024 * 1024;

const textOf = async (reader: BodyReader): Promise<string | undefined> => {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > mostBytes) {
      // It may never end, and nobody waits for it.
      void reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
};

/** Reads an answer, up to 1 MiB of it. */
export const tokenAnswer = async (answer: FetchAnswer): Promise<TokenAnswer> => {
  const { status, body } = answer;
  const text = body ? await textOf(body.getReader()) : await answer.text();
  return { status, ...(text === undefined ? {} : { text }) };
};
