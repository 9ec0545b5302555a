import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

/* The SDK's protocol files have no usable types; this file is the one place that touches them. */

export type Properties = Record<string, unknown>;

export interface Answer {
  readonly id?: string;
  readonly properties?: Properties;
  readonly inputs?: Properties;
  readonly failures?: readonly { readonly property: string; readonly reason: string }[];
  readonly changes?: number;
  readonly error?: string;
  /** The object was made, but not completely. */
  readonly partial?: {
    readonly id: string;
    readonly properties: Properties;
    readonly reasons: readonly string[];
  };
}

export interface ProviderServer {
  readonly stderr: () => string;
  check(olds: Properties, news: Properties): Promise<Answer>;
  diff(id: string, olds: Properties, news: Properties): Promise<Answer>;
  create(inputs: Properties): Promise<Answer>;
  read(id: string, properties: Properties): Promise<Answer>;
  update(id: string, olds: Properties, news: Properties): Promise<Answer>;
  delete(id: string, properties: Properties): Promise<Answer>;
  stop(): void;
}

interface Message {
  [method: string]: (...args: unknown[]) => never;
}

interface Options {
  /** Stack configuration, as the engine sends it. */
  readonly config?: Properties;
  readonly environment?: Readonly<Record<string, string>>;
}

const root = join(__dirname, "..", "..");
const load = createRequire(join(root, "package.json"));

const listOf = (value: unknown): Message[] => value as Message[];

const plain = (value: unknown): Properties =>
  (value as Message).toJavaScript?.() as unknown as Properties;

/** Starts the SDK's own dynamic-provider process, with this repository as the program's folder, and speaks its protocol. */
export const startProviderServer = async ({
  config = {},
  environment = {},
}: Options = {}): Promise<ProviderServer> => {
  const grpc = load("@grpc/grpc-js");
  const { Struct } = load("google-protobuf/google/protobuf/struct_pb.js");
  const messages = load("@pulumi/pulumi/proto/provider_pb.js");
  const services = load("@pulumi/pulumi/proto/provider_grpc_pb.js");
  const { Status } = load("@pulumi/pulumi/proto/status_pb.js");
  const script = load.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  // An engine that knows no calls; without one, the process ends.
  const engine = new grpc.Server();
  const enginePort = await new Promise<number>((bound) =>
    engine.bindAsync(
      "127.0.0.1:0",
      grpc.ServerCredentials.createInsecure(),
      (_: unknown, port: number) => bound(port),
    ),
  );
  const child = spawn(process.execPath, [script, `127.0.0.1:${enginePort}`], {
    cwd: root,
    env: { ...process.env, ...environment, PULUMI_NODEJS_PROJECT: "shop" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(Number.parseInt(String(line), 10)));
    child.once("exit", (code) =>
      reject(new Error(`the provider process ended with ${code}: ${stderr}`)),
    );
  });
  const client = new services.ResourceProviderClient(
    `127.0.0.1:${port}`,
    grpc.credentials.createInsecure(),
  );

  const partialOf = (error: {
    metadata: { get(key: string): Uint8Array[] };
  }): Answer["partial"] => {
    const [bytes] = error.metadata.get("grpc-status-details-bin");
    if (!bytes) return undefined;
    const [detail] = Status.deserializeBinary(new Uint8Array(bytes)).getDetailsList();
    const failed = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
    return {
      id: failed.getId(),
      properties: plain(failed.getProperties()),
      reasons: failed.getReasonsList(),
    };
  };

  const call = (
    method: string,
    type: string,
    values: Properties,
    answer: (reply: Message) => Answer,
  ): Promise<Answer> =>
    new Promise((resolve) => {
      const request = new messages[type]();
      for (const [name, value] of Object.entries(values)) {
        request[`set${name}`](typeof value === "object" ? Struct.fromJavaScript(value) : value);
      }
      client[method](
        request,
        { deadline: Date.now() + 120_000 },
        (error: never, reply: Message) => {
          if (!error) return resolve(answer(reply));
          const { details } = error as { details: string };
          const partial = partialOf(error);
          return resolve({ error: details, ...(partial ? { partial } : {}) });
        },
      );
    });

  await call("configure", "ConfigureRequest", { Args: config }, () => ({}));
  return {
    stderr: () => stderr,
    check: (olds, news) =>
      call("check", "CheckRequest", { Olds: olds, News: news }, (reply) => ({
        inputs: plain(reply.getInputs?.()),
        failures: listOf(reply.getFailuresList?.()).map((failure) => ({
          property: failure.getProperty?.() as unknown as string,
          reason: failure.getReason?.() as unknown as string,
        })),
      })),
    diff: (id, olds, news) =>
      call("diff", "DiffRequest", { Id: id, Olds: olds, News: news }, (reply) => ({
        changes: reply.getChanges?.() as unknown as number,
      })),
    create: (inputs) =>
      call("create", "CreateRequest", { Properties: inputs }, (reply) => ({
        id: reply.getId?.() as unknown as string,
        properties: plain(reply.getProperties?.()),
      })),
    read: (id, properties) =>
      call("read", "ReadRequest", { Id: id, Properties: properties }, (reply) => {
        const inputs = reply.getInputs?.();
        return {
          id: reply.getId?.() as unknown as string,
          properties: plain(reply.getProperties?.()),
          ...(inputs ? { inputs: plain(inputs) } : {}),
        };
      }),
    update: (id, olds, news) =>
      call("update", "UpdateRequest", { Id: id, Olds: olds, News: news }, (reply) => ({
        properties: plain(reply.getProperties?.()),
      })),
    delete: (id, properties) =>
      call("delete", "DeleteRequest", { Id: id, Properties: properties }, () => ({})),
    stop: () => {
      client.close();
      engine.forceShutdown();
      child.kill("SIGKILL");
    },
  };
};
