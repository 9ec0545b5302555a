import type { Answer } from "../../provider/service/answers.js";
import { type Assets, assetsOf } from "./assets.js";
import { type ConnectionOptions, openConnection } from "./connection.js";
import { contentTransfer } from "./content-transfer.js";
import { type Conversations, conversationsOf } from "./conversations.js";
import { type Messages, messagesOf } from "./messages.js";
import { otherServices, type ServiceCall } from "./other-services.js";
import { type ConnectionSettings, runtimeSettings } from "./runtime-settings.js";
import { addressRuleFor } from "./signed-address.js";

/** A connection to the conversation service of one tenant, to use an account that was set up. */
export interface ConversationClient extends AsyncDisposable {
  readonly messages: Messages;
  readonly conversations: Conversations;
  readonly assets: Assets;
  /**
   * Calls another service of the tenant with the same token, transport, repeats and pacing, by the
   * rates of the specification's §8.3. Every failure is a ConversationError.
   */
  request(call: ServiceCall): Promise<Answer>;
  /** Ends waiting calls with `CANCELLED`, and all connections. */
  close(): Promise<void>;
}

/**
 * Connects to the service. Sends nothing yet: token and connections are had on first use.
 *
 * @param settings what is left out is read from the environment: `CONVERSATION_BASE_URL` and so on
 * @throws ConversationError `SETTINGS_MISSING` or `SETTINGS_INVALID` with everything that is wrong
 */
export const connect = (
  settings: ConnectionSettings = {},
  options: ConnectionOptions = {},
): ConversationClient => {
  const read = runtimeSettings(settings, options.environment);
  const { baseUrl, platformName } = read;
  const connection = openConnection(read, options);
  const request = connection.request(baseUrl, connection.pace({ baseUrl }));
  const transfer = contentTransfer();
  const close = async (): Promise<void> => {
    await connection.close();
    await transfer.close();
  };
  return {
    messages: messagesOf(request, platformName),
    conversations: conversationsOf(request, platformName),
    assets: assetsOf({
      request,
      platformName,
      scopes: connection.scopes,
      transfer,
      rule: addressRuleFor(baseUrl),
      clock: connection.clock,
      closing: connection.signal,
    }),
    request: otherServices(connection),
    close,
    [Symbol.asyncDispose]: close,
  };
};
