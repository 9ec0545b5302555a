import type * as Grpc from "@grpc/grpc-js";
import type * as EngineServices from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import type * as EngineMessages from "@pulumi/pulumi/proto/engine_pb.js";
import { inertOutput } from "../kernel/text.js";
import { loadWithSdk } from "./sdk-module.js";

/**
 * How to show a message: `passing` shows it until the next one replaces it; otherwise, the message
 * remains in the diagnostics.
 */
export type Showing = "passing" | "info" | "warning";

/** Shows a message in a resource's row, or in the stack's row if no resource is known. */
export type StatusLine = (message: string, urn?: string, showing?: Showing) => void;

interface Line {
  readonly message: string;
  readonly urn: string | undefined;
  readonly showing: Showing;
}

/** Sends a message to the engine; resolves when the engine has responded, even with a failure. */
type Send = (line: Line) => Promise<void>;

/**
 * Returns the engine's address, the last argument of a provider process; undefined if there is
 * none.
 */
export const engineAddress = (): string | undefined => process.argv.slice(2).at(-1);

const connectTo = (address: string) => {
  const grpc: typeof Grpc = loadWithSdk("@grpc/grpc-js");
  const services: typeof EngineServices = loadWithSdk("./proto/engine_grpc_pb.js");
  const messages: typeof EngineMessages = loadWithSdk("./proto/engine_pb.js");
  // Never by way of a proxy that the environment names for the service.
  const direct = { "grpc.enable_http_proxy": 0 };
  const engine = new services.EngineClient(address, grpc.credentials.createInsecure(), direct);
  return { engine, messages, metadata: new grpc.Metadata() };
};

/** The engine answers from its memory. */
const engineMs = 10_000;

/**
 * Whether the engine runs a program: it then knows the stack's root resource, which Pulumi's SDK
 * for Node.js registers (3.270, 3.276). It knows none in `destroy` and `refresh`.
 */
export const runsProgram = async (address: string | undefined): Promise<boolean> => {
  if (address === undefined) return false;
  const { engine, messages, metadata } = connectTo(address);
  return new Promise((resolve) =>
    engine.getRootResource(
      new messages.GetRootResourceRequest(),
      metadata,
      { deadline: Date.now() + engineMs },
      (_, response) => {
        engine.close();
        resolve(Boolean(response?.getUrn()));
      },
    ),
  );
};

const logTo = (address: string): Send => {
  const { engine, messages } = connectTo(address);
  const { WARNING, INFO } = messages.LogSeverity;
  return ({ message, urn, showing }) =>
    new Promise((resolve) => {
      const request = new messages.LogRequest();
      request.setSeverity(showing === "warning" ? WARNING : INFO);
      request.setMessage(message);
      request.setEphemeral(showing === "passing");
      if (urn) request.setUrn(urn);
      engine.log(request, () => resolve());
    });
};

/**
 * Returns a function that shows messages through the engine that runs this process, one after the
 * other, because the engine takes concurrent calls in any order. Does nothing if the engine cannot
 * be reached.
 *
 * @param address called for the first line
 */
export const engineStatusLine = (address: () => string | undefined): StatusLine => {
  let send: Send | undefined;
  let last = Promise.resolve();
  return (message, urn, showing = "passing") => {
    const line = { message: inertOutput(message, false), urn, showing };
    last = last
      .then(async () => {
        const at = address();
        send ??= at === undefined ? undefined : logTo(at);
        await send?.(line);
      })
      // A line that cannot be shown must not disturb the run.
      .catch(() => undefined);
  };
};
