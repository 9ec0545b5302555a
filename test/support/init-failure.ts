import { Metadata, status } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { Any } from "google-protobuf/google/protobuf/any_pb.js";
import { type JavaScriptValue, Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { isObject } from "../../provider/kernel/json.js";

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
  const told = new Status();
  told.setCode(status.UNKNOWN);
  told.setMessage(error.message);
  told.addDetails(detail);
  metadata.add("grpc-status-details-bin", Buffer.from(told.serializeBinary()));
  return metadata;
};
