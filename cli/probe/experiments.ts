import { randomUUID } from "node:crypto";
import type { SwitchName } from "../../emulator/service/switches.js";
import { looksMasked } from "../../provider/definition/merge.js";
import { withCount } from "../../provider/kernel/columns.js";
import {
  isObject,
  type JsonObject,
  jsonIn,
  objectsIn,
  textAt,
  valueAt,
} from "../../provider/kernel/json.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { runtimeOperations } from "../../provider/service/http/operations.js";
import { retryAfterForm } from "../../provider/service/http/pace.js";
import type { FoundValue } from "../../provider/service/settings.js";
import type { ProbeObjects } from "./probe-objects.js";
import {
  foreignOrigin,
  isRefused,
  listIn,
  type TenantAnswer,
  type TenantClient,
} from "./tenant-client.js";

/** The means of an experiment. */
interface ProbeMeans {
  readonly client: TenantClient;
  readonly objects: ProbeObjects;
}

/** Why a question stays open. Thrown by an experiment, it stands for everything it was to find out. */
class StillOpen extends Error {}

/** What an experiment found out, by name. */
export type Answers = Readonly<Record<string, FoundValue | StillOpen>>;

/** A question to a tenant. */
export interface Experiment {
  /** For people, such as `what PUT does to members that it omits`. */
  readonly asks: string;
  /** Names of what it finds out. */
  readonly names: readonly string[];
  /**
   * Maximum number of calls, including those that remove its objects, without repeats beyond a
   * rate.
   */
  readonly mostCalls: number;
  readonly run: (means: ProbeMeans) => Promise<Answers>;
}

/** An experiment that finds out one thing. */
const question = (
  name: string,
  {
    find,
    ...others
  }: Pick<Experiment, "asks" | "mostCalls"> & {
    readonly find: (means: ProbeMeans) => Promise<FoundValue>;
  },
): Experiment => ({
  ...others,
  names: [name],
  run: async (means) => ({ [name]: await find(means) }),
});

const isAccepted = ({ status }: Pick<TenantAnswer, "status">): boolean =>
  status >= 200 && status < 300;

/** An answer that no experiment expects. */
const unexpected = ({ status }: Pick<TenantAnswer, "status">): StillOpen =>
  new StillOpen(`the tenant returned ${status}`);

/** The same answer for several names. */
export const allOpen = (names: readonly string[], why: string): Answers =>
  Object.fromEntries(names.map((name) => [name, new StillOpen(why)]));

/** A part of an experiment that may stay open although others do not. */
const orOpen = <T>(part: Promise<T>): Promise<T | StillOpen> =>
  part.catch((error: unknown) => {
    if (error instanceof StillOpen) return error;
    throw error;
  });

/** The object that an answer shows. @throws StillOpen if it shows none */
const objectIn = (answer: TenantAnswer): JsonObject => {
  if (isObject(answer.body) && isAccepted(answer)) return answer.body;
  throw unexpected(answer);
};

/** ID of what a POST made. @throws StillOpen if it made nothing */
const idOf = (made: TenantAnswer): string => {
  const id = textAt(made.body, "id");
  if (id === undefined || !isAccepted(made)) throw unexpected(made);
  return id;
};

/** Reads an object of a collection. */
const read = ({ client }: ProbeMeans, of: string, id: string): Promise<TenantAnswer> =>
  client.call("GET", `/${of}/${id}`);

/** What a POST made, as it is shown. @throws StillOpen if it is not */
const shownAfter = async (means: ProbeMeans, of: string, made: TenantAnswer): Promise<JsonObject> =>
  objectIn(await read(means, of, idOf(made)));

/**
 * Whether a tenant refuses something odd. A refusal counts if it accepts the same without that.
 *
 * @throws StillOpen if its answers do not say
 */
const isOddRefused = async (
  odd: TenantAnswer,
  plain: () => Promise<TenantAnswer>,
): Promise<boolean> => {
  if (isAccepted(odd)) return false;
  if (!isRefused(odd)) throw unexpected(odd);
  const right = await plain();
  if (!isAccepted(right)) throw unexpected(right);
  return true;
};

/** Rates of the plans on standard endpoints, in calls per second (specification §8.2). */
const standardRates = [
  ["enterprise", 1],
  ["basic", 0.5],
  ["developer", 0.16],
] as const;

const isOver = ({ status }: TenantAnswer): boolean => status === 429;

/** Whether an answer says that there is no such object. */
const isAbsent = ({ status }: TenantAnswer): boolean => [400, 403, 404, 410].includes(status);

/**
 * A call that changes nothing, on a rarely used endpoint: nothing has this ID.
 *
 * @throws Error if the answer says nothing about the rate
 */
const probeCall = async (client: TenantClient): Promise<TenantAnswer> => {
  const path = `/${orchestration.collection}/${randomUUID()}`;
  const first = await client.attempt("GET", path);
  // The token had expired: the rate was not measured.
  const answer = first.status === 401 ? await client.attempt("GET", path) : first;
  if (isOver(answer) || isAbsent(answer) || isAccepted(answer)) return answer;
  throw new Error(`the tenant returned ${answer.status} while the probe measured its rate`);
};

/** The form in which a rate-limit refusal says when to try again. */
const retryAfterIn = ({ header }: TenantAnswer) => {
  const text = header("retry-after");
  if (text === undefined) return "none";
  return retryAfterForm(text) ?? new StillOpen("the Retry-After header is not a time");
};

/** The plan whose rate gives one token back within its period, and no more; each try waits for one. */
const planOf = async (client: TenantClient) => {
  for (const [plan, rate] of standardRates) {
    await client.sleep(1_050 / rate);
    if (isOver(await probeCall(client))) continue;
    return isOver(await probeCall(client)) ? { plan, rate } : undefined;
  }
  return undefined;
};

/** A refused call in the middle of a period: if it takes a token, the next one is refused, too. */
const refusedCosts = async (client: TenantClient, rate: number): Promise<boolean> => {
  for (let call = 1; call <= 2; call += 1) {
    await client.sleep(600 / rate);
    if (!isOver(await probeCall(client))) return false;
  }
  return true;
};

const burstNames = ["burst", "plan", "retryAfter", "refusedCosts"] as const;

const measuredRate = async ({ client }: ProbeMeans, mostBurst: number): Promise<Answers> => {
  const since = client.now();
  let accepted = 0;
  let refused: TenantAnswer | undefined;
  while (!refused && accepted <= mostBurst) {
    const answer = await probeCall(client);
    if (isOver(answer)) refused = answer;
    else accepted += 1;
  }
  if (!refused)
    throw new StillOpen(`${accepted} calls in quick succession did not exceed the rate`);
  if (accepted === 0)
    throw new StillOpen("the first call was refused because other clients use up the rate");
  const seconds = (client.now() - since) / 1000;
  const found = await planOf(client);
  if (!found)
    return {
      ...allOpen(burstNames, "the rate matches no plan"),
      burst: accepted,
      retryAfter: retryAfterIn(refused),
    };
  const { plan, rate } = found;
  return {
    burst: Math.max(1, accepted - Math.floor(seconds * rate)),
    plan,
    retryAfter: retryAfterIn(refused),
    refusedCosts: await refusedCosts(client, rate),
  };
};

/**
 * Calls an endpoint until it is over its rate; for a while others of the tenant cannot call it either.
 *
 * @param mostBurst maximum number of calls
 */
export const burstExperiment = (mostBurst: number): Experiment => ({
  asks: `the plan and the burst, and how the tenant refuses calls that exceed the rate (this uses up the rate of GET /${orchestration.collection}/{id})`,
  names: burstNames,
  mostCalls: mostBurst + 8,
  run: (means) => measuredRate(means, mostBurst),
});

/** What the response of the token URL shows. */
export const tokenExperiment: Experiment = {
  asks: "how long a token is valid, and which web pages may read it",
  names: ["tokenLifetime", "cors"],
  mostCalls: 1,
  run: async ({ client }) => {
    const { expiresIn, answer } = await client.token();
    const allowed = answer.header("access-control-allow-origin");
    const isAny = allowed === "*" || allowed === foreignOrigin;
    return {
      tokenLifetime: expiresIn ?? new StillOpen("the token response does not specify the lifetime"),
      cors: isAny
        ? "any"
        : new StillOpen("only web pages from registered origins can determine this"),
    };
  },
};

const { collection } = authentication;

const listed = async ({ client }: ProbeMeans, query?: string) => {
  const answer = await client.call("GET", `/${collection}`, query === undefined ? {} : { query });
  return { answer, ...listIn(answer, authentication.listKey) };
};

const lagLooks = 4;

/** Milliseconds until a new object is counted; undefined if no look found it. */
const lagOf = async (
  means: ProbeMeans,
  id: string,
  before: number,
): Promise<number | undefined> => {
  const since = means.client.now();
  for (let look = 1; look <= lagLooks; look += 1) {
    const { items, count = items.length } = await listed(means);
    // Only the count includes what is on another page.
    const isCounted = count > before && count > items.length;
    const isThere = isCounted || items.some((item) => item.id === id);
    if (isThere) return look === 1 ? 0 : Math.round(means.client.now() - since);
    await means.client.sleep(500 * look);
  }
  return undefined;
};

const freshList = question("listLagMs", {
  asks: "whether lists show changes with a delay",
  mostCalls: 3 + lagLooks,
  find: async (means) => {
    const { objects } = means;
    const first = await listed(means);
    if (!isAccepted(first.answer)) throw unexpected(first.answer);
    const before = first.count ?? first.items.length;
    const made = await objects.make(authentication);
    const lag = await lagOf(means, idOf(made), before);
    objects.listsLag = lag === undefined;
    if (lag === undefined) throw new StillOpen("a new object did not appear within five seconds");
    return lag;
  },
});

const idsOf = (items: readonly { readonly id?: unknown }[]): ReadonlySet<unknown> =>
  new Set(items.map(({ id }) => id));

/** How many objects a page holds: what the list says, if that matches what it shows. */
const pageSizeOf = (first: ReturnType<typeof listIn>) => {
  const { items, count = items.length, pageSize } = first;
  const seen = count > items.length ? items.length : undefined;
  if (pageSize === undefined)
    return seen ?? new StillOpen("the list does not specify the page size");
  const isSeen = items.length === Math.min(pageSize, count);
  return isSeen
    ? pageSize
    : new StillOpen(
        `the list specifies ${withCount(pageSize, "object")} per page but returned ${items.length}`,
      );
};

/**
 * A list that comes whole repeats everything as its second page, perhaps in another order. A
 * service may also use its own page size, whatever is requested.
 */
const pagingOf = async (means: ProbeMeans): Promise<Answers> => {
  const first = await listed(means);
  const second = await listed(means, "$pagenum=2&$pagesize=1");
  const { items, count = items.length } = first;
  if (!isAccepted(first.answer)) throw unexpected(first.answer);
  if (isRefused(second.answer))
    throw new StillOpen("the tenant does not support $pagenum and $pagesize");
  if (!isAccepted(second.answer)) throw unexpected(second.answer);
  if (count < 2) throw new StillOpen("the list does not show the created objects");
  const [whole, page] = [idsOf(items), idsOf(second.items)];
  const isAgain = page.size > 1 && [...page].every((id) => whole.has(id));
  if (isAgain && page.size === whole.size)
    return { paging: "all", pageSize: new StillOpen("lists have no pages") };
  if (isAgain) throw new StillOpen("a page repeats objects from another page");
  return { paging: "pages", pageSize: pageSizeOf(first) };
};

const pages: Experiment = {
  asks: "whether a list has pages, and how many objects a page contains",
  names: ["paging", "pageSize"],
  mostCalls: 6,
  run: async (means) => {
    const { objects } = means;
    for (let made = 0; made < 2; made += 1) await objects.make(authentication);
    return pagingOf(means);
  },
};

const unknownQuery = question("unknownQuery", {
  asks: "whether the tenant refuses an unknown query parameter",
  mostCalls: 2,
  find: async (means) => {
    const { answer } = await listed(means, "probe=1");
    const plain = async () => (await listed(means)).answer;
    return (await isOddRefused(answer, plain)) ? "refuse" : "ignore";
  },
});

/** Questions about lists. */
export const listExperiments: readonly Experiment[] = [freshList, pages, unknownQuery];

const longAgo = "2001-01-01T00:00:00.000Z";
const mostLooks = 3;

const put = ({ client }: ProbeMeans, id: string, body: JsonObject) =>
  client.call("PUT", `/${collection}/${id}`, { body });

/** An object once it shows what was written; reading may lag behind. */
const readAfterPut = async (means: ProbeMeans, id: string): Promise<TenantAnswer> => {
  for (let look = 1; ; look += 1) {
    const answer = await read(means, collection, id);
    if (valueAt(answer.body, "active") === false || look === mostLooks) return answer;
    await means.client.sleep(500 * look);
  }
};

const isDescribed = ({ description }: JsonObject): boolean =>
  description !== undefined && description !== null;

const keptIn = async (before: JsonObject, after: TenantAnswer): Promise<string> => {
  if (!isDescribed(before)) throw new StillOpen("the tenant does not return descriptions");
  const object = objectIn(after);
  if (object.active !== false)
    throw new StillOpen("the effect of a PUT did not show within two seconds");
  return isDescribed(object) ? "keep" : "replace";
};

/** A refusal counts if the same request is accepted with the right time. */
const staleAnswer = async (
  means: ProbeMeans,
  id: string,
  body: JsonObject,
  modified: unknown,
): Promise<string> => {
  const stale = await put(means, id, { ...body, modified: longAgo });
  if (isAccepted(stale)) return "ignore";
  if (!isRefused(stale)) throw unexpected(stale);
  const right = await put(means, id, { ...body, modified });
  if (isAccepted(right)) return "refuse";
  throw new StillOpen(
    `the tenant refuses every PUT that contains the \`modified\` member (${right.status})`,
  );
};

/**
 * An object with a description, read after a PUT that left it out, and after one with an outdated
 * time.
 */
const putExperiment: Experiment = {
  asks: "what PUT does to members that the body omits, and how it handles an outdated `modified` value",
  names: ["put", "staleModified"],
  mostCalls: 6 + mostLooks,
  run: async (means) => {
    const { objects } = means;
    const { description, ...body } = await objects.body(authentication, { active: true });
    const made = await objects.post(authentication, { ...body, description });
    const before = await shownAfter(means, collection, made);
    const id = idOf(made);
    const without = { ...body, active: false };
    const changed = await put(means, id, without);
    if (!isAccepted(changed)) throw unexpected(changed);
    const after = await readAfterPut(means, id);
    return {
      put: await orOpen(keptIn(before, after)),
      staleModified: await orOpen(staleAnswer(means, id, without, valueAt(after.body, "modified"))),
    };
  },
};

/** Whether something is null anywhere inside. */
const hasNull = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) && value.some(hasNull)) ||
  (isObject(value) && Object.values(value).some(hasNull));

/** What the service returns for a secret that was sent. */
const secretIn = (sent: unknown, shown: unknown): string => {
  if (shown === undefined || shown === null || shown === "") return "omit";
  if (shown === sent) return "echo";
  if (typeof shown !== "string" || typeof sent !== "string")
    throw new StillOpen("the tenant returns secrets as something other than text");
  if (looksMasked(shown)) return "mask";
  if (JSON.stringify(jsonIn(shown) ?? 0) === JSON.stringify(jsonIn(sent) ?? 1)) return "echo";
  throw new StillOpen("the tenant returns secrets as different text that is not a mask");
};

const secretsShown = question("secrets", {
  asks: "whether the tenant returns, masks, or omits secrets",
  mostCalls: 3,
  find: async (means) => {
    const { objects } = means;
    const body = await objects.body(authentication);
    const made = await objects.post(authentication, body);
    const object = await shownAfter(means, collection, made);
    return secretIn(valueAt(body, "oauth2", "payload"), valueAt(object, "oauth2", "payload"));
  },
});

const takenName = question("duplicateStatus", {
  asks: "which status the tenant returns for a name that is already taken",
  mostCalls: 4,
  find: async ({ objects }) => {
    const body = await objects.body(authentication);
    const first = await objects.post(authentication, body);
    if (!isAccepted(first)) throw unexpected(first);
    const again = await objects.post(authentication, body);
    if (isAccepted(again)) throw new StillOpen("two objects can have the same name");
    if (isRefused(again)) return again.status;
    throw unexpected(again);
  },
});

const unknownMember = question("unknownFields", {
  asks: "what happens to unknown members",
  mostCalls: 3,
  find: async (means) => {
    const { objects } = means;
    const made = await objects.make(authentication, { probeUnknownMember: "probe" });
    if (await isOddRefused(made, () => objects.make(authentication))) return "refuse";
    const object = await shownAfter(means, collection, made);
    return object.probeUnknownMember === undefined ? "drop" : "keep";
  },
});

/** Chosen so that each form of the service's own shows. */
const role = {
  name: "custom_bot",
  version: "v3",
  callback: "https://probe.invalid/hub",
  notificationEmail: "Probe@Probe.invalid",
};

const formsOf = (object: JsonObject): string => {
  const [first] = Array.isArray(object.roles) ? object.roles : [];
  const changed = [
    ...(["callback", "notificationEmail"] as const).filter(
      (name) => valueAt(first, name) !== role[name],
    ),
    ...(hasNull(object) ? ["members that were not set"] : []),
  ];
  if (changed.length === 0) return "given";
  if (changed.length === 3) return "own";
  throw new StillOpen(
    `the tenant returns some values in another form and others unchanged; changed: ${changed.join(", ")}`,
  );
};

const ownForms = question("forms", {
  asks: "whether the tenant returns objects in the form in which they were sent",
  mostCalls: 3,
  find: async (means) => {
    const { objects } = means;
    const made = await objects.make(clientApplication, { roles: [role] });
    return formsOf(await shownAfter(means, clientApplication.collection, made));
  },
});

/** Questions that the probe's own objects answer, without any reference. */
export const objectExperiments: readonly Experiment[] = [
  secretsShown,
  putExperiment,
  takenName,
  unknownMember,
  ownForms,
];

/** Whether an object that nobody uses can be deleted: if not, a refusal says nothing about use. */
const canDelete = async ({ objects }: ProbeMeans): Promise<boolean> => {
  const made = await objects.make(authentication);
  const id = textAt(made.body, "id");
  return id !== undefined && isAccepted({ status: await objects.remove(authentication, id) });
};

const heldObject = question("inUseStatus", {
  asks: "which status the tenant returns for the deletion of an object that is in use",
  mostCalls: 7,
  find: async (means) => {
    const { objects } = means;
    const id = await objects.id(authentication);
    await objects.id(clientApplication);
    const status = await objects.remove(authentication, id);
    if (isAccepted({ status })) throw new StillOpen("the tenant deletes objects that are in use");
    if (!isRefused({ status }) || status === 404) throw unexpected({ status });
    if (await canDelete(means)) return status;
    throw new StillOpen(`the tenant refuses every deletion (${status})`);
  },
});

/** A refusal counts if the same request is accepted with the ID of an existing object. */
const danglingReference = question("unknownReference", {
  asks: "whether the tenant refuses the ID of a nonexistent object",
  mostCalls: 7,
  find: async ({ objects }) => {
    const { application: _, ...body } = await objects.body(participant);
    const made = await objects.post(participant, { ...body, application: { id: randomUUID() } });
    return (await isOddRefused(made, () => objects.make(participant))) ? "refuse" : "accept";
  },
});

const isOurs = ({ name }: { readonly name?: unknown }): boolean =>
  typeof name === "string" && name.includes("pulumi-conversation-probe-");

/** @throws StillOpen if the tenant has, or may have, client applications of others: no channel may be made */
const assertAlone = async ({ client, objects }: ProbeMeans): Promise<void> => {
  const { collection, listKey } = clientApplication;
  const answer = await client.call("GET", `/${collection}`);
  if (!isAccepted(answer)) throw unexpected(answer);
  const { items, count } = listIn(answer, listKey);
  if (count === undefined)
    throw new StillOpen(
      "the list of client applications does not specify how many exist. If others exist and use every channel, the probe cannot remove a new channel",
    );
  if (count !== objects.countOf(clientApplication) || !items.every(isOurs))
    throw new StillOpen(
      "the tenant has other client applications. If these use every channel, the probe cannot remove a new channel. To find out, delete a channel that no account uses",
    );
};

/**
 * Read literally, the specification lets any client application hold every channel. A channel could
 * then not be removed again, so one is made only if the client application can be removed, too.
 */
const channelHolder = question("channelRule", {
  asks: "what prevents the deletion of a channel: accounts, or any client application",
  mostCalls: 9,
  find: async (means) => {
    const { objects } = means;
    await objects.id(clientApplication);
    await assertAlone(means);
    const made = await objects.id(channel);
    const status = await objects.remove(channel, made);
    if (isAccepted({ status })) return "account";
    if (!isRefused({ status })) throw unexpected({ status });
    await objects.removeAll(clientApplication);
    if (isAccepted({ status: await objects.remove(channel, made) }))
      return "any-client-application";
    throw new StillOpen(`the tenant always refuses to delete a channel (${status})`);
  },
});

/** Questions about objects that refer to others. */
export const referenceExperiments: readonly Experiment[] = [
  heldObject,
  danglingReference,
  channelHolder,
];

const { createAsset } = runtimeOperations;

/**
 * How long a signed URL lives. No list shows assets: one whose creation is not answered cannot
 * be found and removed, so this question needs an explicit request.
 */
export const assetExperiment = question("assetUrlLifetime", {
  asks: "how long a signed URL is valid",
  mostCalls: 4,
  find: async ({ client }) => {
    const list = await client.call("GET", `/${channel.collection}`);
    const [first] = listIn(list, channel.listKey).items;
    const type = textAt(first, "type");
    if (type === undefined) throw new StillOpen("the tenant has no channel");
    const body = { channel: { type }, sender: { type: "customer" }, name: "probe.txt", size: 1 };
    const made = await client.call("POST", createAsset.template, { body });
    await client.call("DELETE", `${createAsset.template}/${encodeURIComponent(idOf(made))}`);
    const expiry = Date.parse(textAt(made.body, "contentUrlExpiry") ?? "");
    const date = Date.parse(made.header("date") ?? "");
    // The header has whole seconds only, rounded down.
    const seconds = Math.floor((expiry - date) / 1000);
    if (Number.isFinite(seconds)) return seconds;
    throw new StillOpen("the response does not state the expiry");
  },
});

const neutral = "custom";

/** The word before `_bot` or `_agent`, unless it stands for custom ones. */
const wordIn = (kind: string | undefined): string | undefined => {
  const word = /^([a-z][a-z0-9]{0,31})_(bot|agent)$/.exec(kind ?? "")?.[1];
  return word === neutral ? undefined : word;
};

/** Reads what the tenant has: roles of client applications and types of bots name the platform. */
export const platformExperiment = question("platformName", {
  asks: "which word denotes the platform in bot and agent types",
  mostCalls: 2,
  find: async ({ client }) => {
    const applications = await client.call("GET", `/${clientApplication.collection}`);
    const bots = await client.call("GET", `/${participant.collection}`);
    const kinds = [
      ...listIn(applications, clientApplication.listKey)
        .items.flatMap((each) => objectsIn(each, "roles"))
        .map((role) => textAt(role, "name")),
      ...listIn(bots, participant.listKey).items.map((each) => textAt(each, "type")),
    ];
    const words = new Set(kinds.map(wordIn).filter((word) => word !== undefined));
    const [word] = words;
    if (word !== undefined && words.size === 1) return word;
    throw new StillOpen(
      words.size > 1
        ? `the tenant uses more than one word for the platform: ${[...words].join(", ")}`
        : "no platform bot or agent is registered",
    );
  },
});

const conversation = "only a conversation shows this, and the probe cannot remove a conversation";

/** What no experiment can find out, why not, and where it shows. */
const reasons = {
  runningConversationStatus: `${conversation}. To find out, read a running conversation and check the status`,
  usedAssetStatus: `${conversation}. To find out, delete an asset that a message uses`,
  idleTimeout: `${conversation}. To find out, reply in a conversation that has been idle for longer than its account's timeout`,
  recipients: `${conversation}. To find out, check who gets a message if an orchestration names several bots`,
  inactiveObjects: `${conversation}. To find out, start a conversation on an inactive account`,
  channelRestrictions: `${conversation}; an accepted message that violates the restrictions begins one. To find out, send such a message on an unused account`,
  deliveryRetries: `${conversation}. To find out, count the calls to a callback that returns 500`,
  notificationMails: `${conversation}; the email also goes to a person. To find out, check the mailbox after a callback fails`,
  deletionRule:
    "if the tenant allowed the deletion, the test would leave an orchestration that refers to a deleted object. To find out, delete a client application that only an orchestration uses",
  callbackContent: `${conversation}. To find out, check the content of a call to a callback`,
} as const satisfies Partial<Record<SwitchName, string>>;

/** The reasons as answers: every switch of the emulator is either found out or listed as open. */
export const leftOpen: Answers = Object.fromEntries(
  Object.entries(reasons).map(([name, why]) => [name, new StillOpen(why)]),
);
