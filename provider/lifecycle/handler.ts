import type { Definition, Fields } from "../definition/define.js";
import { objectTitle } from "../definition/references.js";
import { isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { foreignMessage } from "../service/redaction/redaction.js";
import { secretTexts, textsIn } from "../service/redaction/secret-texts.js";
import { withoutQuotedSecrets } from "../service/redaction/service-quote.js";
import { Incomplete } from "./incomplete.js";
import { split } from "./properties.js";

/** What a call is about, for messages. */
interface Subject {
  readonly definition: Definition;
  readonly doing: string;
  readonly id?: string;
  readonly inputs: JsonObject;
  readonly olds?: JsonObject;
}

const subjectText = ({ definition, doing, id, inputs }: Subject): string => {
  return `${doing} the ${objectTitle(definition, inputs)}${id ? ` (id ${id.slice(0, 140)})` : ""} failed`;
};

/** Our own words stay; what others said is shown without secrets. */
const reasonOf = (error: unknown, secrets: readonly string[]): string => {
  if (isConversationError(error))
    return withoutQuotedSecrets(error.message, error.details, secrets);
  if (error instanceof Incomplete) {
    const { cause } = error;
    return isConversationError(cause)
      ? withoutQuotedSecrets(error.message, cause.details, secrets)
      : foreignMessage(cause, secrets);
  }
  return `${foreignMessage(error, secrets)} (this is a defect of pulumi-conversation; please report it)`;
};

/**
 * The error as the engine's process prints it: it writes the stack to the user's terminal, so the
 * stack holds the message and nothing else. It carries no `id` of its own, which would be taken
 * for a created resource.
 */
const plainError = (message: string): Error => {
  const error = new Error(message);
  error.name = "pulumi-conversation";
  error.stack = message;
  error.toString = () => "pulumi-conversation";
  return error;
};

/** Every text of a resource that no message may show. */
const secretsIn = (fields: Fields, bag: JsonObject): readonly string[] => {
  const { fields: values, extra, extraSecrets = [] } = split(bag);
  const extras = isObject(extra) ? extraSecrets.map((path) => valueAt(extra, path)) : [];
  return [...secretTexts(fields, values), ...textsIn(extras)];
};

/** What stands at a path such as `auth.token`; the empty path is all of it. */
const valueAt = (value: unknown, path: string): unknown =>
  path === ""
    ? value
    : path
        .split(".")
        .reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);

const failure = (subject: Subject, error: unknown): Error => {
  const { fields } = subject.definition;
  const secrets = [subject.inputs, subject.olds ?? {}].flatMap((bag) => secretsIn(fields, bag));
  const message = `${subjectText(subject)}: ${reasonOf(error, secrets)}`;
  const plain = plainError(message);
  if (!(error instanceof Incomplete)) return plain;
  const properties = { ...error.outputs, __provider: subject.inputs.__provider };
  return Object.assign(plain, {
    id: error.objectId,
    properties: JSON.parse(JSON.stringify(properties)) as JsonObject,
    reasons: [message],
  });
};

/**
 * Runs one call of the engine. Whatever goes wrong leaves as a fresh error with a message that
 * stands alone and holds no secret; whatever succeeds leaves as plain JSON, since the engine loses
 * a created object whose outputs it cannot encode.
 */
export const handler = async <T>(subject: Subject, call: () => Promise<T>): Promise<T> => {
  let result: T;
  try {
    result = await call();
  } catch (error) {
    throw failure(subject, error);
  }
  return result === undefined ? result : (JSON.parse(JSON.stringify(result)) as T);
};
