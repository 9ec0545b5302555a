import { createRequire } from "node:module";
import { methodOf, propertyOf } from "../../provider/engine/sdk-module.js";
import { messageOf } from "../command.js";
import type { ImportEntry } from "./import-entries.js";

/* The SDK's protocol files come with the SDK of the project and have types of their own releases, so what is
   used of them is looked up by name here, and nowhere else. */

/** Gives the entries for the arguments that Pulumi passes on. */
export type Convert = (args: readonly string[]) => Promise<readonly ImportEntry[]>;

const unknownStatus = 2;
const unimplementedStatus = 12;

const missing = (name: string): Error =>
  new Error(`The Pulumi SDK of this project lacks ${name}. Install @pulumi/pulumi 3.216 or newer.`);

const called = (holder: unknown, name: string, ...args: readonly unknown[]): unknown => {
  const method = methodOf(holder, name);
  if (!method) throw missing(name);
  return method.call(holder, ...args);
};

const made = (holder: unknown, name: string): object => {
  const type = propertyOf(holder, name);
  if (typeof type !== "function") throw missing(name);
  const result: unknown = Reflect.construct(type, []);
  if (typeof result !== "object" || result === null) throw missing(name);
  return result;
};

/** Loads a file as the SDK of this project would. */
const sdkRequire = (): ((path: string) => unknown) => {
  const sdk = createRequire(__filename).resolve("@pulumi/pulumi/package.json");
  return createRequire(sdk);
};

type Answer = (error: object | null, response?: object) => void;

const isAnswer = (value: unknown): value is Answer => typeof value === "function";

const serviceOf = (load: (path: string) => unknown, convert: Convert) => {
  const messages = load("@pulumi/pulumi/proto/converter_pb.js");
  const struct = propertyOf(load("google-protobuf/google/protobuf/struct_pb.js"), "Struct");
  const resourceOf = ({ type, name, id, inputs, outputs }: ImportEntry): object => {
    const message = made(messages, "ResourceImport");
    called(message, "setType", type);
    called(message, "setName", name);
    called(message, "setId", id);
    called(message, "setInputs", called(struct, "fromJavaScript", inputs));
    called(message, "setOutputs", called(struct, "fromJavaScript", outputs));
    return message;
  };
  const argumentsOf = (call: unknown): readonly string[] => {
    const list = called(propertyOf(call, "request"), "getArgsList");
    return Array.isArray(list) ? list.map(String) : [];
  };
  return {
    convertState: (call: unknown, answer: unknown): void => {
      if (!isAnswer(answer)) return;
      const respond = async (): Promise<void> => {
        const entries = await convert(argumentsOf(call));
        const response = made(messages, "ConvertStateResponse");
        called(response, "setResourcesList", entries.map(resourceOf));
        answer(null, response);
      };
      respond().catch((error) => answer({ code: unknownStatus, details: messageOf(error) }));
    },
    convertProgram: (_: unknown, answer: unknown): void => {
      const details = "Programs are written by: pulumi-conversation export";
      if (isAnswer(answer)) answer({ code: unimplementedStatus, details });
    },
  };
};

/** Serves Pulumi's converter protocol. @returns its port on this machine, and its end */
export const serveConverter = async (convert: Convert) => {
  const load = sdkRequire();
  const grpc = load("@grpc/grpc-js");
  const service = propertyOf(load("@pulumi/pulumi/proto/converter_grpc_pb.js"), "ConverterService");
  const handlers: Record<string, unknown> = serviceOf(load, convert);
  // Later releases of the protocol ask for more, and a server must know all of it.
  for (const name of Object.keys(Object(service))) handlers[name] ??= handlers.convertProgram;
  const server = made(grpc, "Server");
  called(server, "addService", service, handlers);
  const credentials = called(propertyOf(grpc, "ServerCredentials"), "createInsecure");
  const port = await new Promise<number>((resolve, reject) => {
    called(server, "bindAsync", "127.0.0.1:0", credentials, (error: unknown, bound: number) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, close: () => void called(server, "forceShutdown") };
};
