import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { grpc } from "../../provider/plugin/protocol.js";
import { EngineClient } from "./engine-client.js";

export type Properties = Record<string, unknown>;

interface Options {
  /** Stack configuration, as the engine sends it. */
  readonly config?: Properties;
  readonly environment?: Readonly<Record<string, string>>;
}

const root = join(__dirname, "..", "..");
const script = createRequire(join(root, "package.json")).resolve(
  "@pulumi/pulumi/cmd/dynamic-provider",
);

/** The SDK's own dynamic-provider process, with this repository as the program's folder. */
export type ProviderServer = Awaited<ReturnType<typeof startProviderServer>>;

export const startProviderServer = async ({ config = {}, environment = {} }: Options = {}) => {
  // An engine that knows no calls; without one, the process ends.
  const engine = new grpc.Server();
  const credentials = grpc.ServerCredentials.createInsecure();
  const enginePort = await new Promise<number>((bound) =>
    engine.bindAsync("127.0.0.1:0", credentials, (_, port) => bound(port)),
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
  const client = new EngineClient(port);
  await client.configure("", config);
  // Such a process is told no URN, and of the state no inputs.
  const held = (outputs: Properties) => ({ inputs: {}, outputs });
  return {
    stderr: () => stderr,
    check: (olds: Properties, news: Properties) => client.check("", olds, news),
    diff: (id: string, olds: Properties, news: Properties) => client.diff("", id, held(olds), news),
    create: (inputs: Properties) => client.create("", inputs),
    read: (id: string, outputs: Properties) => client.read("", id, { outputs }),
    update: (id: string, olds: Properties, news: Properties) =>
      client.update("", id, held(olds), news),
    delete: (id: string, outputs: Properties) => client.delete("", id, outputs),
    stop: () => {
      client.close();
      engine.forceShutdown();
      child.kill("SIGKILL");
    },
  };
};
