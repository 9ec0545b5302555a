import fc from "fast-check";
import { expect, test } from "vitest";
import { readAccount } from "../../../cli/account/read-account.js";
import { channel } from "../../../provider/resources/channel.js";
import { connected } from "../../service/support/connected.js";
import { type Handler, json } from "../../service/support/fake-hub.js";

const seed = Number(process.env.MOVING_SEED ?? 20_261_122);
const runs = Number(process.env.MOVING_RUNS ?? 60);

type Change = "remove" | "add" | "none";

/** A service whose channels come and go before each page of them, and what they were at each moment. */
const movingService = (total: number, size: number, changes: readonly Change[]) => {
  let present = Array.from({ length: total }, (_, index) => `c${index}`);
  const moments = [present];
  let calls = 0;
  const change = (): void => {
    const what = changes[calls - 1];
    if (what === "remove") present = present.filter((_, place) => place !== calls % 3);
    if (what === "add") present = [...present, `late-${calls}`];
    moments.push(present);
  };
  const handler: Handler = (seen, ...rest) => {
    const isChannels = seen.path.split("?")[0]?.endsWith("/channels");
    const pagenum = Number(/\$pagenum=(\d+)/.exec(seen.path)?.[1] ?? 1);
    if (isChannels && calls++ > 0) change();
    const all = isChannels ? present : [];
    const items = all.slice((pagenum - 1) * size, pagenum * size).map((id) => ({ id }));
    const paginationInfo = { count: all.length, pagenum, pagesize: size };
    json(200, { paginationInfo, items })(seen, ...rest);
  };
  return { handler, moments };
};

test("what is called consistent was there at one moment, whatever comes and goes between the pages", async () => {
  const change = fc.constantFrom<Change>("remove", "add", "none", "none", "none");
  let consistent = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4, max: 20 }),
      fc.integer({ min: 2, max: 7 }),
      fc.array(change, { maxLength: 12 }),
      async (total, size, changes) => {
        const { handler, moments } = movingService(total, size, changes);
        await using live = await connected(handler);
        const reading = await readAccount({ settings: live.hub.settings(), service: live.service });
        const found = reading.kinds.find(({ definition }) => definition === channel);
        if (!reading.consistent || found?.problem) return;
        consistent += 1;
        const ids = [...(found?.objects.keys() ?? [])].toSorted();
        expect(moments.map((ids) => ids.toSorted())).toContainEqual(ids);
      },
    ),
    { numRuns: runs, seed },
  );
  expect(consistent).toBeGreaterThan(runs / 4);
});
