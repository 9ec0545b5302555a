import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import * as messages from "@pulumi/pulumi/proto/provider_pb.js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { Any } from "google-protobuf/google/protobuf/any_pb.js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { packageSchema } from "../../provider/plugin/schema.js";
import { lifecycleOf } from "../../provider/v1.js";

/**
 * A provider plugin of the ordinary sort (an executable that the engine starts and speaks gRPC
 * with) over the life cycle that dynamic resources use: the way on, should Pulumi give up dynamic
 * providers. It serves the types `conversation:index:<Kind>`.
 *
 * It does for the life cycle what Pulumi's process for dynamic providers does, and nothing more: the
 * engine keeps track of secrets, a preview creates nothing, and what cannot be served is
 * unimplemented.
 */

const configuration = new Map<string, string>();

/** The life cycle of the kind that a URN names: `urn:pulumi:<stack>::<project>::<types>::<name>`. */
const lifecycleFor = (urn: string) => {
  const kind = urn.split("::")[2]?.split(":").at(-1) ?? "";
  return lifecycleOf(kind, { get: (key) => configuration.get(key) });
};

const valuesOf = (struct: Struct | undefined): JsonObject => struct?.toJavaScript() ?? {};

const structOf = (values: JsonObject): Struct =>
  Struct.fromJavaScript(values as { [key: string]: JavaScriptValue });

/** One call of the engine: an answer, or an error with its message alone. */
const served =
  <Request, Reply>(answer: (request: Request) => Promise<Reply> | Reply) =>
  async ({ request }: ServerUnaryCall<Request, Reply>, reply: sendUnaryData<Reply>) => {
    try {
      reply(null, await answer(request));
    } catch (error) {
      const details = error instanceof Error ? error.message : String(error);
      reply({ code: status.UNKNOWN, details, metadata: initFailure(error) });
    }
  };

const getSchema = served(() => {
  const response = new messages.GetSchemaResponse();
  response.setSchema(JSON.stringify(packageSchema()));
  return response;
});

const configure = served((request: messages.ConfigureRequest) => {
  for (const [key, value] of request.getVariablesMap().entries())
    configuration.set(key.replace("conversation:config:", "conversation:"), value);
  return new messages.ConfigureResponse();
});

const check = served(async (request: messages.CheckRequest) => {
  const life = lifecycleFor(request.getUrn());
  const { inputs, failures } = await life.check(
    valuesOf(request.getOlds()),
    valuesOf(request.getNews()),
  );
  const response = new messages.CheckResponse();
  response.setInputs(structOf(inputs));
  for (const { property, reason } of failures) {
    const failure = new messages.CheckFailure();
    failure.setProperty(property);
    failure.setReason(reason);
    response.addFailures(failure);
  }
  return response;
});

const diff = served(async (request: messages.DiffRequest) => {
  const { DIFF_UNKNOWN, DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
  // A state of a native plugin holds no pointer; without one it would be taken for an ancient one.
  const olds = { __provider: "native", ...valuesOf(request.getOlds()) };
  const news = valuesOf(request.getNews());
  const { changes } = await lifecycleFor(request.getUrn()).diff(request.getId(), olds, news);
  const response = new messages.DiffResponse();
  response.setChanges(changes === undefined ? DIFF_UNKNOWN : changes ? DIFF_SOME : DIFF_NONE);
  return response;
});

const create = served(async (request: messages.CreateRequest) => {
  const inputs = valuesOf(request.getProperties());
  const { id, outs } = await lifecycleFor(request.getUrn()).create(inputs);
  const response = new messages.CreateResponse();
  response.setId(id);
  response.setProperties(structOf(outs));
  return response;
});

const read = served(async (request: messages.ReadRequest) => {
  const properties = valuesOf(request.getProperties());
  const { id, props, inputs } = await lifecycleFor(request.getUrn()).read(
    request.getId(),
    properties,
  );
  const response = new messages.ReadResponse();
  response.setId(id);
  response.setProperties(structOf(props));
  if (inputs) response.setInputs(structOf(inputs));
  return response;
});

const update = served(async (request: messages.UpdateRequest) => {
  const [olds, news] = [valuesOf(request.getOlds()), valuesOf(request.getNews())];
  const { outs } = await lifecycleFor(request.getUrn()).update(request.getId(), olds, news);
  const response = new messages.UpdateResponse();
  response.setProperties(structOf(outs));
  return response;
});

const remove = served(async (request: messages.DeleteRequest) => {
  const properties = valuesOf(request.getProperties());
  await lifecycleFor(request.getUrn()).delete(request.getId(), properties);
  return new Empty();
});

const getPluginInfo = served(() => {
  const info = new PluginInfo();
  info.setVersion("1.0.0");
  return info;
});

const cancel = served(() => new Empty());

const server = new Server({ "grpc.max_receive_message_length": -1 });
server.addService(ResourceProviderService, {
  getSchema,
  configure,
  check,
  diff,
  create,
  read,
  update,
  delete: remove,
  cancel,
  getPluginInfo,
});
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  // The engine reads the port from the first line.
  console.log(port);
});
/** What a call threw after it had made the object, which the engine must keep then. */
interface MadeAllTheSame extends Error {
  readonly id: string;
  readonly properties: { [key: string]: JavaScriptValue };
  readonly reasons: string[];
}
const isMade = (error: unknown): error is MadeAllTheSame =>
  error instanceof Error &&
  "id" in error &&
  typeof error.id === "string" &&
  "properties" in error &&
  isObject(error.properties);
/** The metadata by which the engine learns that an object was made although the call failed. */

export const initFailure = (error: unknown): Metadata => {
  const metadata = new Metadata();
  if (!isMade(error)) return metadata;
  const failed = new ErrorResourceInitFailed();
  failed.setId(error.id);
  failed.setProperties(Struct.fromJavaScript(error.properties));
  failed.setReasonsList(error.reasons);
  const detail = new Any();
  detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const reported = new Status();
  reported.setCode(status.UNKNOWN);
  reported.setMessage(error.message);
  reported.addDetails(detail);
  metadata.add("grpc-status-details-bin", Buffer.from(reported.serializeBinary()));
  return metadata;
};
