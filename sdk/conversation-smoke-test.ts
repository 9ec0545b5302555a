import { hash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { isObject } from "../provider/kernel/json.js";
import { pointerTo, typeToken } from "../provider/pointer.js";
import type { SenderKind } from "../provider/service/message-types.js";
import { ConversationAccount } from "./conversation-account.js";
import { assertArguments, isOfType, refuseOtherKinds } from "./given-arguments.js";
import { declaredArgs } from "./resource-class.js";
import { Account } from "./resources.js";

/**
 * What a program declares of a resource and of every resource that it refers to. Not what the
 * engine knows: in a preview, that is unknown for everything that the program does not declare.
 */
const said = (resource: pulumi.Resource): pulumi.Inputs => {
  const id = pulumi.CustomResource.isInstance(resource) ? resource.id : resource.urn;
  return { id, args: followed(declaredArgs(resource)) };
};

const expanded = (value: unknown): unknown => {
  if (pulumi.Resource.isInstance(value)) return said(value);
  if (Array.isArray(value)) return value.map(expanded);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, expanded(of)]));
};

/** A value with each resource in it replaced by what the program declares of it. */
const followed = (value: unknown): pulumi.Output<unknown> => {
  const known: pulumi.Output<unknown> = pulumi.output(value);
  return known.apply((inner) => pulumi.output(expanded(inner)));
};

/** JSON text that does not depend on the order of members, nor on members without a value. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined && member !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join()}}`;
};

/**
 * A short text that changes whenever a value changes; for a resource of this package, whenever the
 * program declares something else of it or of what it refers to. Unknown if the value holds
 * something unknown. A secret, since secrets may be guessed from it.
 */
const fingerprint = (value: unknown): pulumi.Output<string> =>
  pulumi.secret(followed(value).apply((known) => hash("sha256", canonical(known)).slice(0, 16)));

const kind = "ConversationSmokeTest";

/** How to check that a message arrived. See docs/smoke-test.md. */
export interface SmokeTestProbeArgs {
  /**
   * URL that responds to a GET request with 200 and JSON. The message has arrived if the JSON
   * contains its ID or the ID of its conversation. Any other JSON, a 204, or a 404 means "not yet".
   */
  url: pulumi.Input<string>;
  /**
   * Authorization header for requests to `url`. Secret. Requires an `https:` URL, except on this
   * machine.
   */
  authorization?: pulumi.Input<string> | undefined;
}

/** Arguments for a smoke test. */
export interface ConversationSmokeTestArgs {
  /**
   * The account to test: a resource, a component, or an ID. With a resource or a component, the test
   * runs again whenever you change the account or a resource that it refers to: its channel,
   * orchestration, participants, client applications, or authentications.
   */
  account: ConversationAccount | pulumi.Input<Account> | pulumi.Input<string>;
  /** Whether to send a message. Default: `false`. */
  enabled?: pulumi.Input<boolean | undefined> | undefined;
  /**
   * Who sends the message. A customer's message goes to the bots, or to the agents if there are no
   * bots; any other message goes to the customer. Default: `customer`.
   */
  sender?: pulumi.Input<SenderKind> | undefined;
  /** The text of the message, 1 to 1,000 characters. Default: text that identifies it as a test. */
  text?: pulumi.Input<string> | undefined;
  /** The customer's name in the conversation. Default: `Smoke test`. */
  customer?: pulumi.Input<string> | undefined;
  /**
   * How to check that the message arrived. If omitted, the test passes when the service responds
   * with 202.
   */
  probe?: pulumi.Input<SmokeTestProbeArgs> | undefined;
  /** Time limit for the probe, in seconds from the 202 response: 1 to 600. Default: 30. */
  timeout?: pulumi.Input<number> | undefined;
  /**
   * Additional values that make the test run again when they change. A resource from this package
   * also covers the resources that it refers to. The state contains only a digest of each value, as
   * a secret.
   */
  triggers?: readonly (pulumi.Resource | pulumi.Input<unknown>)[] | undefined;
  /** Name of the settings profile, as for other resources. */
  profile?: string | undefined;
}

const accountOf = ({ account }: ConversationSmokeTestArgs) =>
  ConversationAccount.isInstance(account) ? account.account : account;

/** An ID says nothing about the account, so it is no trigger. */
const digests = (args: ConversationSmokeTestArgs): readonly pulumi.Output<string>[] => {
  const account = accountOf(args);
  const own = Account.isInstance(account) ? [account] : [];
  return [...own, ...(args.triggers ?? [])].map(fingerprint);
};

const propsOf = (name: string, args: ConversationSmokeTestArgs): pulumi.Inputs => {
  const takes = [Account.__pulumiType, ConversationAccount.__pulumiType];
  assertArguments(kind, name, args);
  const of = `${kind} ${JSON.stringify(name)}`;
  refuseOtherKinds({ of, path: "account", takes, given: args.account });
  return {
    ...args,
    account: accountOf(args),
    triggers: digests(args),
    // Outputs exist on the object only if the constructor names them.
    conversationId: undefined,
    messageId: undefined,
    sentAt: undefined,
    arrived: undefined,
    __provider: pointerTo(kind),
  };
};

/**
 * A test that sends one message through an account when the test is created or changed. It first
 * reads the setup objects on the message's path, sends nothing if one is missing, and ends the
 * conversation afterward. It does nothing during a preview or refresh, if nothing has changed, or
 * if it is not enabled. If the test fails, the error names the broken link, and the next
 * `pulumi up` repeats the test.
 *
 * @example
 * new ConversationSmokeTest("shop-answers", {
 *   account: shop,
 *   enabled: true,
 *   probe: { url: "https://shop.example.com/arrived" },
 * });
 */
export class ConversationSmokeTest extends pulumi.CustomResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken(kind);

  /** Whether a value is a smoke test, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is ConversationSmokeTest {
    return isOfType(value, ConversationSmokeTest.__pulumiType);
  }

  /** Whether the test sends messages. */
  declare readonly enabled: pulumi.Output<boolean>;

  /** ID of the conversation in the last successful test. */
  declare readonly conversationId: pulumi.Output<string | undefined>;

  /** ID of the message in the last successful test. */
  declare readonly messageId: pulumi.Output<string | undefined>;

  /** When the service accepted the message in the last successful test: ISO 8601, GMT. */
  declare readonly sentAt: pulumi.Output<string | undefined>;

  /**
   * Whether the probe found the message of the last successful test; false if there was no probe.
   */
  declare readonly arrived: pulumi.Output<boolean | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args What to test, and whether to test it.
   * @param opts Pulumi options.
   */
  constructor(name: string, args: ConversationSmokeTestArgs, opts?: pulumi.CustomResourceOptions) {
    super(ConversationSmokeTest.__pulumiType, name, propsOf(name, args), opts);
  }
}
