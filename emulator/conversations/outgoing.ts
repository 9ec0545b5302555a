import { Agent, errors, request } from "undici";

/** A call to an external URL. */
export interface OutgoingCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Deadline for the response, in milliseconds of real time. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Whether to read the body of the response, up to 64 KiB; if omitted, the body is discarded. */
  readonly wantsBody?: boolean;
}

/**
 * The response to an outgoing call. A redirect is a response like any other and is never followed.
 */
export interface OutgoingAnswer {
  readonly status: number;
  readonly body: string;
}

/** The error that explains, without secrets, why there was no usable response. */
export class NoAnswer extends Error {}

/** The error for a call that received no response within the deadline. */
export const noAnswerInTime = ({ deadlineMs }: Pick<OutgoingCall, "deadlineMs">): NoAnswer =>
  new NoAnswer(`no response within ${deadlineMs} ms`);

const mostBytes = 64 * 1024;

const readText = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostBytes) throw new NoAnswer("the response is larger than 64 KiB");
  }
  return Buffer.concat(chunks).toString("utf8");
};

const explain = (error: unknown, call: OutgoingCall): NoAnswer => {
  if (error instanceof NoAnswer) return error;
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.ConnectTimeoutError)
    return noAnswerInTime(call);
  if (error instanceof errors.UndiciError || error instanceof errors.HTTPParserError)
    return new NoAnswer(error.message);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new NoAnswer(/^E[A-Z]+$/.test(code) ? code : "the call failed");
};

/** Calls external http and https URLs. */
export class Outgoing {
  /**
   * Few connections to one host: a slow callback holds up no others, and many conversations at once
   * do not exhaust the process's sockets.
   */
  readonly #agent = new Agent({ connections: 80 });

  /** @param route the actual destination of a call */
  constructor(private readonly route: (address: string) => string = (address) => address) {}

  /** @throws NoAnswer that explains why */
  async call(call: OutgoingCall): Promise<OutgoingAnswer> {
    const { url, method, headers, body = null, deadlineMs, signal, wantsBody } = call;
    try {
      const answer = await request(this.route(url), {
        ...{ method, headers, body, signal, dispatcher: this.#agent },
        headersTimeout: deadlineMs,
        bodyTimeout: deadlineMs,
      });
      if (wantsBody) return { status: answer.statusCode, body: await readText(answer.body) };
      // An endless body must not hold the connection forever, and nobody waits for it.
      answer.body.dump({ limit: mostBytes }).catch(() => undefined);
      return { status: answer.statusCode, body: "" };
    } catch (error) {
      throw explain(error, call);
    }
  }

  close(): void {
    void this.#agent.destroy();
  }
}
