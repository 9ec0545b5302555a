import type { Answer } from "../../../provider/service/http/answers.js";
import { type Assets, assetsOf } from "../assets/assets.js";
import { contentTransfer } from "../assets/content-transfer.js";
import { addressRuleFor } from "../assets/signed-address.js";
import { type Conversations, conversationsOf } from "../messages/conversations.js";
import { type Messages, messagesOf } from "../messages/messages.js";
import { observedTransfer } from "./call-observer.js";
import { type ConnectionOptions, connectionOptionsOf, openConnection } from "./connection.js";
import { otherServices, type ServiceCall } from "./other-services.js";
import {
  type ConnectionSettings,
  isEmulator,
  type RunningEmulator,
  runtimeSettings,
} from "./runtime-settings.js";

/** A connection to the conversation service of one tenant, to use an account that was set up. */
export interface ConversationClient extends AsyncDisposable {
  /** Sends messages. */
  readonly messages: Messages;
  /** Reads completed conversations. */
  readonly conversations: Conversations;
  /** Attachments and their content. */
  readonly assets: Assets;
  /**
   * Calls another service of the tenant with the same token, transport, repeats and pacing, by the
   * rates of the specification's §8.3. Every failure is a ConversationError.
   *
   * @example
   * const { body } = await hub.request({
   *   service: "Case Manager", version: "v3", baseUrl: "https://api.example.com/case/v3",
   *   method: "GET", path: "/cases/{id}", params: { id },
   * });
   */
  request(call: ServiceCall): Promise<Answer>;
  /** Ends waiting calls with `CANCELLED`, and all connections. Never fails. */
  close(): Promise<void>;
}

/**
 * Connects to the service. Sends nothing yet: token and connections are had on first use.
 *
 * @param settings what is left out is read from the environment: `CONVERSATION_BASE_URL` and so on;
 * or a running emulator, whose calls go at once unless `pacing` or a `plan` is given
 * @throws ConversationError `SETTINGS_MISSING` or `SETTINGS_INVALID` with everything that is wrong,
 * `INPUT_INVALID` for an option that cannot be used
 *
 * @example
 * const hub = connect();
 * await hub.messages.reply("c-1", { type: "text", text: "Hello", sender: "custom_bot" });
 * await hub.close();
 *
 * @example
 * const hub = connect(await startEmulator());
 */
export const connect = (
  settings: ConnectionSettings | RunningEmulator = {},
  options: ConnectionOptions = {},
): ConversationClient => {
  const checked = connectionOptionsOf(options);
  const read = runtimeSettings(settings, checked.environment);
  const { baseUrl, platformName } = read;
  const isUnlimited = isEmulator(settings) && read.plan === undefined;
  const connection = openConnection(read, {
    ...(isUnlimited ? { pacing: "after-refusal" } : {}),
    ...checked,
  });
  const request = connection.request(baseUrl, connection.pace({ baseUrl }));
  const transfer = observedTransfer(contentTransfer(), connection.observe);
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
