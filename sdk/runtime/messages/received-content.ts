import { z } from "zod";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { messageBodies } from "./message-contents.js";
import { isMessageType, type MessageType } from "./message-types.js";

/** The same members at every depth, each of which may be missing. */
type Lenient<T> = T extends readonly (infer E)[]
  ? readonly Lenient<E>[]
  : T extends object
    ? {
        readonly [K in keyof T as string extends K ? never : K]?: Lenient<T[K]> | undefined;
      } & JsonObject
    : T;

type Input<T extends MessageType> = z.input<(typeof messageBodies)[T]["schema"]>;

type Sent<T extends MessageType> =
  Input<T> extends { readonly content: infer C } ? Lenient<C> : JsonObject;

/**
 * The content of a message that was received, by its type: the members that such a message is sent
 * with, as far as the service passed them on and they have the type that they should have; and
 * whatever else the service adds.
 */
export type ReceivedContent<T extends string> = T extends "text"
  ? { readonly text?: string | undefined; readonly redact?: boolean | undefined } & JsonObject
  : T extends MessageType
    ? Sent<T>
    : JsonObject;

/** What is sent in this place, but each member may be missing; one of another type counts as missing. */
const lenient = (schema: unknown): z.ZodType => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly) {
    return lenient(schema.unwrap());
  }
  if (schema instanceof z.ZodArray) return z.array(lenient(schema.element));
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).map(
      ([name, member]) => [name, lenient(member).optional().catch(undefined)] as const,
    );
    return z.looseObject(Object.fromEntries(members));
  }
  if (schema instanceof z.ZodBoolean) return z.boolean();
  // Whole numbers and addresses are rules for those who send.
  return schema instanceof z.ZodNumber ? z.number() : z.string();
};

const { text, redact } = messageBodies.text.schema.shape;

const schemaOf = (type: MessageType): z.ZodType | undefined => {
  if (type === "text") return lenient(z.object({ text, redact }));
  const shape: Readonly<Record<string, unknown>> = messageBodies[type].schema.shape;
  const { content } = shape;
  return content instanceof z.ZodObject ? lenient(content) : undefined;
};

const schemas = new Map<MessageType, z.ZodType | undefined>();

/** A content as its type has it; what no document shows comes as it is. */
export const receivedContent = (type: string, content: JsonObject): JsonObject => {
  if (!isMessageType(type)) return content;
  if (!schemas.has(type)) schemas.set(type, schemaOf(type));
  const { data } = schemas.get(type)?.safeParse(content) ?? {};
  return isObject(data) ? data : content;
};
