import type { Definition } from "../definition/define.js";
import { objectTitle } from "../definition/kinds.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { withAdvice } from "../kernel/package.js";
import { inertOutput } from "../kernel/text.js";
import { foreignMessage, keepingSecret } from "../service/redaction.js";
import { importRefusal } from "./adoption.js";
import { type CheckedInputs, check, type DiffResult, diff, findViolations } from "./check.js";
import { type CreateResult, createObject } from "./create.js";
import { deleteObject } from "./delete.js";
import { lookUpObject, type ReadResult, read } from "./read.js";
import {
  connected,
  inAccount,
  type KindInRun,
  kindInRun,
  propertiesIn,
  type Resource,
  resourceIn,
} from "./resource.js";
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
  const of = kindInRun(definition, run);
  /** Runs one operation on the resource that the engine's values describe. */
  const call = <T>(
    doing: string,
    values: Omit<EngineCall, "of" | "doing">,
    work: (resource: Resource) => Promise<T>,
  ): Promise<T> => engineCall({ of, doing, ...values }, work);
  return {
    check: (olds, inputs) =>
      call("checking", { inputs, olds }, (resource) => check(resource, olds, inputs)),
    diff: (id, olds, inputs) =>
      call("comparing", { id, inputs, olds }, async (resource) => diff(resource, id, olds)),
    create: (inputs) =>
      call("creating", { inputs, isWriting: true }, async (resource) =>
        createObject(await connected(resource)),
      ),
    read: (id, inputs) => call("reading", { id, inputs }, (resource) => read(resource, id)),
    update: (id, olds, inputs) =>
      call("updating", { id, inputs, olds, isWriting: true }, async (resource) => {
        const declared = await connected(resource);
        return updateObject(declared, inAccount(resourceIn(resource, olds), declared), id);
      }),
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
  readonly of: KindInRun;
  readonly doing: string;
  readonly id?: string;
  readonly inputs: JsonObject;
  readonly olds?: JsonObject;
  /** Whether it writes what its inputs say. */
  readonly isWriting?: true;
}

/**
 * Runs one engine call. Every failure becomes a new error with a complete message that contains no
 * secrets. Every result becomes plain JSON, because the engine loses a created object if it cannot
 * encode the outputs.
 */
const engineCall = async <T>(
  call: EngineCall,
  work: (resource: Resource) => Promise<T>,
): Promise<T> => {
  const { of, inputs, olds = {}, isWriting } = call;
  const resource = resourceIn(of, inputs);
  const secrets = [...new Set([...resource.secrets, ...resourceIn(of, olds).secrets])];
  const { called } = of.run;
  const about = { kind: of.definition.kind, owner: resource.properties.owner };
  let result: T;
  try {
    // A policy that remediates changes inputs after their check.
    const broken = isWriting ? findViolations(resource, inputs, propertiesIn(olds)) : [];
    if (broken.length > 0)
      throw new ConversationError(
        "INPUT_INVALID",
        `${broken.join("; ")}. A policy may have changed these inputs after their check. Nothing was sent.`,
      );
    result = await keepingSecret(secrets, () =>
      called ? called.run(about, () => work(resource)) : work(resource),
    );
  } catch (error) {
    throw failure(call, error, secrets);
  }
  return result === undefined ? result : (JSON.parse(JSON.stringify(result)) as T);
};

const failure = (call: EngineCall, error: unknown, secrets: readonly string[]): Error => {
  const { doing, id, inputs } = call;
  const { definition } = call.of;
  const subject = `${objectTitle(definition, inputs)}${id ? ` (ID ${id.slice(0, 140)})` : ""}`;
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
