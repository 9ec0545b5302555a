import { type JsonObject, textAt } from "../../../provider/kernel/json.js";
import { authentication } from "../../../provider/resources/authentication.js";
import {
  type Answers,
  allOpen,
  type Experiment,
  isAccepted,
  isRefused,
  type ProbeMeans,
  type StillOpen,
  stillOpen,
  unexpected,
} from "./experiment.js";
import { objectShown, type Shown, shownAfter } from "./shown-object.js";

const { collection } = authentication;
const names = ["put", "staleModified"] as const;
const longAgo = "2001-01-01T00:00:00.000Z";
const mostLooks = 3;

const put = ({ client }: ProbeMeans, id: string, body: JsonObject) =>
  client.call("PUT", `/${collection}/${id}`, { body });

/** An object once it shows what was written; reading may lag behind. */
const written = async (means: ProbeMeans, id: string): Promise<Shown> => {
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

/** A refusal counts where the same is taken with the right time. */
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

const asked = async (means: ProbeMeans): Promise<Answers> => {
  const { objects } = means;
  const { description, ...body } = await objects.body(authentication, { active: true });
  const made = await objects.post(authentication, { ...body, description });
  const { answer, object } = await shownAfter(means, collection, made);
  const id = textAt(made.body, "id");
  if (!object || id === undefined) return allOpen(names, unexpected(answer));
  const without = { ...body, active: false };
  const changed = await put(means, id, without);
  if (!isAccepted(changed)) return allOpen(names, unexpected(changed));
  const shown = await written(means, id);
  const isShown = object.description !== undefined && object.description !== null;
  return {
    put: isShown ? keptIn(shown) : stillOpen("descriptions are not shown"),
    staleModified: await staleAnswer(means, id, without, shown.object?.modified),
  };
};

/** An object with a description, read after a PUT that left it out, and after one that is out of date. */
export const putExperiment: Experiment = {
  asks: "what PUT does to members that it leaves out, and with an old modified",
  names,
  mostCalls: 6 + mostLooks,
  run: asked,
};
