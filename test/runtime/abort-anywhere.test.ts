import { Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { type ConversationClient, isConversationError } from "../../sdk/runtime/index.js";
import type { AssetHub } from "./support/asset-hub.js";
import { bytes, hubWith, named, streamed, whole, worksAtOnce } from "./support/many-transfers.js";

/** What the steps of a call are told to, and what ends it. */
interface Abortable {
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
}

type Act = (client: ConversationClient, options: Abortable) => Promise<unknown>;

const sink = (): Writable => new Writable({ write: (_piece, _encoding, done) => done() });

const acts: Readonly<Record<string, Act>> = {
  "an upload of bytes": ({ assets }, options) => assets.upload(bytes, { ...named, ...options }),
  "an upload of a stream": ({ assets }, options) =>
    assets.upload(Readable.from([bytes.subarray(0, 50_000), bytes.subarray(50_000)]), {
      ...streamed,
      ...options,
    }),
  "a download": ({ assets }, options) => assets.download("a-1", undefined, options),
  "a download into a stream": ({ assets }, options) => assets.download("a-1", sink(), options),
  "a new asset": ({ assets }, { signal }) => assets.create({ ...named, size: 5 }, { signal }),
  "a deletion": ({ assets }, { signal }) => assets.delete("a-1", { signal }),
  "a reading": ({ assets }, { signal }) => assets.get("a-1", { signal }),
};

const linesWith = (hub: AssetHub, text: string): readonly string[] =>
  hub.log.filter((line) => line.startsWith(text));

test.each(Object.keys(acts))("%s can be given up at any point", async (name) => {
  const { [name]: act } = acts;
  for (let point = 0; ; point++) {
    await using hub = await hubWith((request, response) =>
      request.method === "GET" ? whole(request, response) : response.writeHead(200).end(),
    );
    const controller = new AbortController();
    let left = point;
    const step = (): void => {
      if (left === 0) controller.abort();
      left -= 1;
    };
    hub.onAttempt = step;
    step();
    const options = { signal: controller.signal, onProgress: step };
    const failure: unknown = await act?.(hub.client, options).then(
      () => undefined,
      (error) => error,
    );
    hub.onAttempt = () => {};
    const isRight = failure === undefined || isConversationError(failure, "CANCELLED");
    expect(isRight, `point ${point}: ${failure}`).toBe(true);
    const isUpload = name.startsWith("an upload");
    // Whatever was made for a content that did not come goes again.
    if (isUpload && failure)
      await expect
        .poll(() => linesWith(hub, "DELETE").length)
        .toBe(linesWith(hub, "POST /assets").length);
    await worksAtOnce(hub);
    if (left >= 0) return;
  }
});

test("what is given up before it begins sends nothing", async () => {
  await using hub = await hubWith(whole);
  const signal = AbortSignal.abort();
  for (const act of Object.values(acts))
    await expect(act(hub.client, { signal, onProgress: () => {} })).rejects.toMatchObject({
      code: "CANCELLED",
    });
  expect(hub.log).toEqual([]);
});
