import type { Definition } from "../definition/define.js";
import { fieldsWithSecrets, secretTexts } from "../definition/fields.js";
import { namingOf, objectTitle } from "../definition/kinds.js";
import { isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { withAdvice } from "../kernel/package.js";
import {
  environmentSecretsIn,
  seenSecrets,
  undisclosed,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import { inertOutput } from "../kernel/text.js";
import { foreignMessage, keepingSecret } from "../service/redaction.js";
import { importRefusal } from "./adoption.js";
import { assertStillAllowed, type CheckedInputs, check, type DiffResult, diff } from "./check.js";
import { type CreateResult, createObject } from "./create.js";
import { deleteObject } from "./delete.js";
import { lookUpObject, type ReadResult, read } from "./read.js";
import { connected, type Properties, propertiesIn, type Resource, resourceIn } from "./resource.js";
import type { Run } from "./run.js";
import { ResourceInitFailed, updateObject } from "./update.js";

/** The operations that the engine calls, with plain values. */
export interface Lifecycle {
  check(olds: JsonObject, news: JsonObject): Promise<CheckedInputs>;
  diff(id: string, olds: JsonObject, news: JsonObject): Promise<DiffResult>;
  create(inputs: JsonObject): Promise<CreateResult>;
  read(id: string, properties: JsonObject): Promise<ReadResult>;
  update(id: string, olds: JsonObject, news: JsonObject): Promise<{ readonly outs: JsonObject }>;
  delete(id: string, properties: JsonObject): Promise<void>;
}

/** What only the plugin is asked for. */
interface Importing {
  /** Reads an object that the resource with this owner may import, or only looks at. */
  lookUp(id: string, owner?: string): Promise<ReadResult>;
  /** Returns why the resource with this owner may not import an object; otherwise, undefined. */
  importRefusal(id: string, owner?: string): Promise<string | undefined>;
}

/** Returns the lifecycle of one kind within one run. */
export const lifecycle = (definition: Definition, run: Run): Lifecycle & Importing => {
  const context = { definition, run, naming: namingOf(definition) };
  /** Runs one operation on the resource that the engine's values describe. */
  const call = <T>(
    doing: string,
    values: { readonly id?: string; readonly inputs: JsonObject; readonly olds?: JsonObject },
    work: (resource: Resource) => Promise<T>,
  ): Promise<T> =>
    engineCall({ definition, run, doing, ...values }, async (given) =>
      work(resourceIn(context, given)),
    );
  return {
    check: (olds, inputs) =>
      call("checking", { inputs, olds }, (resource) => check(resource, olds, inputs)),
    diff: (id, olds, inputs) =>
      call("comparing", { id, inputs, olds }, async (resource) => diff(resource, id, olds)),
    create: (inputs) =>
      call("creating", { inputs }, async (resource) =>
        createObject(await connected(assertStillAllowed(resource, inputs))),
      ),
    read: (id, inputs) => call("reading", { id, inputs }, (resource) => read(resource, id)),
    update: (id, olds, inputs) =>
      call("updating", { id, inputs, olds }, async (resource) =>
        updateObject(await connected(assertStillAllowed(resource, inputs, olds)), olds, id),
      ),
    lookUp: (id, owner) =>
      call("looking up", { id, inputs: owner ? { owner } : {} }, (resource) =>
        lookUpObject(resource, id),
      ),
    importRefusal: (id, owner) =>
      call("importing", { id, inputs: owner ? { owner } : {} }, (resource) =>
        importRefusal(resource, id),
      ),
    delete: (id, inputs) =>
      call("deleting", { id, inputs }, (resource) => deleteObject(resource, id, inputs)),
  };
};

/** One call from the engine and its subject. */
interface EngineCall {
  readonly definition: Definition;
  readonly run: Partial<Pick<Run, "about" | "step" | "environment" | "decisions">>;
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
 * @param work receives the inputs, split into their parts
 */
const engineCall = async <T>(
  call: EngineCall,
  work: (given: Properties) => Promise<T>,
): Promise<T> => {
  const { run, inputs, doing, definition } = call;
  const { given, secrets } = resolved(call);
  const about: Run["about"] = run.about ?? ((_definition, _values, within) => within());
  const step = run.step ?? ((_, within) => within());
  let result: T;
  try {
    result = await about(definition, inputs, () =>
      step(`${doing} ${definition.kind}`, () => keepingSecret(secrets, () => work(given))),
    );
  } catch (error) {
    throw failure(call, error, secrets);
  }
  return result === undefined ? result : (JSON.parse(JSON.stringify(result)) as T);
};

const failure = (call: EngineCall, error: unknown, secrets: readonly string[]): Error => {
  const { definition, doing, id, inputs, run } = call;
  const subject = `${objectTitle(definition, inputs)}${id ? ` (ID ${id.slice(0, 140)})` : ""}`;
  const reason = repeatedCredentialError(run, error) ?? reasonOf(error, secrets);
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

/**
 * Refused credentials fail every resource of a run: only the first failure gives the reason
 * (undefined there).
 */
const repeatedCredentialError = (
  { decisions }: EngineCall["run"],
  error: unknown,
): string | undefined => {
  if (!isConversationError(error, "CREDENTIALS_REFUSED")) return undefined;
  if (decisions?.reportedRefusals.has(error.message))
    return "the service refused the credentials (CREDENTIALS_REFUSED); the error for another resource in this run explains why and what to do.";
  decisions?.reportedRefusals.add(error.message);
  return undefined;
};

/** The placeholders for missing values. */
const standIns: readonly string[] = [undisclosed, unknownValue];

/**
 * The inputs of a call, split into their parts, and every text of its values that no message may
 * show, in the forms of the program, the state, and the service.
 */
const resolved = ({
  definition,
  run,
  inputs,
  olds = {},
}: EngineCall): { readonly given: Properties; readonly secrets: readonly string[] } => {
  const given = propertiesIn(inputs);
  const texts = [given, propertiesIn(olds)].flatMap(({ fields, markedSecrets }) => {
    const seen = seenSecrets(run);
    const written = withEnvironmentSecrets(fields, seen);
    const known = fieldsWithSecrets(definition.fields, markedSecrets);
    return [
      ...environmentSecretsIn(fields).flatMap((secret) => seen(secret) ?? []),
      ...[fields, written].flatMap((each) => secretTexts(known, each)),
    ];
  });
  return { given, secrets: [...new Set(texts)].filter((text) => !standIns.includes(text)) };
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
