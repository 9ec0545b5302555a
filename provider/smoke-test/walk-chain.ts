import { z } from "zod";
import { isConversationError } from "../kernel/errors.js";
import { account } from "../resources/account.js";
import { authentication } from "../resources/authentication.js";
import { channel } from "../resources/channel.js";
import { clientApplication } from "../resources/client-application.js";
import { orchestration } from "../resources/orchestration.js";
import { brokenLink } from "./broken-link.js";
import type { ChainObject, ChainReader } from "./chain-reader.js";
import { type MessageRecipient, recipientsOf } from "./recipients.js";
import type { SmokeTestInputs } from "./smoke-test-inputs.js";

/** Where the service delivers the message to, and how it signs in there. */
export interface Callback {
  readonly url: string;
  /** `client application "bot" (id …), role custom_bot` */
  readonly role: string;
  /** Left out: it sends no Authorization header. */
  readonly authentication?: string;
}

/** What a message needs to be sent, and where it will go. */
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

/** The role of a client application that takes the message, and the authentication it names. */
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
  const what = `${flow.label} sends the message to ${found.label}, which has no role ${roles.join(" or ")}. Nothing was sent. Add the role with its callback, or name another client application in the orchestration.`;
  return brokenLink(found.definition.noun, what, findings);
};

/**
 * Reads the set-up objects that a message passes, in their order: sign-in, account, channel,
 * orchestration, then the participants, client applications and authentications of whoever gets
 * it. One call for each object.
 *
 * @throws ConversationError that names the first link that is broken
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
  return {
    address,
    channelType: String(fields.type),
    ...(how.entryPoint === undefined ? {} : { entryPoint: how.entryPoint }),
    callbacks: flow ? await callbacksOf(test, flow, reader) : [],
  };
};

const callbacksOf = async (
  { sender }: SmokeTestInputs,
  flow: ChainObject,
  reader: ChainReader,
): Promise<readonly Callback[]> => {
  const callbacks: Callback[] = [];
  for (const recipient of await recipientsOf(sender, flow, reader)) {
    callbacks.push(...(await callbackOf(recipient, flow, reader)));
  }
  return callbacks;
};
