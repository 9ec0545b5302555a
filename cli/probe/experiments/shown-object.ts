import { isObject, type JsonObject, textAt } from "../../../provider/kernel/json.js";
import type { TenantAnswer } from "../tenant-client.js";
import { isAccepted, type ProbeMeans } from "./experiment.js";

/** An object as it is shown, or what was answered in its place. */
export interface Shown {
  readonly answer: TenantAnswer;
  readonly object?: JsonObject;
}

/** Reads an object of a collection. */
export const objectShown = async (
  { client }: ProbeMeans,
  of: string,
  id: string,
): Promise<Shown> => {
  const answer = await client.call("GET", `/${of}/${id}`);
  return isObject(answer.body) && isAccepted(answer) ? { answer, object: answer.body } : { answer };
};

/** What a POST made, as it is shown. */
export const shownAfter = async (
  means: ProbeMeans,
  of: string,
  made: TenantAnswer,
): Promise<Shown> => {
  const id = textAt(made.body, "id");
  return id === undefined || !isAccepted(made) ? { answer: made } : objectShown(means, of, id);
};
