import fc from "fast-check";
import { expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { channel } from "../../provider/resources/channel.js";
import { resources } from "../../provider/resources/index.js";
import type { Service } from "../../provider/service/connect.js";
import { connected, failureOf } from "./support/connected.js";
import { type Handler, json, type Seen } from "./support/fake-hub.js";

const kib = 1024;

const pageOf = ({ path }: Seen): number => Number(/\$pagenum=(\d+)/.exec(path)?.[1] ?? 1);

const kindOf = ({ path }: Seen): Definition => {
  const found = resources.find(({ collection }) => path.startsWith(`/${collection}`));
  if (!found) throw new Error(path);
  return found;
};

/** Lists of so many pages, one object of so many bytes on each; 0 pages: without end. */
const lists =
  (sizes: ReadonlyMap<string, { readonly pages: number; readonly bytes: number }>): Handler =>
  (seen, ...rest) => {
    const { collection, listKey } = kindOf(seen);
    const { pages, bytes } = sizes.get(collection) ?? { pages: 1, bytes: 0 };
    const pagenum = pageOf(seen);
    const paging = { count: pages || Number.MAX_SAFE_INTEGER, pagenum, pagesize: 1 };
    const item = { id: `${collection}-${pagenum}`, note: "x".repeat(bytes) };
    json(200, { paginationInfo: paging, [listKey]: [item] })(seen, ...rest);
  };

const endless = (bytes: number) => new Map([[channel.collection, { pages: 0, bytes }]]);

const tooLarge = {
  code: "BAD_RESPONSE",
  effect: "none",
  details: { method: "GET", template: "/channels", permanent: true },
};

test("a list without end is given up when it has become too large, and says how much came", async () => {
  await using live = await connected(lists(endless(100 * kib)), { listBytes: kib * kib });
  const error = await failureOf(live.service.list(channel));
  expect(error).toMatchObject(tooLarge);
  expect(String(error)).toContain(
    "Could not list every channel: the answers of GET /channels are too large to be kept. 1.1 MiB came in 11 pages; in 16 MiB of memory there is room for 1.0 MiB.",
  );
  expect(String(error)).toContain("NODE_OPTIONS=--max-old-space-size=32");
  expect(live.hub.calls).toHaveLength(11);
});

test("a list that is too large is not read again for the next caller, but for one who asks for it", async () => {
  const sizes = endless(100 * kib);
  await using live = await connected(lists(sizes), { listBytes: kib * kib });
  await failureOf(live.service.list(channel));
  expect(await failureOf(live.service.list(channel))).toMatchObject(tooLarge);
  expect(await failureOf(live.service.find(channel, "channels-1"))).toMatchObject(tooLarge);
  expect(live.hub.calls).toHaveLength(11);
  sizes.set(channel.collection, { pages: 1, bytes: 10 });
  expect(await live.service.list(channel, { fresh: true })).toMatchObject({ complete: true });
  expect(await live.service.list(channel)).toMatchObject({ complete: true });
});

test("what an earlier reading of a list took does not count any more", async () => {
  const sizes = new Map([[channel.collection, { pages: 8, bytes: 100 * kib }]]);
  await using live = await connected(lists(sizes), { listBytes: kib * kib });
  for (let reading = 0; reading < 4; reading++)
    expect(await live.service.list(channel, { fresh: true })).toMatchObject({ complete: true });
});

const listed = async (service: Service, definition: Definition) => {
  try {
    return await service.list(definition);
  } catch (error) {
    if (error instanceof ConversationError) return error;
    throw error;
  }
};

const size = fc.record({
  pages: fc.integer({ min: 0, max: 12 }),
  bytes: fc.integer({ min: 200, max: 20 * kib }),
});

test("all kinds together take no more than twice the room, and no small list is refused for large ones", () =>
  fc.assert(
    fc.asyncProperty(fc.array(size, { minLength: 6, maxLength: 6 }), async (each) => {
      const room = 120 * kib;
      const sizes = new Map(resources.map(({ collection }, at) => [collection, each[at]]));
      const known = new Map([...sizes].flatMap(([name, one]) => (one ? [[name, one]] : [])));
      await using live = await connected(lists(known), { listBytes: room });
      const outcomes = await Promise.all(
        resources.map(async (definition) => ({
          ...known.get(definition.collection),
          outcome: await listed(live.service, definition),
        })),
      );
      let kept = 0;
      for (const { pages = 0, bytes = 0, outcome } of outcomes) {
        const isError = outcome instanceof ConversationError;
        if (isError) expect(outcome).toMatchObject({ ...tooLarge, details: { permanent: true } });
        else kept += pages * bytes;
        if (pages === 0) expect(isError).toBe(true);
        // Room for the rest of the JSON, and for the first page, which is read once more in the widest pages.
        else if ((pages + 1) * (bytes + 200) <= room / 6) expect(isError).toBe(false);
      }
      expect(kept).toBeLessThanOrEqual(2 * room);
    }),
    { numRuns: 50 },
  ));
