import type * as Grpc from "@grpc/grpc-js";
import type * as Messages from "@pulumi/pulumi/proto/provider_pb.js";
import { engineRun } from "../dynamic/engine-run.js";
import { engineAddress, engineStatusLine, runsProgram } from "../dynamic/status-line.js";
import { ConversationError } from "../kernel/errors.js";
import { packageVersion } from "../kernel/package.js";
import type { Run } from "../lifecycle/run.js";
import { checkedConfiguration, configurationChange, configurationOf } from "./configuration.js";
import {
  answering,
  callUrn,
  Empty,
  grpc,
  messages,
  pluginMessages,
  providerServices,
  valuesOf,
} from "./protocol.js";
import { type ConfiguredRun, checkResponse, resourceMethods } from "./resource.js";
import { packageSchema } from "./schema.js";
import { plainValues } from "./values.js";

/**
 * The run of a provider to which resources move from another account: what the state holds for them
 * stays there. If both addresses lead to one account, the former provider will delete it.
 */
const withoutReplaced = (run: Run): Run => ({
  ...run,
  states: async (...given) => {
    const held = await run.states?.(...given);
    return held && { ...held, resourceOf: () => undefined };
  },
});

/**
 * The methods of Pulumi's provider protocol, for one provider of a program: its own process, its own
 * configuration. What is not here is answered as not implemented.
 */
const providerMethods = () => {
  const cancel = new AbortController();
  const stop = (): void => cancel.abort();
  const unary = answering(stop);
  let address = engineAddress();
  let configured: ConfiguredRun | undefined;
  const show = engineStatusLine(() => address);
  const resource = resourceMethods(() => {
    if (configured) return configured;
    throw new ConversationError("INPUT_INVALID", "The provider has not been configured.");
  });

  const handshake = (request: Messages.ProviderHandshakeRequest) => {
    address = request.getEngineAddress() || address;
    const response = new messages.ProviderHandshakeResponse();
    response.setAcceptSecrets(true);
    response.setAcceptResources(true);
    response.setAcceptOutputs(false);
    return response;
  };

  const checkConfig = (request: Messages.CheckRequest) => {
    const { inputs, failures } = checkedConfiguration(
      request.getUrn(),
      plainValues(valuesOf(request.getOlds())),
      valuesOf(request.getNews()),
    );
    return checkResponse(inputs, failures);
  };

  const diffConfig = (request: Messages.DiffRequest) => {
    const { keys, isMove, warning } = configurationChange(
      request.getUrn(),
      plainValues(valuesOf(request.getOldInputs())),
      plainValues(valuesOf(request.getNews())),
    );
    if (warning) show(warning, request.getUrn(), "warning");
    if (isMove && configured) configured = { ...configured, run: withoutReplaced(configured.run) };
    const response = new messages.DiffResponse();
    const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
    response.setChanges(keys.length > 0 ? DIFF_SOME : DIFF_NONE);
    response.setDiffsList([...keys]);
    if (isMove) response.setReplacesList(["baseUrl"]);
    return response;
  };

  const configure = (request: Messages.ConfigureRequest) => {
    const args = plainValues(valuesOf(request.getArgs()));
    const { ownership, source } = configurationOf(request.getName() ?? "default", args);
    const run = engineRun({
      ...{ source, urn: callUrn },
      ...{ cancelled: cancel.signal, show, isPlugins: true },
      runsProgram: () => runsProgram(address),
    });
    configured = { run, ownership };
    const response = new messages.ConfigureResponse();
    response.setAcceptsecrets(true);
    response.setAcceptresources(true);
    response.setAcceptoutputs(false);
    response.setSupportspreview(true);
    return response;
  };

  const getSchema = () => {
    const response = new messages.GetSchemaResponse();
    response.setSchema(JSON.stringify(packageSchema()));
    return response;
  };

  const getPluginInfo = () => {
    const info = new pluginMessages.PluginInfo();
    info.setVersion(packageVersion());
    return info;
  };

  const methods = {
    handshake: unary(handshake),
    getSchema: unary(getSchema),
    checkConfig: unary(checkConfig),
    diffConfig: unary(diffConfig),
    configure: unary(configure),
    check: unary(resource.check),
    diff: unary(resource.diff),
    create: unary(resource.create),
    read: unary(resource.read),
    update: unary(resource.update),
    delete: unary(resource.delete),
    invoke: unary(resource.invoke),
    getPluginInfo: unary(getPluginInfo),
    cancel: unary(() => {
      stop();
      return new Empty();
    }),
  };
  return { methods, stop };
};

export interface PluginServer {
  /** The port, reachable only from this machine. */
  readonly port: number;
  /** Ends all waits immediately and prevents further calls. */
  readonly cancel: () => void;
  close(): void;
}

/** Serves Pulumi's provider protocol on a free port on this machine. @throws if there is none */
export const servePlugin = async (): Promise<PluginServer> => {
  const { methods, stop } = providerMethods();
  const server = new grpc.Server({ "grpc.max_receive_message_length": -1 });
  const service: Grpc.UntypedServiceImplementation = methods;
  server.addService(providerServices.ResourceProviderService, service);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return { port, cancel: stop, close: () => server.forceShutdown() };
};
