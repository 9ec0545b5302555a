import { randomUUID } from "node:crypto";
import type { SwitchName } from "../../emulator/service/switches.js";
import { looksMasked } from "../../provider/definition/merge.js";
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

/** A question that stayed open, and why. */
interface StillOpen {
  readonly open: string;
}

export const stillOpen = (open: string): StillOpen => ({ open });

/** What an experiment found out, by name. */
export type Answers = Readonly<Record<string, FoundValue | StillOpen>>;

/** A question to a tenant. */
export interface Experiment {
  /** For people, such as `what PUT does to members that it leaves out`. */
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

const isAccepted = ({ status }: Pick<TenantAnswer, "status">): boolean =>
  status >= 200 && status < 300;

/** An answer that no experiment expects. */
const unexpected = ({ status }: Pick<TenantAnswer, "status">): StillOpen =>
  stillOpen(`the tenant answered ${status}`);

/** The same answer for several names. */
export const allOpen = (names: readonly string[], open: StillOpen): Answers =>
  Object.fromEntries(names.map((name) => [name, open]));

/** An object as the tenant shows it, or what it answered instead. */
interface Shown {
  readonly answer: TenantAnswer;
  readonly object?: JsonObject;
}

/** Reads an object of a collection. */
const objectShown = async ({ client }: ProbeMeans, of: string, id: string): Promise<Shown> => {
  const answer = await client.call("GET", `/${of}/${id}`);
  return isObject(answer.body) && isAccepted(answer) ? { answer, object: answer.body } : { answer };
};

/** What a POST made, as it is shown. */
const shownAfter = async (means: ProbeMeans, of: string, made: TenantAnswer): Promise<Shown> => {
  const id = textAt(made.body, "id");
  return id === undefined || !isAccepted(made) ? { answer: made } : objectShown(means, of, id);
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
 * A call that changes nothing, on a rarely used endpoint: nothing has this id.
 *
 * @throws Error if the answer says nothing about the rate
 */
const probeCall = async (client: TenantClient): Promise<TenantAnswer> => {
  const path = `/${orchestration.collection}/${randomUUID()}`;
  const first = await client.attempt("GET", path);
  // The token had expired: the rate was not measured.
  const answer = first.status === 401 ? await client.attempt("GET", path) : first;
  if (isOver(answer) || isAbsent(answer) || isAccepted(answer)) return answer;
  throw new Error(`the tenant answered ${answer.status} while its rate was measured`);
};

/** The form in which a rate-limit refusal says when to try again. */
const retryAfterIn = ({ header }: TenantAnswer) => {
  const text = header("retry-after");
  if (text === undefined) return "none";
  return retryAfterForm(text) ?? stillOpen("it is no time");
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
    return allOpen(burstNames, stillOpen(`${accepted} calls at once were within the rate`));
  if (accepted === 0)
    return allOpen(burstNames, stillOpen("the first call was refused: others use up the rate"));
  const seconds = (client.now() - since) / 1000;
  const found = await planOf(client);
  if (!found)
    return {
      ...allOpen(burstNames, stillOpen("the rate is none of a plan")),
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
  asks: `plan and burst, and how a call beyond the rate is refused (uses up GET /${orchestration.collection}/{id})`,
  names: burstNames,
  mostCalls: mostBurst + 8,
  run: (means) => measuredRate(means, mostBurst),
});

/** What the response of the token address shows. */
export const tokenExperiment: Experiment = {
  asks: "how long a token lives, and which pages may read it",
  names: ["tokenLifetime", "cors"],
  mostCalls: 1,
  run: async ({ client }) => {
    const { expiresIn, answer } = await client.token();
    const allowed = answer.header("access-control-allow-origin");
    const isAny = allowed === "*" || allowed === foreignOrigin;
    return {
      tokenLifetime: expiresIn ?? stillOpen("the token address does not say"),
      cors: isAny ? "any" : stillOpen("only pages of registered addresses could find out"),
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

/** How many objects a page holds: what the list says, if that matches what it shows. */
const pageSizeOf = (first: ReturnType<typeof listIn>) => {
  const { items, count = items.length, pageSize } = first;
  const seen = count > items.length ? items.length : undefined;
  if (pageSize === undefined) return seen ?? stillOpen("the list does not say");
  const isSeen = items.length === Math.min(pageSize, count);
  return isSeen ? pageSize : stillOpen(`it is said to be ${pageSize}, but ${items.length} came`);
};

/**
 * A list that comes whole repeats everything as its second page, perhaps in another order. A
 * service may also use its own page size, whatever is requested.
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

const putNames = ["put", "staleModified"] as const;
const longAgo = "2001-01-01T00:00:00.000Z";
const mostLooks = 3;

const put = ({ client }: ProbeMeans, id: string, body: JsonObject) =>
  client.call("PUT", `/${collection}/${id}`, { body });

/** An object once it shows what was written; reading may lag behind. */
const objectAfterPut = async (means: ProbeMeans, id: string): Promise<Shown> => {
  for (let look = 1; ; look += 1) {
    const shown = await objectShown(means, collection, id);
    if (shown.object?.active === false || look === mostLooks) return shown;
    await means.client.sleep(500 * look);
  }
};

const keptIn = ({ answer, object }: Shown): string | StillOpen => {
  if (!object) return unexpected(answer);
  if (object.active !== false) return stillOpen("what a PUT wrote did not show within two seconds");
  return object.description === undefined || object.description === null ? "replace" : "keep";
};

/** A refusal counts if the same request is accepted with the right time. */
const staleAnswer = async (
  means: ProbeMeans,
  id: string,
  body: JsonObject,
  modified: unknown,
): Promise<string | StillOpen> => {
  const stale = await put(means, id, { ...body, modified: longAgo });
  if (isAccepted(stale)) return "ignore";
  if (!isRefused(stale)) return unexpected(stale);
  const right = await put(means, id, { ...body, modified });
  if (isAccepted(right)) return "refuse";
  return stillOpen(`a PUT with modified is refused whatever it says (${right.status})`);
};

const putAnswers = async (means: ProbeMeans): Promise<Answers> => {
  const { objects } = means;
  const { description, ...body } = await objects.body(authentication, { active: true });
  const made = await objects.post(authentication, { ...body, description });
  const { answer, object } = await shownAfter(means, collection, made);
  const id = textAt(made.body, "id");
  if (!object || id === undefined) return allOpen(putNames, unexpected(answer));
  const without = { ...body, active: false };
  const changed = await put(means, id, without);
  if (!isAccepted(changed)) return allOpen(putNames, unexpected(changed));
  const shown = await objectAfterPut(means, id);
  const isShown = object.description !== undefined && object.description !== null;
  return {
    put: isShown ? keptIn(shown) : stillOpen("descriptions are not shown"),
    staleModified: await staleAnswer(means, id, without, shown.object?.modified),
  };
};

/**
 * An object with a description, read after a PUT that left it out, and after one with an outdated
 * time.
 */
const putExperiment: Experiment = {
  asks: "what PUT does to members that it leaves out, and with an old modified",
  names: putNames,
  mostCalls: 6 + mostLooks,
  run: putAnswers,
};

/** Whether something is null anywhere inside. */
const hasNull = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) && value.some(hasNull)) ||
  (isObject(value) && Object.values(value).some(hasNull));

/** What the service returns for a secret that was sent. */
const secretIn = (sent: unknown, shown: unknown): string | StillOpen => {
  if (shown === undefined || shown === null || shown === "") return "omit";
  if (shown === sent) return "echo";
  if (typeof shown !== "string" || typeof sent !== "string")
    return stillOpen("secrets come back as something that is no text");
  if (looksMasked(shown)) return "mask";
  const isSame = JSON.stringify(jsonIn(shown) ?? 0) === JSON.stringify(jsonIn(sent) ?? 1);
  return isSame ? "echo" : stillOpen("secrets come back as another text, which is no mask");
};

const secretsShown: Experiment = {
  asks: "whether secrets are given back, masked or left out",
  names: ["secrets"],
  mostCalls: 3,
  run: async (means) => {
    const { objects } = means;
    const body = await objects.body(authentication);
    const made = await objects.post(authentication, body);
    const { answer, object } = await shownAfter(means, collection, made);
    if (!object) return { secrets: unexpected(answer) };
    return {
      secrets: secretIn(valueAt(body, "oauth2", "payload"), valueAt(object, "oauth2", "payload")),
    };
  },
};

const takenName: Experiment = {
  asks: "which status refuses a name that is taken",
  names: ["duplicateStatus"],
  mostCalls: 4,
  run: async ({ objects }) => {
    const body = await objects.body(authentication);
    const first = await objects.post(authentication, body);
    if (!isAccepted(first)) return { duplicateStatus: unexpected(first) };
    const again = await objects.post(authentication, body);
    if (isAccepted(again)) return { duplicateStatus: stillOpen("a name may be taken twice") };
    return { duplicateStatus: isRefused(again) ? again.status : unexpected(again) };
  },
};

const unknownMember: Experiment = {
  asks: "what happens to members that nobody knows",
  names: ["unknownFields"],
  mostCalls: 3,
  run: async (means) => {
    const { objects } = means;
    const body = await objects.body(authentication, { probeUnknownMember: "probe" });
    const made = await objects.post(authentication, body);
    if (isRefused(made)) {
      const plain = await objects.post(authentication, await objects.body(authentication));
      return { unknownFields: isAccepted(plain) ? "refuse" : unexpected(plain) };
    }
    const { answer, object } = await shownAfter(means, collection, made);
    if (!object) return { unknownFields: unexpected(answer) };
    return { unknownFields: object.probeUnknownMember === undefined ? "drop" : "keep" };
  },
};

/** Chosen so that each form of the service's own shows. */
const role = {
  name: "custom_bot",
  version: "v3",
  callback: "https://probe.invalid/hub",
  notificationEmail: "Probe@Probe.invalid",
};

const formsOf = (object: JsonObject): string | StillOpen => {
  const [first] = Array.isArray(object.roles) ? object.roles : [];
  const changed = [
    ...(["callback", "notificationEmail"] as const).filter(
      (name) => valueAt(first, name) !== role[name],
    ),
    ...(hasNull(object) ? ["what was not given"] : []),
  ];
  if (changed.length === 0) return "given";
  if (changed.length === 3) return "own";
  return stillOpen(
    `some come back in another form, others as given; changed: ${changed.join(", ")}`,
  );
};

const ownForms: Experiment = {
  asks: "whether objects come back in the forms in which they were given",
  names: ["forms"],
  mostCalls: 3,
  run: async (means) => {
    const { objects } = means;
    const body = await objects.body(clientApplication, { roles: [role] });
    const made = await objects.post(clientApplication, body);
    const { answer, object } = await shownAfter(means, clientApplication.collection, made);
    return { forms: object ? formsOf(object) : unexpected(answer) };
  },
};

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
  const made = await objects.post(authentication, await objects.body(authentication));
  const id = textAt(made.body, "id");
  return id !== undefined && isAccepted({ status: await objects.remove(authentication, id) });
};

const heldObject: Experiment = {
  asks: "which status refuses to delete an object that is in use",
  names: ["inUseStatus"],
  mostCalls: 7,
  run: async (means) => {
    const { objects } = means;
    const id = await objects.id(authentication);
    await objects.id(clientApplication);
    const status = await objects.remove(authentication, id);
    if (isAccepted({ status })) return { inUseStatus: stillOpen("objects in use can be deleted") };
    if (!isRefused({ status }) || status === 404) return { inUseStatus: unexpected({ status }) };
    if (await canDelete(means)) return { inUseStatus: status };
    return { inUseStatus: stillOpen(`every deletion is refused (${status})`) };
  },
};

/** A refusal counts if the same request is accepted with the id of an existing object. */
const danglingReference: Experiment = {
  asks: "whether the id of an object that does not exist is refused",
  names: ["unknownReference"],
  mostCalls: 7,
  run: async ({ objects }) => {
    const { application: _, ...body } = await objects.body(participant);
    const made = await objects.post(participant, { ...body, application: { id: randomUUID() } });
    if (isAccepted(made)) return { unknownReference: "accept" };
    if (!isRefused(made)) return { unknownReference: unexpected(made) };
    const right = await objects.post(participant, await objects.body(participant));
    return { unknownReference: isAccepted(right) ? "refuse" : unexpected(right) };
  },
};

const isOurs = ({ name }: { readonly name?: unknown }): boolean =>
  typeof name === "string" && name.includes("pulumi-conversation-probe-");

/** Why no channel may be made: the tenant has, or may have, client applications of others. */
const foreignOnes = async ({ client, objects }: ProbeMeans): Promise<StillOpen | undefined> => {
  const { collection, listKey } = clientApplication;
  const answer = await client.call("GET", `/${collection}`);
  if (!isAccepted(answer)) return unexpected(answer);
  const { items, count } = listIn(answer, listKey);
  if (count === undefined)
    return stillOpen(
      "the list of client applications does not say how many there are: if there are others, and they hold every channel, one that is made could not be removed again",
    );
  if (count === objects.countOf(clientApplication) && items.every(isOurs)) return undefined;
  return stillOpen(
    "the tenant has client applications of its own: if these hold every channel, one that is made could not be removed again. You see it when you delete a channel that no account names",
  );
};

/**
 * Read literally, the specification lets any client application hold every channel. A channel could
 * then not be removed again, so one is made only if the client application can be removed, too.
 */
const channelHolder: Experiment = {
  asks: "what holds a channel: accounts, or any client application",
  names: ["channelRule"],
  mostCalls: 9,
  run: async (means) => {
    const { objects } = means;
    await objects.id(clientApplication);
    const open = await foreignOnes(means);
    if (open) return { channelRule: open };
    const made = await objects.id(channel);
    const status = await objects.remove(channel, made);
    if (isAccepted({ status })) return { channelRule: "account" };
    if (!isRefused({ status })) return { channelRule: unexpected({ status }) };
    await objects.removeAll(clientApplication);
    if (isAccepted({ status: await objects.remove(channel, made) }))
      return { channelRule: "any-client-application" };
    return { channelRule: stillOpen(`the deletion of a channel is refused anyway (${status})`) };
  },
};

/** Questions about objects that refer to others. */
export const referenceExperiments: readonly Experiment[] = [
  heldObject,
  danglingReference,
  channelHolder,
];

const { createAsset } = runtimeOperations;

/**
 * How long a signed address lives. No list shows assets: one whose creation is not answered cannot
 * be found and removed, so this question needs an explicit request.
 */
export const assetExperiment: Experiment = {
  asks: "how long a signed address lives",
  names: ["assetUrlLifetime"],
  mostCalls: 4,
  run: async ({ client }) => {
    const list = await client.call("GET", `/${channel.collection}`);
    const [first] = listIn(list, channel.listKey).items;
    const type = textAt(first, "type");
    if (type === undefined) return { assetUrlLifetime: stillOpen("the tenant has no channel") };
    const body = { channel: { type }, sender: { type: "customer" }, name: "probe.txt", size: 1 };
    const made = await client.call("POST", createAsset.template, { body });
    const id = textAt(made.body, "id");
    if (!isAccepted(made) || id === undefined) return { assetUrlLifetime: unexpected(made) };
    await client.call("DELETE", `${createAsset.template}/${encodeURIComponent(id)}`);
    const expiry = Date.parse(textAt(made.body, "contentUrlExpiry") ?? "");
    const date = Date.parse(made.header("date") ?? "");
    // The header has whole seconds only, rounded down.
    const seconds = Math.floor((expiry - date) / 1000);
    return {
      assetUrlLifetime: Number.isFinite(seconds) ? seconds : stillOpen("its answer does not say"),
    };
  },
};

const neutral = "custom";

/** The word before `_bot` or `_agent`, unless it stands for custom ones. */
const wordIn = (kind: string | undefined): string | undefined => {
  const word = /^([a-z][a-z0-9]{0,31})_(bot|agent)$/.exec(kind ?? "")?.[1];
  return word === neutral ? undefined : word;
};

/** Reads what the tenant has: roles of client applications and types of bots name the platform. */
export const platformExperiment: Experiment = {
  asks: "which word stands for the platform in the kinds of bots and agents",
  names: ["platformName"],
  mostCalls: 2,
  run: async ({ client }) => {
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
    if (word !== undefined && words.size === 1) return { platformName: word };
    return {
      platformName: stillOpen(
        words.size > 1
          ? `the tenant names several: ${[...words].join(", ")}`
          : "no bot and no agent of the platform is registered",
      ),
    };
  },
};

const conversation = "only a conversation shows it, and one cannot be removed again";

/** What no experiment can find out, why not, and where it shows. */
const reasons = {
  runningConversationStatus: `${conversation}. Fetch one that goes on, and look at the status`,
  usedAssetStatus: `${conversation}. Delete an asset that was used in a message`,
  idleTimeout: `${conversation}. Answer in one that was idle for longer than the timeout of its account`,
  recipients: `${conversation}. See who gets a message if an orchestration names several bots`,
  inactiveObjects: `${conversation}. Start one over an account that is not active`,
  channelRestrictions: `${conversation}, and a message beyond the restrictions that is not refused begins one. Send one where nobody is disturbed`,
  deliveryRetries: `${conversation}. Count the calls to a callback that answers 500`,
  notificationMails: `${conversation}, and the mail goes to a person. Look into the mailbox after a callback could not be reached`,
  deletionRule:
    "if it is not refused, an orchestration is left that names what is gone. Delete a client application that only an orchestration names",
  callbackContent: `${conversation}. Look at the content of a call to a callback`,
} as const satisfies Partial<Record<SwitchName, string>>;

/** The reasons as answers: every switch of the emulator is either found out or listed as open. */
export const leftOpen: Answers = Object.fromEntries(
  Object.entries(reasons).map(([name, why]) => [name, stillOpen(why)]),
);
