import { authentication } from "../../../provider/resources/authentication.js";
import { textAt } from "../../../sdk/runtime/json-members.js";
import {
  type Answers,
  type Experiment,
  isAccepted,
  isRefused,
  listIn,
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
    const isThere = count > before || items.some((item) => item.id === id);
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
    const lag = id === undefined ? undefined : await lagOf(means, id, before);
    return {
      listLagMs: lag ?? stillOpen("a new object did not appear within five seconds"),
    };
  },
};

/**
 * A list that comes whole gives everything again for its second page. A service may also page by a
 * size of its own, whatever is asked for.
 */
const pagingOf = async (means: ProbeMeans): Promise<Answers> => {
  const first = await listed(means);
  const second = await listed(means, "$pagenum=2&$pagesize=1");
  const { items, count = items.length } = first;
  if (!isAccepted(second.answer)) return bothOpen("the tenant knows no $pagenum and $pagesize");
  if (!isAccepted(first.answer) || count < 2)
    return bothOpen("the list does not show what was made");
  if (second.items.length > 1 && second.items[0]?.id === items[0]?.id)
    return { paging: "all", pageSize: stillOpen("lists come whole, not in pages") };
  const seen = count > items.length ? items.length : undefined;
  const pageSize = first.pageSize ?? seen ?? stillOpen("the list does not tell");
  return { paging: "pages", pageSize };
};

const bothOpen = (why: string): Answers => ({ paging: stillOpen(why), pageSize: stillOpen(why) });

const pages: Experiment = {
  asks: "whether a list comes in pages, and how long they are",
  names: ["paging", "pageSize"],
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
  mostCalls: 1,
  run: async (means) => {
    const { answer } = await listed(means, "probe=1");
    if (isAccepted(answer)) return { unknownQuery: "ignore" };
    return { unknownQuery: isRefused(answer) ? "refuse" : unexpected(answer) };
  },
};

/** Questions about lists. */
export const listExperiments: readonly Experiment[] = [freshList, pages, unknownQuery];
