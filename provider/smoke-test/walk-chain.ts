import { z } from "zod";
import type { Definition } from "../definition/define.js";
import { objectTitle } from "../definition/fields.js";
import { fieldsFromWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import type { EngineSession } from "../lifecycle/run.js";
import { account } from "../resources/account.js";
import { authentication } from "../resources/authentication.js";
import { channel } from "../resources/channel.js";
import { clientApplication } from "../resources/client-application.js";
import { orchestration } from "../resources/orchestration.js";
import { participant } from "../resources/participant.js";
import { namedOnSide, rolesOnSide } from "../service/message-types.js";
import type { SmokeTestInputs } from "./smoke-test-inputs.js";

/** Where the service delivers the message, and how it authenticates there. */
export interface Callback {
  readonly url: string;
  /** The recipient, such as `client application "bot" (ID …), role custom_bot`. */
  readonly role: string;
  /** The authentication for the callback. Absent if the service sends no Authorization header. */
  readonly authentication?: string;
}

/** What is needed to send a message, and where the message will go. */
export interface Chain {
  readonly channelType: string;
  readonly address: string;
  readonly entryPoint?: string;
  readonly callbacks: readonly Callback[];
}

const accountFields = z.object({
  address: z.string(),
  channel: z.string(),
  chatConfigurations: z
    .object({ orchestration: z.string().optional(), entryPoint: z.string().optional() })
    .optional(),
});

const roleFields = z.object({
  name: z.string(),
  callback: z.string(),
  authentication: z.string().optional(),
});

const signIn = async ({ session, findings }: ChainReader): Promise<void> => {
  try {
    await session.service.token();
    findings.sound.push("sign-in");
  } catch (error) {
    if (!isConversationError(error)) throw error;
    throw brokenLink("sign-in", error.message, findings, error);
  }
};

const lacking = (object: ChainObject, member: string, { findings }: ChainReader): Error => {
  const what = `${object.label} has no ${member}. Nothing was sent. Set it in the program, then run \`pulumi up\`.`;
  return brokenLink(object.definition.noun, what, findings);
};

/** The role of a client application that receives the message, and the authentication it names. */
const callbackOf = async (
  { application, roles }: MessageRecipient,
  flow: ChainObject,
  reader: ChainReader,
): Promise<readonly Callback[]> => {
  const found = await reader.wanted(clientApplication, application, flow);
  if (!found) return [];
  const held = z.array(roleFields).catch([]).parse(found.fields.roles);
  const role = held.find(({ name }) => roles.includes(name));
  if (!role) throw withoutRole(found, roles, flow, reader);
  const label = `${found.label}, role ${role.name}`;
  const callback = { url: role.callback, role: label };
  if (role.authentication === undefined) return [callback];
  const how = await reader.wanted(authentication, role.authentication, { label });
  return [{ ...callback, authentication: how?.label ?? `authentication ${role.authentication}` }];
};

const withoutRole = (
  found: ChainObject,
  roles: readonly string[],
  flow: ChainObject,
  { findings }: ChainReader,
): Error => {
  const what = `${flow.label} sends the message to ${found.label}, which has no ${roles.join(" or ")} role. Nothing was sent. Add the role with its callback, or specify another client application in the orchestration.`;
  return brokenLink(found.definition.noun, what, findings);
};

/**
 * Signs in, then reads the setup objects that a message passes through, in order: account, channel,
 * orchestration, then the recipients' participants, client applications, and authentications. Makes
 * one call per object.
 *
 * @throws ConversationError that names the first broken link
 */
export const walkChain = async (test: SmokeTestInputs, reader: ChainReader): Promise<Chain> => {
  await signIn(reader);
  const found = await reader.needed(account, test.account);
  const parsed = accountFields.safeParse(found.fields);
  if (!parsed.success) throw lacking(found, String(parsed.error.issues[0]?.path.join(".")), reader);
  const { address, channel: channelId, chatConfigurations: how } = parsed.data;
  const { fields } = await reader.needed(channel, channelId, found);
  if (how?.orchestration === undefined) throw lacking(found, "orchestration", reader);
  const flow = await reader.wanted(orchestration, how.orchestration, found);
  const callbacks: Callback[] = [];
  if (flow)
    for (const recipient of await recipientsOf(test.sender, flow, reader))
      callbacks.push(...(await callbackOf(recipient, flow, reader)));
  return {
    address,
    channelType: String(fields.type),
    ...(how.entryPoint === undefined ? {} : { entryPoint: how.entryPoint }),
    callbacks,
  };
};

/** A client application that a message may go to, and the roles in which it can receive it. */
interface MessageRecipient {
  readonly application: string;
  readonly roles: readonly string[];
}

const applications = z.object({
  botConfiguration: z
    .object({ bots: z.array(z.object({ application: z.string(), participant: z.string() })) })
    .optional(),
  agentConfiguration: z.object({ agents: z.array(z.string()) }).optional(),
  customerConfiguration: z.object({ customer: z.string() }).optional(),
});

type Applications = z.output<typeof applications>;

const readApplications = (flow: ChainObject, { findings }: ChainReader): Applications => {
  const parsed = applications.safeParse(flow.fields.applications);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = ["applications", ...(issue?.path ?? [])].join(".");
  const what = `${flow.label} has an unexpected value at ${place}. Nothing was sent. Compare it with the program, and run \`pulumi refresh\`.`;
  throw brokenLink(flow.definition.noun, what, findings);
};

/** A bot receives messages in the role given by its participant's type. */
const botRecipient = async (
  application: string,
  participantId: string,
  flow: ChainObject,
  reader: ChainReader,
): Promise<MessageRecipient> => {
  const bot = await reader.wanted(participant, participantId, flow);
  const { type, application: own } = bot?.fields ?? {};
  if (bot && own !== undefined && own !== application)
    reader.findings.doubts.push(
      `${bot.label} belongs to ${clientApplication.noun} ${String(own)}, but the orchestration specifies ${application} for it`,
    );
  return { application, roles: typeof type === "string" ? [type] : rolesOnSide.bot };
};

/**
 * The recipients of a message (specification §6; contract of the orchestration): a customer's goes
 * to the bots, or to the agents if there are none; every other one goes to the customer.
 *
 * @throws ConversationError that names the link if there is no recipient, or a bot does not exist
 */
const recipientsOf = async (
  sender: string,
  flow: ChainObject,
  reader: ChainReader,
): Promise<readonly MessageRecipient[]> => {
  const named = readApplications(flow, reader);
  const isCustomer = sender === "customer";
  const recipients: MessageRecipient[] = [];
  for (const bot of isCustomer ? namedOnSide(named, "bot").flat() : [])
    recipients.push(await botRecipient(bot.application, bot.participant ?? "", flow, reader));
  if (recipients.length > 0) return recipients;
  const side = isCustomer ? "agent" : "customer";
  const others = namedOnSide(named, side).flat();
  if (others.length > 0)
    return others.map(({ application }) => ({ application, roles: rolesOnSide[side] }));
  const missing = isCustomer
    ? "neither a bot nor an agent"
    : "no client application for a customer";
  const what = `${flow.label} specifies ${missing}, so no one would receive the message from a ${sender}. Nothing was sent. Add one to the orchestration's applications.`;
  throw brokenLink(flow.definition.noun, what, reader.findings);
};

/** An object of the chain, its fields as a program gives them. */
interface ChainObject {
  readonly definition: Definition;
  readonly id: string;
  /** `account "kiosk" (ID 6f2a…)` */
  readonly label: string;
  readonly fields: JsonObject;
}

/** The object that refers to another one, for messages: `orchestration "flow" (ID …)`. */
type Referrer = Pick<ChainObject, "label">;

/** Reads the objects in the chain one at a time, by ID. */
export class ChainReader {
  constructor(
    readonly session: EngineSession,
    readonly findings: ChainFindings,
  ) {}

  /**
   * Reads an object that a message needs.
   *
   * @throws ConversationError that names the link if the object is missing or cannot be read
   */
  async needed(definition: Definition, id: string, by?: Referrer): Promise<ChainObject> {
    const { service, settings } = this.session;
    const wire = await service.read(definition, id).catch((error: unknown) => {
      if (!isConversationError(error)) throw error;
      throw brokenLink(definition.noun, error.message, this.findings, error);
    });
    if (!wire) throw this.#missing(definition, id, by);
    const fields = fieldsFromWire(definition.fields, wire, settings);
    const label = `${objectTitle(definition, fields)} (ID ${id})`;
    this.findings.sound.push(label);
    if (fields.active === false) this.findings.doubts.push(`${label} is not active`);
    return { definition, id, label, fields };
  }

  /**
   * Reads an object whose absence breaks the chain. Lack of permission to read it does not.
   *
   * @returns undefined if permission to read the object is missing
   */
  async wanted(definition: Definition, id: string, by: Referrer): Promise<ChainObject | undefined> {
    try {
      return await this.needed(definition, id, by);
    } catch (error) {
      if (!isConversationError(error, "FORBIDDEN")) throw error;
      this.findings.doubts.push(
        `these credentials lack permission to read ${definition.noun} ${id}`,
      );
      return undefined;
    }
  }

  #missing(definition: Definition, id: string, by: Referrer | undefined): Error {
    const { noun } = definition;
    const what = by
      ? `${by.label} refers to ${noun} ${id}, which does not exist`
      : `there is no ${noun} with the ID ${id}`;
    const next =
      "Nothing was sent. In the stack that manages the object, run `pulumi refresh`, then `pulumi up` to create it again.";
    return brokenLink(definition.noun, `${what}. ${next}`, this.findings);
  }
}

/** The findings about a chain, up to the first broken link. */
export interface ChainFindings {
  /** Working links, with kind, name, and ID. */
  readonly sound: string[];
  /** Possible problems, shown only if the test fails. */
  readonly doubts: string[];
}

export const noChainFindings = (): ChainFindings => ({ sound: [], doubts: [] });

const soundText = ({ sound }: ChainFindings): string =>
  sound.length > 0 ? ` These links work: ${sound.join(", ")}.` : "";

const doubtText = ({ doubts }: ChainFindings): string =>
  doubts.length > 0 ? ` Other possible causes: ${doubts.join("; ")}.` : "";

/**
 * The error for a failed test.
 *
 * @param link the kind of the faulty object, or `sign-in`, `message`, `delivery`, `callback
 * address`, `probe`
 * @param what the problem and what to do, in complete sentences
 */
export const brokenLink = (
  link: string,
  what: string,
  findings: ChainFindings,
  cause?: unknown,
): ConversationError => {
  const known = isConversationError(cause) ? cause : undefined;
  return new ConversationError(
    known?.code ?? "REJECTED",
    `the chain is broken at the ${link}: ${what}${doubtText(findings)}${soundText(findings)}`,
    known?.details ?? {},
    known?.effect ?? "none",
    known ? { cause: known } : {},
  );
};
