import type { ServiceError } from "@grpc/grpc-js";
import type {
  CheckResponse,
  CreateResponse,
  DiffResponse,
  InvokeResponse,
  ReadResponse,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { grpc, messages, providerServices, valuesOf } from "../../provider/plugin/protocol.js";
import { requestOf } from "./engine-requests.js";

/** What a call answered; `error` where it failed. */
export interface Reply {
  readonly id?: string;
  readonly inputs?: Json | undefined;
  readonly properties?: Json | undefined;
  readonly failures?: readonly string[];
  /** Whether something changes; undefined: it is for the engine to compare. */
  readonly changes?: boolean | undefined;
  /** Kinds of changes by property: 0 add, 2 delete, 4 update. */
  readonly detailed?: Readonly<Record<string, number>>;
  readonly replaces?: readonly string[];
  readonly error?: string;
}

interface State {
  readonly inputs: Json;
  readonly outputs: Json;
}

const checked = (answer: CheckResponse): Reply => ({
  inputs: valuesOf(answer.getInputs()),
  failures: answer.getFailuresList().map((failure) => {
    if (failure.getProperty() !== "") throw new Error("the engine would print the value");
    return failure.getReason();
  }),
});

const compared = (answer: DiffResponse): Reply => ({
  changes: [undefined, false, true][answer.getChanges()],
  detailed: Object.fromEntries(
    answer
      .getDetaileddiffMap()
      .toArray()
      .map(([path]) => [path, answer.getDetaileddiffMap().get(path)?.getKind() ?? -1]),
  ),
  replaces: answer.getReplacesList(),
});

const nothing = () => ({});

/** Calls a provider at a port of this machine as the engine does. */
export class EngineClient {
  readonly #client: InstanceType<typeof providerServices.ResourceProviderClient>;

  constructor(port: number) {
    this.#client = new providerServices.ResourceProviderClient(
      `127.0.0.1:${port}`,
      grpc.credentials.createInsecure(),
      { "grpc.enable_http_proxy": 0 },
    );
  }

  close(): void {
    this.#client.close();
  }

  #call<T>(
    send: (done: (error: ServiceError | null, answer: T) => void) => void,
    read: (answer: T) => Reply,
  ): Promise<Reply> {
    return new Promise((resolve) =>
      send((error, answer) => resolve(error ? { error: error.details } : read(answer))),
    );
  }

  diffConfig(urn: string, olds: Json, news: Json): Promise<Reply> {
    const members = { Urn: urn, OldInputs: olds, Olds: olds, News: news };
    const request = requestOf(messages.DiffRequest, members);
    return this.#call((done) => this.#client.diffConfig(request, done), compared);
  }

  configure(name: string, args: Json): Promise<Reply> {
    const request = requestOf(messages.ConfigureRequest, { Name: name, Args: args });
    return this.#call((done) => this.#client.configure(request, done), nothing);
  }

  check(urn: string, olds: Json, news: Json): Promise<Reply> {
    const request = requestOf(messages.CheckRequest, { Urn: urn, Olds: olds, News: news });
    return this.#call((done) => this.#client.check(request, done), checked);
  }

  diff(urn: string, id: string, { inputs, outputs }: State, news: Json): Promise<Reply> {
    const members = { Urn: urn, Id: id, OldInputs: inputs, Olds: outputs, News: news };
    const request = requestOf(messages.DiffRequest, members);
    return this.#call((done) => this.#client.diff(request, done), compared);
  }

  /** The engine's address, for what is shown to the user. */
  handshake(engineAddress: string): Promise<Reply> {
    const members = { EngineAddress: engineAddress };
    const request = requestOf(messages.ProviderHandshakeRequest, members);
    return this.#call((done) => this.#client.handshake(request, done), nothing);
  }

  /** @param gone aborted when the engine is killed: it does not wait for the answer */
  create(urn: string, inputs: Json, preview = false, gone?: AbortSignal): Promise<Reply> {
    const members = { Urn: urn, Properties: inputs, Preview: preview };
    const request = requestOf(messages.CreateRequest, members);
    return this.#call(
      (done) => {
        const call = this.#client.create(request, done);
        gone?.addEventListener("abort", () => call.cancel());
      },
      (answer: CreateResponse) => ({
        id: answer.getId(),
        properties: valuesOf(answer.getProperties()),
      }),
    );
  }

  update(
    urn: string,
    id: string,
    { inputs, outputs }: State,
    news: Json,
    preview = false,
  ): Promise<Reply> {
    const members = { Urn: urn, Id: id, OldInputs: inputs, Olds: outputs, News: news };
    const request = requestOf(messages.UpdateRequest, { ...members, Preview: preview });
    return this.#call(
      (done) => this.#client.update(request, done),
      (answer: UpdateResponse) => ({ properties: valuesOf(answer.getProperties()) }),
    );
  }

  /** @param state left out for an import, `get` and `exists` */
  read(urn: string, id: string, state?: Partial<State>): Promise<Reply> {
    const { inputs, outputs = {} } = state ?? {};
    const members = { Urn: urn, Id: id, Properties: outputs, Inputs: inputs };
    const request = requestOf(messages.ReadRequest, members);
    return this.#call(
      (done) => this.#client.read(request, done),
      (answer: ReadResponse) => ({
        id: answer.getId(),
        properties: answer.hasProperties() ? valuesOf(answer.getProperties()) : undefined,
        inputs: answer.hasInputs() ? valuesOf(answer.getInputs()) : undefined,
      }),
    );
  }

  delete(urn: string, id: string, outputs: Json, inputs?: Json): Promise<Reply> {
    const members = { Urn: urn, Id: id, Properties: outputs, OldInputs: inputs };
    const request = requestOf(messages.DeleteRequest, members);
    return this.#call((done) => this.#client.delete(request, done), nothing);
  }

  invoke(token: string, args: Json): Promise<Reply> {
    const request = requestOf(messages.InvokeRequest, { Tok: token, Args: args });
    return this.#call(
      (done) => this.#client.invoke(request, done),
      (answer: InvokeResponse) => ({ properties: valuesOf(answer.getReturn()) }),
    );
  }
}
