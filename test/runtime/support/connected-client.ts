import {
  type ConnectionOptions,
  type ConnectionSettings,
  type ConversationClient,
  connect,
} from "../../../sdk/runtime/connect.js";
import { JumpingClock } from "../../service/support/clocks.js";
import { FakeHub, type Handler } from "../../service/support/fake-hub.js";

/** A fake service, and the client that a program uses in front of it, without any real wait. */
export class ConnectedClient implements AsyncDisposable {
  constructor(
    readonly hub: FakeHub,
    readonly client: ConversationClient,
    readonly clock: JumpingClock,
  ) {}

  get lastBody(): unknown {
    return JSON.parse(this.hub.calls.at(-1)?.body ?? "null");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.hub[Symbol.asyncDispose]();
  }
}

export const connectedClient = async (
  handle: Handler,
  settings: ConnectionSettings = {},
  options: ConnectionOptions = {},
): Promise<ConnectedClient> => {
  const hub = await FakeHub.start(handle);
  const { baseUrl, tokenUrl, clientId, clientSecret } = hub.settings();
  const clock = new JumpingClock();
  const client = connect(
    { baseUrl, tokenUrl, clientId, clientSecret, ...settings },
    {
      clock,
      pacing: "after-refusal",
      retry: { minTimeoutMs: 0, maxTimeoutMs: 0 },
      environment: {},
      ...options,
    },
  );
  return new ConnectedClient(hub, client, clock);
};
