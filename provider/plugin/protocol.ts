import { AsyncLocalStorage } from "node:async_hooks";
import type * as Grpc from "@grpc/grpc-js";
import type * as PluginMessages from "@pulumi/pulumi/proto/plugin_pb.js";
import type * as ProviderServices from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import type * as ProviderMessages from "@pulumi/pulumi/proto/provider_pb.js";
import type * as StatusMessages from "@pulumi/pulumi/proto/status_pb.js";
import type * as AnyMessages from "google-protobuf/google/protobuf/any_pb.js";
import type * as EmptyMessages from "google-protobuf/google/protobuf/empty_pb.js";
import type * as StructMessages from "google-protobuf/google/protobuf/struct_pb.js";
import { loadWithSdk } from "../dynamic/sdk-module.js";
import { isObject, type JsonObject } from "../kernel/json.js";

/** The SDK's protocol files and the two libraries under them must be one set. */
const load = loadWithSdk;

export const grpc: typeof Grpc = load("@grpc/grpc-js");
export const pluginMessages: typeof PluginMessages = load("./proto/plugin_pb.js");
export const providerServices: typeof ProviderServices = load("./proto/provider_grpc_pb.js");
export const messages: typeof ProviderMessages = load("./proto/provider_pb.js");
const { Status }: typeof StatusMessages = load("./proto/status_pb.js");
const { Any }: typeof AnyMessages = load("google-protobuf/google/protobuf/any_pb.js");
export const { Empty }: typeof EmptyMessages = load("google-protobuf/google/protobuf/empty_pb.js");
const { Struct }: typeof StructMessages = load("google-protobuf/google/protobuf/struct_pb.js");

/** Returns values from the engine, with secrets and references in the engine's own form. */
export const valuesOf = (struct: StructMessages.Struct | undefined): JsonObject =>
  struct?.toJavaScript() ?? {};

/** Converts values to the engine's form, omitting anything that JSON cannot represent. */
export const structOf = (values: JsonObject): StructMessages.Struct =>
  Struct.fromJavaScript(JSON.parse(JSON.stringify(values)));

/** What a call reports of an object that it made although it failed. */
interface MadeAllTheSame extends Error {
  readonly id: string;
  readonly properties: JsonObject;
  readonly reasons: readonly string[];
}

const isMade = (error: unknown): error is MadeAllTheSame =>
  error instanceof Error &&
  "id" in error &&
  typeof error.id === "string" &&
  "properties" in error &&
  isObject(error.properties) &&
  "reasons" in error &&
  Array.isArray(error.reasons);

/** Metadata by which the engine learns that an object was made although the call failed. */
const initFailure = (error: unknown): Grpc.Metadata => {
  const metadata = new grpc.Metadata();
  if (!isMade(error)) return metadata;
  const failed = new messages.ErrorResourceInitFailed();
  failed.setId(error.id);
  failed.setProperties(structOf(error.properties));
  failed.setReasonsList([...error.reasons]);
  const detail = new Any();
  detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const reported = new Status();
  reported.setCode(grpc.status.UNKNOWN);
  reported.setMessage(error.message);
  reported.addDetails(detail);
  metadata.add("grpc-status-details-bin", Buffer.from(reported.serializeBinary()));
  return metadata;
};

/** The URN of the resource that the running call is about. */
const running = new AsyncLocalStorage<string>();

/** Returns the URN of the resource that the current call is about. */
export const callUrn = (): string | undefined => running.getStore();

/** Calls of the engine that have not been answered. */
let unanswered = 0;
let onAnswered: (() => void) | undefined;

/** Resolves when every call from the engine has been answered. */
export const allAnswered = (): Promise<void> =>
  new Promise((resolve) => {
    onAnswered = resolve;
    if (unanswered === 0) resolve();
  });

/**
 * Handles protocol methods. If a method fails, the caller receives only the failure's message and
 * any object that was created.
 *
 * @param onGone called if a caller disconnects before its call is answered: the engine was
 * killed, and waiting calls must not be sent during the next run
 */
export const answering =
  (onGone: () => void) =>
  <Request extends object, Reply>(answer: (request: Request) => Promise<Reply> | Reply) =>
  async (
    call: Grpc.ServerUnaryCall<Request, Reply>,
    reply: Grpc.sendUnaryData<Reply>,
  ): Promise<void> => {
    const { request } = call;
    let isAnswered = false;
    // It comes after every call, answered or not.
    call.once("cancelled", () => isAnswered || onGone());
    unanswered += 1;
    const urn = "getUrn" in request && request.getUrn instanceof Function ? request.getUrn() : "";
    try {
      const answered = await running.run(urn, async () => answer(request));
      isAnswered = true;
      reply(null, answered);
    } catch (error) {
      isAnswered = true;
      const details = error instanceof Error ? error.message : String(error);
      reply({ code: grpc.status.UNKNOWN, details, metadata: initFailure(error) });
    } finally {
      unanswered -= 1;
      if (unanswered === 0) onAnswered?.();
    }
  };
