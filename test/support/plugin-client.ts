import type { ServiceError } from "@grpc/grpc-js";
import type {
  CheckResponse,
  CreateResponse,
  DiffResponse,
  InvokeResponse,
  ReadResponse,
  UpdateResponse,
} from "@pulumi/pulumi/proto/provider_pb.js";
import {
  Empty,
  grpc,
  messages,
  providerServices,
  structOf,
  valuesOf,
} from "../../provider/plugin/protocol.js";
import { type PluginServer, servePlugin } from "../../provider/plugin/server.js";

type Json = Record<string, unknown>;

/** What a call answered; `error` where it failed. */
export interface Reply {
  readonly id?: string;
  readonly inputs?: Json | undefined;
  readonly properties?: Json | undefined;
  readonly failures?: readonly string[];
  /** Whether something changes. */
  readonly changes?: boolean;
  /** Kinds of changes by property: 0 add, 2 delete, 4 update. */
  readonly detailed?: Readonly<Record<string, number>>;
  readonly replaces?: readonly string[];
  readonly error?: string;
}

/** The naming that the user's settings ask of the engine. */
interface Naming {
  readonly proposed: string;
  /** 0 propose, 1 enforce, 2 disable. */
  readonly mode: 0 | 1 | 2;
}

/** The plugin on a real socket, called as the engine calls it. */
export class PluginClient implements AsyncDisposable {
  readonly #server: PluginServer;
  readonly #client: InstanceType<typeof providerServices.ResourceProviderClient>;

  private constructor(server: PluginServer) {
    this.#server = server;
    this.#client = new providerServices.ResourceProviderClient(
      `127.0.0.1:${server.port}`,
      grpc.credentials.createInsecure(),
      { "grpc.enable_http_proxy": 0 },
    );
  }

  static async open(): Promise<PluginClient> {
    return new PluginClient(await servePlugin());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    this.#server.close();
  }

  #call<T>(
    send: (done: (error: ServiceError | null, answer: T) => void) => void,
    read: (answer: T) => Reply,
  ): Promise<Reply> {
    return new Promise((resolve) =>
      send((error, answer) => resolve(error ? { error: error.details } : read(answer))),
    );
  }

  #checked = (answer: CheckResponse): Reply => ({
    inputs: valuesOf(answer.getInputs()),
    failures: answer.getFailuresList().map((failure) => {
      if (failure.getProperty() !== "") throw new Error("the engine would print the value");
      return failure.getReason();
    }),
  });

  #compared = (answer: DiffResponse): Reply => ({
    changes: answer.getChanges() === messages.DiffResponse.DiffChanges.DIFF_SOME,
    detailed: Object.fromEntries(
      answer
        .getDetaileddiffMap()
        .toArray()
        .map(([path]) => [path, answer.getDetaileddiffMap().get(path)?.getKind() ?? -1]),
    ),
    replaces: answer.getReplacesList(),
  });

  checkConfig(urn: string, olds: Json, news: Json): Promise<Reply> {
    const request = new messages.CheckRequest();
    request.setUrn(urn);
    request.setOlds(structOf(olds));
    request.setNews(structOf(news));
    return this.#call((done) => this.#client.checkConfig(request, done), this.#checked);
  }

  diffConfig(urn: string, oldInputs: Json, news: Json): Promise<Reply> {
    const request = new messages.DiffRequest();
    request.setUrn(urn);
    request.setOldInputs(structOf(oldInputs));
    request.setOlds(structOf(oldInputs));
    request.setNews(structOf(news));
    return this.#call((done) => this.#client.diffConfig(request, done), this.#compared);
  }

  configure(name: string, args: Json): Promise<Reply> {
    const request = new messages.ConfigureRequest();
    request.setName(name);
    request.setArgs(structOf(args));
    return this.#call(
      (done) => this.#client.configure(request, done),
      () => ({}),
    );
  }

  /** As the engine sends it at the end of a run, and on Ctrl-C. */
  cancel(): Promise<Reply> {
    return this.#call(
      (done) => this.#client.cancel(new Empty(), done),
      () => ({}),
    );
  }

  check(urn: string, olds: Json, news: Json, naming?: Naming): Promise<Reply> {
    const request = new messages.CheckRequest();
    request.setUrn(urn);
    request.setOlds(structOf(olds));
    request.setNews(structOf(news));
    if (naming) {
      const options = new messages.CheckRequest.AutonamingOptions();
      options.setProposedName(naming.proposed);
      options.setMode(naming.mode);
      request.setAutonaming(options);
    }
    return this.#call((done) => this.#client.check(request, done), this.#checked);
  }

  diff(urn: string, id: string, old: { inputs: Json; outputs: Json }, news: Json): Promise<Reply> {
    const request = new messages.DiffRequest();
    request.setUrn(urn);
    request.setId(id);
    request.setOldInputs(structOf(old.inputs));
    request.setOlds(structOf(old.outputs));
    request.setNews(structOf(news));
    return this.#call((done) => this.#client.diff(request, done), this.#compared);
  }

  /** The engine's address, for what is shown to the user. */
  handshake(engineAddress: string): Promise<Reply> {
    const request = new messages.ProviderHandshakeRequest();
    request.setEngineAddress(engineAddress);
    return this.#call(
      (done) => this.#client.handshake(request, done),
      () => ({}),
    );
  }

  /** @param gone aborted when the engine is killed: it does not wait for the answer */
  create(urn: string, inputs: Json, preview = false, gone?: AbortSignal): Promise<Reply> {
    const request = new messages.CreateRequest();
    request.setUrn(urn);
    request.setProperties(structOf(inputs));
    request.setPreview(preview);
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
    old: { inputs: Json; outputs: Json },
    news: Json,
    preview = false,
  ): Promise<Reply> {
    const request = new messages.UpdateRequest();
    request.setUrn(urn);
    request.setId(id);
    request.setOldInputs(structOf(old.inputs));
    request.setOlds(structOf(old.outputs));
    request.setNews(structOf(news));
    request.setPreview(preview);
    return this.#call(
      (done) => this.#client.update(request, done),
      (answer: UpdateResponse) => ({
        properties: valuesOf(answer.getProperties()),
      }),
    );
  }

  /** @param state left out for `pulumi import` */
  read(urn: string, id: string, state?: { inputs: Json; outputs: Json }): Promise<Reply> {
    const request = new messages.ReadRequest();
    request.setUrn(urn);
    request.setId(id);
    request.setProperties(structOf(state?.outputs ?? {}));
    if (state) request.setInputs(structOf(state.inputs));
    return this.#call(
      (done) => this.#client.read(request, done),
      (answer: ReadResponse) => ({
        id: answer.getId(),
        properties: answer.hasProperties() ? valuesOf(answer.getProperties()) : undefined,
        inputs: answer.hasInputs() ? valuesOf(answer.getInputs()) : undefined,
      }),
    );
  }

  delete(urn: string, id: string, outputs: Json): Promise<Reply> {
    const request = new messages.DeleteRequest();
    request.setUrn(urn);
    request.setId(id);
    request.setProperties(structOf(outputs));
    return this.#call(
      (done) => this.#client.delete(request, done),
      () => ({}),
    );
  }

  invoke(token: string, args: Json): Promise<Reply> {
    const request = new messages.InvokeRequest();
    request.setTok(token);
    request.setArgs(structOf(args));
    return this.#call(
      (done) => this.#client.invoke(request, done),
      (answer: InvokeResponse) => ({
        properties: valuesOf(answer.getReturn()),
      }),
    );
  }
}
