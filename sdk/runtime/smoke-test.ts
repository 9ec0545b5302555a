import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { objectTitle } from "../../provider/definition/kinds.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import { systemClock } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { type JsonObject, withoutUndefined } from "../../provider/kernel/json.js";
import { servicePaces } from "../../provider/pacing/pacer.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import {
  namedOnSide,
  rolesOnSide,
  type SenderKind,
  senderKinds,
} from "../../provider/resources/message-types.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import type { Settings } from "../../provider/service/settings.js";
import { type ConnectionSettings, type RunningEmulator, runtimeSettings } from "./connect.js";
import { type CallOptions, callOptions, checkedOptions } from "./input-schemas.js";
import { messagesOf } from "./messages.js";

/** Options for a smoke test. */
export interface SmokeTestOptions extends CallOptions {
  /** Settings for the connection, or a running emulator, as for `connect`. */
  readonly settings?: ConnectionSettings | RunningEmulator;
  /**
   * Who sends the message. A customer's message goes to the bots, or to the agents if there are no
   * bots; any other message goes to the customer. Default: `customer`.
   */
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
 * First reads the objects that the message passes: account, channel, orchestration, and the
 * recipients' participants, client applications, and authentications. If one is missing, nothing is
 * sent.
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
  const given = checkedOptions("run the smoke test", rules, options);
  const settings = runtimeSettings(given.settings);
  const { signal } = given;
  const paces = servicePaces(settings, { clock: systemClock, environment: process.env });
  const connection = withoutUndefined({ pace: paces.pace(settings), signal });
  const service = connectService(settings, connection);
  try {
    const chain = new Chain(service, settings);
    const route = await readRoute(accountId, given.sender ?? "customer", chain);
    return await sendMessage(route, given, chain);
  } finally {
    await service.close();
    await paces.close();
  }
};

/** An object that the message passes, its fields as a program gives them. */
interface ChainObject {
  readonly definition: Definition;
  /** `account "kiosk" (ID 6f2a…)` */
  readonly label: string;
  readonly fields: JsonObject;
}

/** The objects that a message passes, read one at a time, and what is known about them so far. */
class Chain {
  /** Links that work. */
  readonly working: string[] = [];
  /** Possible problems, shown only if the test fails. */
  readonly doubts: string[] = [];

  constructor(
    readonly service: Service,
    readonly settings: Settings,
  ) {}

  /**
   * The error for a failed test.
   *
   * @param link the kind of the faulty object, or `sign-in`, `message`, `end of the conversation`
   * @param what the problem and what to do, in complete sentences
   */
  brokenAt(link: string, what: string, cause?: ConversationError): ConversationError {
    const { doubts, working } = this;
    const others = doubts.length > 0 ? ` Other possible causes: ${doubts.join("; ")}.` : "";
    const sound = working.length > 0 ? ` These links work: ${working.join(", ")}.` : "";
    return new ConversationError(
      cause?.code ?? "REJECTED",
      `The smoke test failed: the chain is broken at the ${link}: ${what}${others}${sound}`,
      cause?.details ?? {},
      cause?.effect ?? "none",
      cause ? { cause } : {},
    );
  }

  /** Runs one step; a failure of the service names the link. */
  async step<T>(
    link: string,
    work: Promise<T>,
    explain: (error: ConversationError) => string = ({ message }) => message,
  ): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!isConversationError(error)) throw error;
      throw this.brokenAt(link, explain(error), error);
    }
  }

  /**
   * Reads an object that a message needs.
   *
   * @param by what refers to it
   * @throws ConversationError that names the link if the object is missing or cannot be read
   */
  async read(definition: Definition, id: string, by?: string): Promise<ChainObject> {
    const { noun } = definition;
    const wire = await this.step(noun, this.service.read(definition, id));
    if (!wire) {
      const what = by
        ? `${by} refers to ${noun} ${id}, which does not exist`
        : `there is no ${noun} with the ID ${id}`;
      throw this.brokenAt(
        noun,
        `${what}. Nothing was sent. In the stack that manages the object, run \`pulumi refresh\`, then \`pulumi up\` to create it again.`,
      );
    }
    const fields = fieldsFromWire(definition.fields, wire, this.settings);
    const label = `${objectTitle(definition, fields)} (ID ${id})`;
    this.working.push(label);
    if (fields.active === false) this.doubts.push(`${label} is not active`);
    return { definition, label, fields };
  }

  /**
   * Reads an object whose absence breaks the chain. Lack of permission to read it does not.
   *
   * @returns undefined if permission to read the object is missing
   */
  async readIfAllowed(
    definition: Definition,
    id: string,
    by: string,
  ): Promise<ChainObject | undefined> {
    try {
      return await this.read(definition, id, by);
    } catch (error) {
      if (!isConversationError(error, "FORBIDDEN")) throw error;
      this.doubts.push(`these credentials lack permission to read ${definition.noun} ${id}`);
      return undefined;
    }
  }

  /** Returns the members of an object that the test needs. @throws ConversationError */
  membersOf<T>({ definition, label, fields }: ChainObject, schema: z.ZodType<T>): T {
    const { data, error } = schema.safeParse(fields);
    if (!error) return data;
    const place = error.issues[0]?.path.join(".");
    throw this.brokenAt(
      definition.noun,
      `${label} has no usable ${place}. Nothing was sent. Set it in the program, then run \`pulumi refresh\` and \`pulumi up\`.`,
    );
  }
}

const accountMembers = z.object({
  address: z.string(),
  channel: z.string(),
  chatConfigurations: z.object({
    orchestration: z.string(),
    entryPoint: z.string().optional(),
  }),
});

const channelMembers = z.object({ type: z.string() });

const orchestrationMembers = z.object({
  applications: z.object({
    botConfiguration: z
      .object({ bots: z.array(z.object({ application: z.string(), participant: z.string() })) })
      .optional(),
    agentConfiguration: z.object({ agents: z.array(z.string()) }).optional(),
    customerConfiguration: z.object({ customer: z.string() }).optional(),
  }),
});

const applicationMembers = z.object({
  roles: z.array(z.object({ name: z.string(), authentication: z.string().optional() })).default([]),
});

const participantMembers = z.object({ type: z.string(), application: z.string().optional() });

/** How to address a message. */
interface Route {
  readonly channelType: string;
  readonly address: string;
  readonly entryPoint?: string | undefined;
}

/** Signs in, then reads what a message passes, with one call per object. @throws ConversationError */
const readRoute = async (accountId: string, sender: SenderKind, chain: Chain): Promise<Route> => {
  await chain.step("sign-in", chain.service.token());
  chain.working.push("sign-in");
  const found = await chain.read(account, accountId);
  const members = chain.membersOf(found, accountMembers);
  const { type } = chain.membersOf(
    await chain.read(channel, members.channel, found.label),
    channelMembers,
  );
  const { orchestration: flowId, entryPoint } = members.chatConfigurations;
  const flow = await chain.readIfAllowed(orchestration, flowId, found.label);
  if (flow) await checkRecipients(sender, flow, chain);
  return { channelType: type, address: members.address, entryPoint };
};

/**
 * Reads the recipients of a message (specification §6; contract of the orchestration): a customer's
 * goes to the bots, or to the agents if there are none; every other one goes to the customer.
 */
const checkRecipients = async (
  sender: SenderKind,
  flow: ChainObject,
  chain: Chain,
): Promise<void> => {
  const { applications } = chain.membersOf(flow, orchestrationMembers);
  const sides = sender === "customer" ? (["bot", "agent"] as const) : (["customer"] as const);
  for (const side of sides) {
    const recipients = namedOnSide(applications, side);
    for (const { application, participant: bot } of recipients) {
      const roles =
        bot === undefined ? rolesOnSide[side] : await readBotRoles(bot, application, flow, chain);
      await checkRole(application, roles, flow, chain);
    }
    if (recipients.length > 0) return;
  }
  const missing =
    sender === "customer" ? "neither a bot nor an agent" : "no client application for a customer";
  throw chain.brokenAt(
    flow.definition.noun,
    `${flow.label} specifies ${missing}, so no one would receive the message from a ${sender}. Nothing was sent. Add one to the orchestration's applications.`,
  );
};

/** A bot receives messages in the role given by its participant's type. */
const readBotRoles = async (
  id: string,
  application: string,
  flow: ChainObject,
  chain: Chain,
): Promise<readonly string[]> => {
  const bot = await chain.readIfAllowed(participant, id, flow.label);
  if (!bot) return rolesOnSide.bot;
  const { type, application: own = application } = chain.membersOf(bot, participantMembers);
  if (own !== application)
    chain.doubts.push(
      `${bot.label} belongs to ${clientApplication.noun} ${own}, but the orchestration specifies ${application} for it`,
    );
  return [type];
};

/** Reads the client application that receives the message, and the authentication of its role. */
const checkRole = async (
  id: string,
  roles: readonly string[],
  flow: ChainObject,
  chain: Chain,
): Promise<void> => {
  const found = await chain.readIfAllowed(clientApplication, id, flow.label);
  if (!found) return;
  const held = chain.membersOf(found, applicationMembers).roles;
  const role = held.find(({ name }) => roles.includes(name));
  if (!role)
    throw chain.brokenAt(
      clientApplication.noun,
      `${flow.label} sends the message to ${found.label}, which has no ${roles.join(" or ")} role. Nothing was sent. Add the role with its callback, or specify another client application in the orchestration.`,
    );
  if (role.authentication !== undefined)
    await chain.readIfAllowed(
      authentication,
      role.authentication,
      `${found.label}, role ${role.name}`,
    );
};

const effects = {
  none: "",
  unknown: " It is unknown whether the message was sent.",
  done: " The message was sent.",
} as const;

/** Starts a conversation with one text, which every sender may send (specification §6), and ends it. */
const sendMessage = async (
  { channelType, address, entryPoint }: Route,
  options: SmokeTestOptions,
  chain: Chain,
): Promise<SmokeTestMessage> => {
  const { sender = "customer", customer = "Smoke test", signal } = options;
  const { text = "Smoke test of this account. Please ignore." } = options;
  const messages = messagesOf(chain.service.request, chain.settings.platformName);
  const messageId = `smoke-test-${randomUUID()}`;
  const callOptions = withoutUndefined({ signal });
  const start = {
    type: "text",
    messageId,
    text,
    sender: sender === "customer" ? { kind: sender, name: customer } : sender,
    conversation: withoutUndefined({
      account: { channel: channelType, address },
      customer: { name: customer },
      entryPoint,
    }),
  } as const;
  const to = `a text message from a ${sender} to ${JSON.stringify(address)} on ${JSON.stringify(channelType)}`;
  const { conversationId } = await chain.step(
    "message",
    messages.start(start, callOptions),
    ({ message, effect }) => `sending ${to} failed. ${message}${effects[effect]}`,
  );
  chain.working.push(`message ${messageId} (conversation ${conversationId})`);
  // Refused: it is already over.
  const end = messages.end(conversationId, sender, {}, callOptions).catch((error: unknown) => {
    if (!isConversationError(error, "REJECTED", "NOT_FOUND")) throw error;
  });
  await chain.step("end of the conversation", end);
  return { conversationId, messageId };
};
