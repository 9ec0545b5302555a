import { inertOutput } from "../kernel/inert-text.js";
import { methodOf, propertyOf, sdkModule } from "./sdk-module.js";

/** How a message is shown: in passing it is gone with the next one, else it stays in the diagnostics. */
export type Showing = "passing" | "info" | "warning";

/** Shows a message in the row of a resource, or of the stack where no resource is known. */
export type StatusLine = (message: string, urn?: string, showing?: Showing) => void;

interface Line {
  readonly message: string;
  readonly urn: string | undefined;
  readonly showing: Showing;
}

type Send = (line: Line, onAnswered: () => void) => void;

/**
 * Sends what comes for a row when what came before was taken: the engine takes calls that are under way
 * together in any order, and a row would keep what was to be taken away.
 */
const inOrder = (send: Send): ((line: Line) => void) => {
  const waiting = new Map<string | undefined, readonly Line[]>();
  const sendNow = (line: Line, rest: readonly Line[]): void => {
    waiting.set(line.urn, rest);
    send(line, () => {
      const [next, ...later] = waiting.get(line.urn) ?? [];
      if (next) sendNow(next, later);
      else waiting.delete(line.urn);
    });
  };
  return (line) => {
    const earlier = waiting.get(line.urn);
    if (!earlier) return sendNow(line, []);
    const lasting = earlier.filter(({ showing }) => showing !== "passing");
    waiting.set(line.urn, [...lasting, line]);
  };
};

type Constructor = new (...args: readonly unknown[]) => unknown;

const isConstructor = (value: unknown): value is Constructor => typeof value === "function";

/** The address of the engine is the last argument of a provider process. */
const engineAddress = (): string | undefined => process.argv.slice(2).at(-1);

const severityOf = (messages: unknown, showing: Showing): unknown =>
  propertyOf(propertyOf(messages, "LogSeverity"), showing === "warning" ? "WARNING" : "INFO");

const bufferOf = (bytes: unknown): Buffer =>
  bytes instanceof Uint8Array ? Buffer.from(bytes) : Buffer.alloc(0);

const connect = (): ((line: Line) => void) | undefined => {
  const grpc = sdkModule("@grpc/grpc-js");
  const services = sdkModule("../../proto/engine_grpc_pb.js");
  const messages = sdkModule("../../proto/engine_pb.js");
  const client = propertyOf(services, "EngineClient");
  const request = propertyOf(messages, "LogRequest");
  const address = engineAddress();
  const credentials = methodOf(propertyOf(grpc, "credentials"), "createInsecure")?.call(undefined);
  if (!isConstructor(client) || !isConstructor(request) || !address || !credentials)
    return undefined;
  const engine = new client(address, credentials);
  const serialise = (line: unknown): Buffer =>
    bufferOf(methodOf(line, "serializeBinary")?.call(line));
  return inOrder(({ message, urn, showing }, onAnswered) => {
    const line = new request();
    const set = (name: string, value: unknown): unknown => methodOf(line, name)?.call(line, value);
    set("setSeverity", severityOf(messages, showing));
    set("setMessage", inertOutput(message, false));
    set("setEphemeral", showing === "passing");
    if (urn) set("setUrn", urn);
    // Not by the client's own method: that would read the empty answer with the very function by
    // which the engine's Cancel call is noticed.
    const send = methodOf(engine, "makeUnaryRequest");
    send?.call(engine, logMethod, serialise, ignored, line, onAnswered);
  });
};

const logMethod = "/pulumirpc.Engine/Log";
const ignored = (): undefined => undefined;

/** Status lines through the engine that runs this process; silent where it cannot be reached. */
export const engineStatusLine = (): StatusLine => {
  let send: ReturnType<typeof connect> | null = null;
  return (message, urn, showing = "passing") => {
    try {
      if (send === null) send = connect();
      send?.({ message, urn, showing });
    } catch {
      // A line that cannot be shown must not disturb the run.
    }
  };
};
