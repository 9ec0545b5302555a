import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { authentication } from "../../../provider/resources/authentication.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import { textAt, valueAt } from "../../../sdk/runtime/json-members.js";
import {
  type Experiment,
  isAccepted,
  isRefused,
  type ProbeMeans,
  stillOpen,
  unexpected,
} from "./experiment.js";

const item = (collection: string, id: string): string => `/${collection}/${id}`;

const read = async ({ client }: ProbeMeans, collection: string, id: string) => {
  const answer = await client.call("GET", item(collection, id));
  return isObject(answer.body) && isAccepted(answer) ? answer.body : undefined;
};

const put = async ({ client }: ProbeMeans, collection: string, id: string, body: JsonObject) =>
  client.call("PUT", item(collection, id), { body });

/** Whether something is null anywhere inside. */
const hasNull = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) && value.some(hasNull)) ||
  (isObject(value) && Object.values(value).some(hasNull));

const secretsShown: Experiment = {
  asks: "whether secrets are given back, masked or left out",
  names: ["secrets"],
  mostCalls: 3,
  run: async (means) => {
    const { objects } = means;
    const body = await objects.body(authentication);
    const made = await objects.post(authentication, body);
    const id = textAt(made.body, "id");
    const sent = valueAt(body, "oauth2", "payload");
    const shown = id === undefined ? undefined : await read(means, authentication.collection, id);
    if (!shown) return { secrets: unexpected(made) };
    const payload = valueAt(shown, "oauth2", "payload");
    if (payload === undefined || payload === null) return { secrets: "omit" };
    return { secrets: payload === sent ? "echo" : "mask" };
  },
};

/** An object with a description, read after a PUT that left it out, and after one that is out of date. */
const putKeeps: Experiment = {
  asks: "what PUT does to members that it leaves out, and with an old modified",
  names: ["put", "staleModified"],
  mostCalls: 5,
  run: async (means) => {
    const { objects } = means;
    const { collection } = authentication;
    const { description, ...body } = await objects.body(authentication);
    const made = await objects.post(authentication, { ...body, description });
    const id = textAt(made.body, "id");
    if (id === undefined) return { put: unexpected(made), staleModified: unexpected(made) };
    const written = await put(means, collection, id, body);
    const shown = isAccepted(written) ? await read(means, collection, id) : undefined;
    const kept = shown?.description === undefined || shown.description === null;
    const old = { ...body, description, modified: "2001-01-01T00:00:00.000Z" };
    const stale = await put(means, collection, id, old);
    const asked = isAccepted(stale) ? "ignore" : "refuse";
    return {
      put: shown ? (kept ? "replace" : "keep") : unexpected(written),
      staleModified: isAccepted(stale) || isRefused(stale) ? asked : unexpected(stale),
    };
  },
};

const takenName: Experiment = {
  asks: "which status refuses a name that is taken",
  names: ["duplicateStatus"],
  mostCalls: 4,
  run: async ({ objects }) => {
    const body = await objects.body(authentication);
    await objects.post(authentication, body);
    const again = await objects.post(authentication, body);
    return {
      duplicateStatus: isRefused(again) ? again.status : stillOpen("a name may be taken twice"),
    };
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
    if (isRefused(made)) return { unknownFields: "refuse" };
    const id = textAt(made.body, "id");
    const shown = id === undefined ? undefined : await read(means, authentication.collection, id);
    if (!shown) return { unknownFields: unexpected(made) };
    return { unknownFields: shown.probeUnknownMember === undefined ? "drop" : "keep" };
  },
};

/** Which form the members of an object come back in: they were chosen so that each own form shows. */
const ownForms: Experiment = {
  asks: "whether objects come back in the forms in which they were given",
  names: ["forms"],
  mostCalls: 5,
  run: async (means) => {
    const { objects } = means;
    const callback = "https://probe.invalid/hub";
    const notificationEmail = "Probe@Probe.invalid";
    const role = { name: "custom_bot", version: "v3", callback, notificationEmail };
    const body = await objects.body(clientApplication, { roles: [role] });
    const made = await objects.post(clientApplication, body);
    const id = textAt(made.body, "id");
    const shown =
      id === undefined ? undefined : await read(means, clientApplication.collection, id);
    if (!shown) return { forms: unexpected(made) };
    const [first] = Array.isArray(shown.roles) ? shown.roles : [];
    const isGiven =
      valueAt(first, "callback") === callback &&
      valueAt(first, "notificationEmail") === notificationEmail &&
      !hasNull(shown);
    return { forms: isGiven ? "given" : "own" };
  },
};

/** Questions that objects of one's own answer, without any reference. */
export const objectExperiments: readonly Experiment[] = [
  secretsShown,
  putKeeps,
  takenName,
  unknownMember,
  ownForms,
];
