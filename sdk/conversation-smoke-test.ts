import * as pulumi from "@pulumi/pulumi";
import { pointerTo, typeToken } from "../provider/pointer.js";
import { ConversationAccount } from "./conversation-account.js";
import { fingerprint } from "./fingerprint.js";
import { assertArguments } from "./given-arguments.js";
import { refuseOtherKinds } from "./reference-kinds.js";
import { isOfType } from "./resource-type.js";
import { Account } from "./resources.js";
import type { SenderKind } from "./runtime/messages/message-types.js";

const kind = "ConversationSmokeTest";

/** Where one can see that a message arrived: docs/smoke-test.md. */
export interface SmokeTestProbeArgs {
  /**
   * Address that answers a GET with 200 and JSON. The message has arrived once the id of its
   * conversation stands anywhere in that JSON. 204 and 404 mean: not yet.
   */
  url: pulumi.Input<string>;
  /** Authorization header of these calls. Secret. Needs `https:`, except for this machine. */
  authorization?: pulumi.Input<string> | undefined;
}

/** What a program says of one smoke test. */
export interface ConversationSmokeTestArgs {
  /**
   * The account to test: the resource, the component, or the id. With a resource the test runs again
   * when the program says something else of it or of anything it refers to by resource: channel,
   * orchestration, participants, client applications, authentications.
   */
  account: ConversationAccount | pulumi.Input<Account> | pulumi.Input<string>;
  /** Whether a message is sent at all. Default: `false`, so that it has to be wanted. */
  enabled?: pulumi.Input<boolean | undefined> | undefined;
  /**
   * Who sends. A customer's message goes to the bots, where there are none to the agents; every
   * other one goes to the customer. Default: `customer`.
   */
  sender?: pulumi.Input<SenderKind> | undefined;
  /** What the message says, 1 to 1,000 characters. Default: that it is a test. */
  text?: pulumi.Input<string> | undefined;
  /** Name of the customer of the conversation. Default: `Smoke test`. */
  customer?: pulumi.Input<string> | undefined;
  /** Where to look for the message. Left out: the service's 202 is enough. */
  probe?: pulumi.Input<SmokeTestProbeArgs> | undefined;
  /** How long the message may take from the 202 to the probe, in seconds, 1 to 600. Default: 30. */
  timeout?: pulumi.Input<number> | undefined;
  /**
   * What else the test depends on: any values, and resources of this package, which count with what
   * they refer to. Only a digest of each is kept, as a secret. The test runs again when one changes.
   */
  triggers?: readonly (pulumi.Resource | pulumi.Input<unknown>)[] | undefined;
  /** Name of the settings to use, as with the resources. */
  profile?: string | undefined;
}

const accountOf = ({ account }: ConversationSmokeTestArgs) =>
  ConversationAccount.isInstance(account) ? account.account : account;

/** An id says nothing of the account, so it is no trigger. */
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
    // Outputs exist on the object only where the constructor names them.
    conversationId: undefined,
    messageId: undefined,
    sentAt: undefined,
    arrived: undefined,
    __provider: pointerTo(kind),
  };
};

/**
 * Sends one message over an account when it is made or changed, and fails with the name of the link
 * that is broken. Reads the set-up objects on the message's way first, sends nothing where one is
 * missing, and ends the conversation afterwards. Does nothing in a preview, in a refresh, without
 * changes, and unless it is enabled. A test that fails is repeated by the next `pulumi up`.
 *
 * @example
 * new ConversationSmokeTest("shop-answers", {
 *   account: shop,
 *   enabled: true,
 *   probe: { url: "https://shop.example.com/arrived" },
 * });
 */
export class ConversationSmokeTest extends pulumi.CustomResource {
  /** Type token, part of every state file. */
  static readonly __pulumiType: string = typeToken(kind);

  /** Whether a value is a smoke test, also one made by another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is ConversationSmokeTest {
    return isOfType(value, ConversationSmokeTest.__pulumiType);
  }

  /** Whether messages are sent. */
  declare readonly enabled: pulumi.Output<boolean>;

  /** The conversation of the last test that passed. */
  declare readonly conversationId: pulumi.Output<string | undefined>;

  /** The message of the last test that passed. */
  declare readonly messageId: pulumi.Output<string | undefined>;

  /** When the service accepted the message of the last test that passed: ISO 8601, GMT. */
  declare readonly sentAt: pulumi.Output<string | undefined>;

  /** Whether the message was seen at the probe; false where there was none. */
  declare readonly arrived: pulumi.Output<boolean | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args What to test, and whether.
   * @param opts Options of the engine.
   */
  constructor(name: string, args: ConversationSmokeTestArgs, opts?: pulumi.CustomResourceOptions) {
    super(ConversationSmokeTest.__pulumiType, name, propsOf(name, args), opts);
  }
}
