import { ConversationError, type Effect, isConversationError } from "../../kernel/errors.js";
import { isObject } from "../../kernel/json.js";
import { isId } from "../../kernel/object-id.js";
import type { Answer, DatedAnswer } from "../http/answers.js";
import type { Operation } from "../http/operations.js";
import type { WireObject } from "./collections.js";

const wrongAnswer = (
  operation: Operation,
  status: number,
  what: string,
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${operation.method} ${operation.template} was accepted (${status}), but ${what}.`,
    { method: operation.method, template: operation.template, status },
    effect,
  );

/** Whether a change or deletion may have been made although its answer is none of the service's: only the object tells. */
export const isUnclear = (error: unknown): boolean =>
  isConversationError(error, "BAD_RESPONSE") && error.effect !== "none";

/** The object that a GET answers with. */
export const answeredObject = (operation: Operation, { body, status }: Answer): WireObject => {
  if (isObject(body)) return body;
  throw wrongAnswer(operation, status, "its answer is not a JSON object");
};

/** What a POST answers with. Without an id that can be used later nobody can tell which object was made, if any. */
export const createdOf = (operation: Operation, { body, status }: Answer) => {
  if (isObject(body) && isId(body.id)) return { ...body, id: body.id };
  throw wrongAnswer(operation, status, "its answer holds no usable id", "unknown");
};

type Times = { readonly created?: string; readonly modified?: string };

/** When an object was made or changed: as the answer tells, else by the time of the answer. */
export const timesOf = ({ body, date }: DatedAnswer, names: readonly (keyof Times)[]): Times =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const told = isObject(body) ? body[name] : undefined;
      if (typeof told === "string") return [[name, told]];
      return date === undefined ? [] : [[name, new Date(date).toISOString()]];
    }),
  );
