import { isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { withAdvice } from "../kernel/package.js";
import { inertOutput } from "../kernel/text.js";
import { foreignMessage, keepingSecret } from "../service/redaction.js";
import { type KindInRun, type Resource, resourceIn, shownName } from "./resource.js";

interface EngineCall {
  readonly of: KindInRun;
  readonly doing: string;
  readonly id?: string;
  readonly inputs: JsonObject;
  readonly olds?: JsonObject;
}

/**
 * Runs one engine call. Every failure becomes a new error with a complete message that contains no
 * secrets. Every result becomes plain JSON, because the engine loses a created object if it cannot
 * encode the outputs.
 *
 * @param work receives the resource of the inputs, and that of the state if the call has `olds`
 */
export const engineCall = async <T>(
  call: EngineCall,
  work: (resource: Resource, before: Resource) => Promise<T>,
): Promise<T> => {
  const { of, inputs, olds } = call;
  const resource = resourceIn(of, inputs);
  const before = olds ? resourceIn(of, olds) : resource;
  const secrets = () => [...new Set([...resource.secrets(), ...before.secrets()])];
  const { called } = of.run;
  const about = { kind: of.definition.kind, owner: resource.properties.owner };
  let result: T;
  try {
    result = await keepingSecret(secrets, () =>
      called ? called.run(about, () => work(resource, before)) : work(resource, before),
    );
  } catch (error) {
    throw failure(call, resource, error, secrets());
  }
  return result === undefined ? result : (JSON.parse(JSON.stringify(result)) as T);
};

const failure = (
  { doing, id, inputs }: EngineCall,
  resource: Resource,
  error: unknown,
  secrets: readonly string[],
): Error => {
  const name = shownName(resource, inputs[resource.nameKey]);
  const about = [...(name ? [name] : []), ...(id ? [`(ID ${id.slice(0, 140)})`] : [])];
  const subject = [resource.definition.noun, ...about].join(" ");
  const reason = reasonOf(error, secrets);
  const message = inertOutput(`${doing} the ${subject} failed: ${reason}`, false);
  const plain = plainError(message);
  if (!(error instanceof ResourceInitFailed)) return plain;
  const properties = { ...error.outputs, __provider: inputs.__provider };
  return Object.assign(plain, {
    id: error.objectId,
    properties: JSON.parse(JSON.stringify(properties)) as JsonObject,
    reasons: [message],
  });
};

/** Our own text stays; secrets were removed from the service's text when it arrived. */
const reasonOf = (error: unknown, secrets: readonly string[]): string => {
  const cause = error instanceof ResourceInitFailed ? error.cause : error;
  if (isConversationError(cause)) return withAdvice(cause);
  const reason = foreignMessage(cause, secrets);
  return error === cause
    ? `${reason} (this is a bug in pulumi-conversation; please report it)`
    : reason;
};

/**
 * The error as the engine's process prints it: it writes the stack to the user's terminal, so the
 * stack contains only the message. The error has no `id` property, because the engine would take it
 * for a created resource.
 */
const plainError = (message: string): Error => {
  const error = new Error(message);
  error.name = "pulumi-conversation";
  error.stack = message;
  error.toString = () => "pulumi-conversation";
  return error;
};

/**
 * The error for an object that exists but does not have all declared values yet. The engine saves
 * the object with its ID, reports the reason, and calls `update` in the next run even if nothing
 * else changed.
 */
export class ResourceInitFailed extends Error {
  constructor(
    readonly objectId: string,
    readonly outputs: JsonObject,
    cause: Error,
  ) {
    super(cause.message, { cause });
  }
}
