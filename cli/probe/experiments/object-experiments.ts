import { looksMasked } from "../../../provider/definition/merge.js";
import { isObject, type JsonObject, jsonIn, valueAt } from "../../../provider/kernel/json.js";
import { authentication } from "../../../provider/resources/authentication.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import {
  type Experiment,
  isAccepted,
  isRefused,
  type StillOpen,
  stillOpen,
  unexpected,
} from "./experiment.js";
import { putExperiment } from "./put-experiment.js";
import { shownAfter } from "./shown-object.js";

const { collection } = authentication;

/** Whether something is null anywhere inside. */
const hasNull = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) && value.some(hasNull)) ||
  (isObject(value) && Object.values(value).some(hasNull));

/** What is given back for a secret that was sent. */
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

/** Given so that each form of a service's own shows. */
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

/** Questions that objects of one's own answer, without any reference. */
export const objectExperiments: readonly Experiment[] = [
  secretsShown,
  putExperiment,
  takenName,
  unknownMember,
  ownForms,
];
