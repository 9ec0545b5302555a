import { textAt } from "../../../provider/kernel/json.js";
import { authentication } from "../../../provider/resources/authentication.js";
import { listIn } from "../list-answer.js";
import {
  type Answers,
  allOpen,
  type Experiment,
  isAccepted,
  isRefused,
  type ProbeMeans,
  stillOpen,
  unexpected,
} from "./experiment.js";

const path = `/${authentication.collection}`;

const listed = async ({ client }: ProbeMeans, query?: string) => {
  const answer = await client.call("GET", path, query === undefined ? {} : { query });
  return { answer, ...listIn(answer, authentication.listKey) };
};

const lagLooks = 4;

/** Milliseconds until a new object is counted; undefined where it is not within the looks. */
const lagOf = async (
  means: ProbeMeans,
  id: string,
  before: number,
): Promise<number | undefined> => {
  const since = means.client.now();
  for (let look = 1; look <= lagLooks; look += 1) {
    const { items, count = items.length } = await listed(means);
    // What is on another page is told by the count alone.
    const isCounted = count > before && count > items.length;
    const isThere = isCounted || items.some((item) => item.id === id);
    if (isThere) return look === 1 ? 0 : Math.round(means.client.now() - since);
    await means.client.sleep(500 * look);
  }
  return undefined;
};

const freshList: Experiment = {
  asks: "whether a list lags behind",
  names: ["listLagMs"],
  mostCalls: 3 + lagLooks,
  run: async (means) => {
    const { objects } = means;
    const first = await listed(means);
    if (!isAccepted(first.answer)) return { listLagMs: unexpected(first.answer) };
    const before = first.count ?? first.items.length;
    const made = await objects.post(authentication, await objects.body(authentication));
    const id = textAt(made.body, "id");
    if (id === undefined || !isAccepted(made)) return { listLagMs: unexpected(made) };
    const lag = await lagOf(means, id, before);
    objects.listsLag = lag === undefined;
    return {
      listLagMs: lag ?? stillOpen("a new object did not appear within five seconds"),
    };
  },
};

const pagingNames = ["paging", "pageSize"] as const;

const idsOf = (items: readonly { readonly id?: unknown }[]): ReadonlySet<unknown> =>
  new Set(items.map(({ id }) => id));

/** How many objects a page holds: what the list tells, where that fits what it shows. */
const pageSizeOf = (first: ReturnType<typeof listIn>) => {
  const { items, count = items.length, pageSize } = first;
  const seen = count > items.length ? items.length : undefined;
  if (pageSize === undefined) return seen ?? stillOpen("the list does not tell");
  const isSeen = items.length === Math.min(pageSize, count);
  return isSeen ? pageSize : stillOpen(`it is said to be ${pageSize}, but ${items.length} came`);
};

/**
 * A list that comes whole gives everything again for its second page, perhaps in another order. A
 * service may also page by a size of its own, whatever is asked for.
 */
const pagingOf = async (means: ProbeMeans): Promise<Answers> => {
  const first = await listed(means);
  const second = await listed(means, "$pagenum=2&$pagesize=1");
  const { items, count = items.length } = first;
  if (!isAccepted(first.answer)) return allOpen(pagingNames, unexpected(first.answer));
  if (isRefused(second.answer))
    return allOpen(pagingNames, stillOpen("the tenant knows no $pagenum and $pagesize"));
  if (!isAccepted(second.answer)) return allOpen(pagingNames, unexpected(second.answer));
  if (count < 2) return allOpen(pagingNames, stillOpen("the list does not show what was made"));
  const [whole, page] = [idsOf(items), idsOf(second.items)];
  const isAgain = page.size > 1 && [...page].every((id) => whole.has(id));
  if (isAgain && page.size === whole.size)
    return { paging: "all", pageSize: stillOpen("lists come whole, not in pages") };
  if (isAgain) return allOpen(pagingNames, stillOpen("a page repeats what was on another"));
  return { paging: "pages", pageSize: pageSizeOf(first) };
};

const pages: Experiment = {
  asks: "whether a list comes in pages, and how long they are",
  names: pagingNames,
  mostCalls: 6,
  run: async (means) => {
    const { objects } = means;
    for (let made = 0; made < 2; made += 1)
      await objects.post(authentication, await objects.body(authentication));
    return pagingOf(means);
  },
};

const unknownQuery: Experiment = {
  asks: "whether an unknown query parameter is refused",
  names: ["unknownQuery"],
  mostCalls: 2,
  run: async (means) => {
    const { answer } = await listed(means, "probe=1");
    if (isAccepted(answer)) return { unknownQuery: "ignore" };
    if (!isRefused(answer)) return { unknownQuery: unexpected(answer) };
    const plain = await listed(means);
    return { unknownQuery: isAccepted(plain.answer) ? "refuse" : unexpected(plain.answer) };
  },
};

/** Questions about lists. */
export const listExperiments: readonly Experiment[] = [freshList, pages, unknownQuery];
