import type { EmulatorOptions } from "../../../emulator/index.js";
import {
  type CallbackOptions,
  type Callbacks,
  type ConversationClient,
  callbacks,
  connect,
} from "../../../sdk/runtime/index.js";
import { kindOf, type Running, running } from "../../emulator/running.js";
import { JumpingClock } from "../../service/support/clocks.js";
import { served } from "./callback-calls.js";

const username = "hub";
const password = "secret";

/** What one side of the conversation does with its messages. */
type Side = Pick<CallbackOptions, "onMessage"> & Partial<CallbackOptions>;

export interface DeclaredAccount extends AsyncDisposable {
  readonly service: Running;
  readonly client: ConversationClient;
  /** When every side has worked on everything it got so far. */
  idle(): Promise<void>;
}

/** The emulator with an account whose customer, bot and agent are handlers of the runtime client. */
export const declaredAccount = async (
  sides: Readonly<Record<"customer" | "bot" | "agent", (client: ConversationClient) => Side>>,
  version: "v1" | "v3" = "v3",
  options: EmulatorOptions = {},
): Promise<DeclaredAccount> => {
  const service = await running(options);
  const { baseUrl, tokenUrl, clientId, clientSecret } = service.emulator;
  const client = connect(
    { baseUrl, tokenUrl, clientId, clientSecret },
    { pacing: "after-refusal", environment: {}, clock: new JumpingClock() },
  );
  const handlers: Callbacks[] = [];
  const servers: AsyncDisposable[] = [];
  const authentication = await service.make(kindOf("Authentication"), {
    type: "basic",
    basicAuth: { username, password },
    oauth2: undefined,
  });
  const application = async (name: string, side: Side): Promise<string> => {
    const handler = callbacks({ authenticate: { basic: { username, password } }, ...side });
    const server = await served(handler.node);
    handlers.push(handler);
    servers.push(server);
    const role = { name, version, callback: server.url, notificationEmail: "ops@example.com" };
    const roles = [{ ...role, authentication: { id: authentication } }];
    return service.make(kindOf("ClientApplication"), { roles });
  };
  const customer = { id: await application("customer", sides.customer(client)) };
  const bot = { id: await application("custom_bot", sides.bot(client)) };
  const agent = { id: await application("custom_agent", sides.agent(client)) };
  const participant = {
    id: await service.make(kindOf("Participant"), { application: bot, name: "orders" }),
  };
  const bots = [{ ...bot, participant, onEscalation: { agent } }];
  const channel = await service.make(kindOf("Channel"), { type: "custom.kiosk" });
  const orchestration = await service.make(kindOf("Orchestration"), {
    applications: { botConfiguration: { bots }, customerConfiguration: { customer } },
  });
  await service.make(kindOf("Account"), {
    address: "kiosk-1",
    channel: { id: channel },
    chatConfigurations: { orchestration: { id: orchestration } },
  });
  return {
    service,
    client,
    idle: async () => {
      await Promise.all(handlers.map((handler) => handler.idle()));
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
};
