import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { devNull } from "node:os";
import { dirname } from "node:path";
import { Command, Option } from "commander";
import { z } from "zod";
import { methodOf, propertyOf } from "../../provider/engine/sdk-module.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { projectFile } from "../../provider/pulumi-cli/project-files.js";
import { parentPulumi, pulumiOfThisRun } from "../../provider/pulumi-cli/pulumi-queries.js";
import { readAccountInputs } from "../account/open-account.js";
import { CommandFailure, type Given, messageOf } from "../command.js";
import { withOptions } from "../command-line.js";
import { importOptions } from "../commands/common-options.js";
import { openStack } from "../stack/open-stack.js";
import { type ImportEntry, planImport } from "./import-entries.js";
import { importEntrySchema } from "./import-schema.js";

/** Names the address at which the converter gets the entries of the command that started it. */
export const entriesVariable = "PULUMI_CONVERSATION_ENTRIES";

const entriesSchema = z.array(importEntrySchema);

/**
 * Hands entries to a converter on this machine, from memory to memory: they may hold secrets. The address
 * cannot be guessed and answers once.
 */
export const handOver = async (entries: readonly ImportEntry[]) => {
  const path = `/${randomBytes(24).toString("hex")}`;
  let text: string | undefined = JSON.stringify(entries);
  const server = createServer((request, response) => {
    const isIt = request.url === path && text !== undefined;
    response.writeHead(isIt ? 200 : 404, { "content-type": "application/json" });
    response.end(isIt ? text : "null");
    if (isIt) text = undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/**
 * Gets the entries that a command has handed over. @throws CommandFailure if they are not available
 */
const handedOver = async (url: string): Promise<readonly ImportEntry[]> => {
  const answer: unknown = await fetch(url).then(
    (response) => response.json(),
    () => undefined,
  );
  const { data } = entriesSchema.safeParse(answer);
  if (data) return data;
  throw new CommandFailure("The command that started this import has ended. Run it again.");
};

/* The protocol files come with the SDK of the project, in the types of its release, so the parts in
 * use are looked up by name here and nowhere else. */

/** Returns the entries for the arguments that Pulumi passes on. */
type Convert = (args: readonly string[]) => Promise<readonly ImportEntry[]>;

const unknownStatus = 2;
const unimplementedStatus = 12;

const missing = (name: string): Error =>
  new Error(`This project's Pulumi SDK lacks ${name}. Install @pulumi/pulumi 3.216 or later.`);

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
      const details = `To write a program, run: ${ownCommand("export")}`;
      if (isAnswer(answer)) answer({ code: unimplementedStatus, details });
    },
  };
};

/** Serves Pulumi's converter protocol. @returns its port on this machine, and a way to end it */
export const serveConverter = async (convert: Convert) => {
  const load = sdkRequire();
  const grpc = load("@grpc/grpc-js");
  const service = propertyOf(load("@pulumi/pulumi/proto/converter_grpc_pb.js"), "ConverterService");
  const handlers: Record<string, unknown> = serviceOf(load, convert);
  // Later releases of the protocol have more methods, and a server must implement all of them.
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

type ImportFlags = Given<typeof importOptions>;

/** @throws CommandFailure if an argument is wrong */
const flagsIn = (args: readonly string[]): ImportFlags => {
  // Scripts that add Pulumi's own option at the end of every command add it here.
  const interactive = new Option("--non-interactive").hideHelp();
  const parser = withOptions(new Command("pulumi import --from conversation --"), importOptions)
    .addOption(interactive)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  try {
    return parser.parse([...args], { from: "user" }).opts<ImportFlags>();
  } catch (error) {
    throw new CommandFailure(`${messageOf(error)} (after --)`, 2);
  }
};

/**
 * If an import fails, Pulumi writes its entries into the folder of the project, secrets in plain text,
 * unless --generate-resources names another place.
 *
 * @throws CommandFailure if secrets were asked for without that option
 */
const assertNoFile = ({ withSecrets }: ImportFlags): void => {
  const words = parentPulumi()?.args;
  const isGiven = words?.some((word) => /^--generate-resources(=|$)/.test(word)) ?? true;
  if (withSecrets && !isGiven)
    throw new CommandFailure(
      "With --with-secrets, a failed import would leave a file with all secrets in plain text in the project folder. " +
        `To prevent this, add --generate-resources ${devNull} to pulumi import.`,
      2,
    );
};

/**
 * The entries that Pulumi takes into the state: those of the command that started this converter,
 * else those that the arguments choose from the account.
 *
 * @throws CommandFailure if an object may not be taken over; ConversationError if the account
 *   cannot be read
 */
export const convertState = async (args: readonly string[]): Promise<readonly ImportEntry[]> => {
  const handed = process.env[entriesVariable];
  if (handed) return handedOver(handed);
  const flags = flagsIn(args);
  assertNoFile(flags);
  const { folder, env, given } = pulumiOfThisRun();
  const project = projectFile(folder);
  const options = {
    folder: project ? dirname(project) : folder,
    env: { ...process.env, ...env },
    stack: given,
    profile: flags.profile,
  };
  const stack = await openStack(options);
  const { objects } = await readAccountInputs(options);
  // Read after the account: by then the states hold what a run has made or taken over in between.
  const states = await stack.readStates("all");
  return planImport(objects, stack.names, states, flags).entries;
};
