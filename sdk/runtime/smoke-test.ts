import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { referencesIn } from "../../provider/definition/fields.js";
import { objectTitle } from "../../provider/definition/kinds.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import { systemClock } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { type JsonObject, textAt, withoutUndefined } from "../../provider/kernel/json.js";
import { servicePaces } from "../../provider/pacing/pacer.js";
import { account } from "../../provider/resources/account.js";
import { type SenderKind, senderKinds } from "../../provider/resources/message-types.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import type { Settings } from "../../provider/service/settings.js";
import { type ConnectionSettings, type RunningEmulator, readRuntimeSettings } from "./connect.js";
import { type CallOptions, callOptions, checkOptions } from "./input-schemas.js";
import { createMessages } from "./messages.js";

/** Options for a smoke test. */
export interface SmokeTestOptions extends CallOptions {
  /** Settings for the connection, or a running emulator, as for `connect`. */
  readonly settings?: ConnectionSettings | RunningEmulator;
  /** Who sends the message. Default: `customer`. */
  readonly sender?: SenderKind;
  /** The text of the message. Default: text that identifies it as a test. */
  readonly text?: string;
  /** The customer's name in the conversation. Default: `Smoke test`. */
  readonly customer?: string;
}

/** The message that a smoke test sent. */
export interface SmokeTestMessage {
  /** ID of the conversation, which has ended. */
  readonly conversationId: string;
  /** The test's own ID for the message. */
  readonly messageId: string;
}

const someText = z.string("must be a string").min(1, "must not be empty").optional();
const rules = callOptions.extend({
  sender: z.enum(senderKinds, `must be one of: ${senderKinds.join(", ")}`).optional(),
  text: someText,
  customer: someText,
});

/**
 * Sends one message through an account, within the plan's rates, and then ends its conversation.
 * First reads the account and every object that it refers to, directly or not. If one is missing,
 * nothing is sent. Objects that the credentials may not read are skipped.
 *
 * @param accountId ID of the account
 * @throws ConversationError that names the broken link, and the links that work
 *
 * @example
 * const { conversationId } = await smokeTest("1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10");
 */
export const smokeTest = async (
  accountId: string,
  options: SmokeTestOptions = {},
): Promise<SmokeTestMessage> => {
  const given = checkOptions("run the smoke test", rules, options);
  const settings = readRuntimeSettings(given.settings);
  const { signal } = given;
  const paces = servicePaces(settings, { clock: systemClock, environment: process.env });
  const connection = withoutUndefined({ pace: paces.pace(settings), signal });
  const service = connectService(settings, connection);
  try {
    const chain = new Chain(service, settings);
    await chain.step("sign-in", "sign-in", service.token());
    await chain.readAll(accountId);
    return await sendMessage(chain, given);
  } finally {
    await service.close();
    await paces.close();
  }
};

/** An object to read. */
interface Link {
  readonly definition: Definition;
  readonly id: string;
  /** What refers to it. */
  readonly by?: string;
}

/** What a message needs, read one object at a time, and which of its links work. */
class Chain {
  readonly #working: string[] = [];
  readonly #fields = new Map<string, JsonObject>();

  constructor(
    readonly service: Service,
    readonly settings: Settings,
  ) {}

  /** Runs one step; a failure of the service names the link. */
  async step<T>(link: string, sound: string, work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      this.#working.push(sound);
      return result;
    } catch (error) {
      throw isConversationError(error) ? this.#brokenAt(link, error.message, error) : error;
    }
  }

  /** Reads an account, and what it refers to. @throws ConversationError that names a missing object */
  async readAll(accountId: string): Promise<void> {
    const open: Link[] = [{ definition: account, id: accountId }];
    for (let link = open.shift(); link; link = open.shift()) {
      if (this.#fields.has(link.id)) continue;
      const fields = await this.#read(link);
      this.#fields.set(link.id, fields);
      const by = `${objectTitle(link.definition, fields)} (ID ${link.id})`;
      for (const { to: definition, id } of referencesIn(link.definition.fields, fields))
        if (typeof id === "string") open.push({ definition, id, by });
    }
  }

  /** How a message names the account. @throws ConversationError if the account does not say it */
  findRoute() {
    const [given = {}] = this.#fields.values();
    const channel = this.#fields.get(textAt(given, "channel") ?? "");
    const [address, type] = [textAt(given, "address"), textAt(channel, "type")];
    if (address === undefined || type === undefined) {
      const what = "its address, or its channel's type, cannot be read. Nothing was sent.";
      throw this.#brokenAt(account.noun, what);
    }
    const entryPoint = textAt(given, "chatConfigurations", "entryPoint");
    return withoutUndefined({ account: { channel: type, address }, entryPoint });
  }

  /** The fields of an object; none if the credentials may not read it. */
  async #read({ definition, id, by }: Link): Promise<JsonObject> {
    const { noun } = definition;
    const wire = await this.service.read(definition, id).catch((error: unknown) => {
      const isSkipped = by !== undefined && isConversationError(error, "FORBIDDEN");
      if (isSkipped) return "unreadable" as const;
      throw isConversationError(error) ? this.#brokenAt(noun, error.message, error) : error;
    });
    if (wire === "unreadable") return {};
    if (wire) {
      const fields = fieldsFromWire(definition.fields, wire, this.settings);
      this.#working.push(`${objectTitle(definition, fields)} (ID ${id})`);
      return fields;
    }
    const what = by
      ? `${by} refers to ${noun} ${id}, which does not exist`
      : `there is no ${noun} with the ID ${id}`;
    throw this.#brokenAt(
      noun,
      `${what}. Nothing was sent. In the stack that manages the object, run \`pulumi refresh\`, then \`pulumi up\` to create it again.`,
    );
  }

  #brokenAt(link: string, what: string, cause?: ConversationError): ConversationError {
    const sound = this.#working.length > 0 ? ` These links work: ${this.#working.join(", ")}.` : "";
    return new ConversationError(
      cause?.code ?? "REJECTED",
      `The smoke test failed: the chain is broken at the ${link}: ${what}${sound}`,
      cause?.details ?? {},
      cause?.effect ?? "none",
      cause ? { cause } : {},
    );
  }
}

/** Starts a conversation with one text, which every sender may send (specification §6), and ends it. */
const sendMessage = async (chain: Chain, options: SmokeTestOptions): Promise<SmokeTestMessage> => {
  const { sender = "customer", customer = "Smoke test", signal } = options;
  const { text = "Smoke test of this account. Please ignore." } = options;
  const messages = createMessages(chain.service.request, chain.settings.platformName);
  const messageId = `smoke-test-${randomUUID()}`;
  const callOptions = withoutUndefined({ signal });
  const start = {
    type: "text",
    messageId,
    text,
    sender: sender === "customer" ? { kind: sender, name: customer } : sender,
    conversation: { ...chain.findRoute(), customer: { name: customer } },
  } as const;
  const started = messages.start(start, callOptions);
  const { conversationId } = await chain.step("message", `message ${messageId}`, started);
  // Refused: it is already over.
  const end = messages.end(conversationId, sender, {}, callOptions).catch((error: unknown) => {
    if (!isConversationError(error, "REJECTED", "NOT_FOUND")) throw error;
  });
  await chain.step("end of the conversation", "end", end);
  return { conversationId, messageId };
};
