import * as pulumi from "@pulumi/pulumi";
import {
  assertArguments,
  assertKnownNames,
  assertPart,
  componentToken,
  isOfType,
  refuseOtherKinds,
} from "./given-arguments.js";
import {
  Account,
  type AccountChatConfigurationsArgs,
  Authentication,
  type AuthenticationBasicAuthArgs,
  type AuthenticationOauth2Args,
  Channel,
  type ChannelArgs,
  ClientApplication,
  type ClientApplicationRoleArgs,
  Orchestration,
  Participant,
  type ParticipantArgs,
} from "./resources.js";

/**
 * Arguments for a party: the callback that receives its messages, and how the service authenticates
 * to that callback.
 */
export interface PartyArgs extends Omit<ClientApplicationRoleArgs, "name" | "version"> {
  /** Format of the messages that the service posts to the callback. Default: `v3`. */
  version?: pulumi.Input<"v1" | "v3"> | undefined;
  /**
   * Credentials for a Basic authentication that the component creates. Cannot be combined with
   * `authentication` or `oauth2`.
   */
  basicAuth?: pulumi.Input<AuthenticationBasicAuthArgs> | undefined;
  /**
   * Settings for an OAuth authentication that the component creates. Cannot be combined with
   * `authentication` or `basicAuth`.
   */
  oauth2?: pulumi.Input<AuthenticationOauth2Args> | undefined;
}

/** Arguments for a bot, including its callback and features. */
export interface BotArgs extends PartyArgs, Pick<ParticipantArgs, "intents" | "name" | "options"> {}

/** Arguments for a conversation account. */
export interface ConversationAccountArgs {
  /** The business's address on the channel. */
  address: pulumi.Input<string>;
  /** The channel to create, or an existing one. */
  channel: ChannelArgs | Channel;
  /** Where the service delivers replies to the customer. */
  customer: PartyArgs;
  /** The bot that answers first. */
  bot?: BotArgs | undefined;
  /**
   * The agents, who take over from the bot if there is one: their callback, or their existing
   * client application.
   */
  agent?: PartyArgs | ClientApplication | undefined;
  /**
   * Settings for the account's conversations, except the orchestration, which the component
   * creates.
   */
  chatConfigurations: Omit<AccountChatConfigurationsArgs, "orchestration">;
  /**
   * Name of the settings profile for every part that the component creates. Default: no profile.
   */
  profile?: string | undefined;
}

const kind = "ConversationAccount";

/** Every argument must be here; the compiler checks that. */
const known: Readonly<Record<keyof ConversationAccountArgs, true>> = {
  address: true,
  channel: true,
  customer: true,
  bot: true,
  agent: true,
  chatConfigurations: true,
  profile: true,
};

/** Passes nothing to the engine; refuses impossible arguments before anything is registered. */
const checkArguments = (name: string, args: ConversationAccountArgs): pulumi.Inputs => {
  assertArguments(kind, name, args ?? {});
  const of = `${kind} ${JSON.stringify(name)}`;
  const { channel, agent, customer, bot, chatConfigurations } = args ?? {};
  assertKnownNames(of, Object.keys(known), args ?? {});
  if (!pulumi.Resource.isInstance(channel)) assertPart(of, "channel", channel);
  assertPart(of, "customer", customer);
  assertPart(of, "chatConfigurations", chatConfigurations);
  if (bot) assertPart(of, "bot", bot);
  if (agent && !pulumi.Resource.isInstance(agent)) assertPart(of, "agent", agent);
  refuseOtherKinds({ of, path: "channel", takes: [Channel.__pulumiType], given: channel });
  refuseOtherKinds({ of, path: "agent", takes: [ClientApplication.__pulumiType], given: agent });
  return {};
};

type Role = "customer" | "custom_bot" | "custom_agent";

/**
 * The default setup as a single component: authentications, client applications, participants, a
 * channel, an orchestration, and the account that connects them. Each part is an ordinary resource
 * named after the component. The constructor fails with a `pulumi.RunError` if an argument is
 * invalid, or if there is neither a bot nor an agent.
 *
 * @example
 * const shop = new ConversationAccount("shop", {
 *   address: "shop-web",
 *   channel: { type: "custom.web", displayName: "Web chat", icon: "aVZCT1J3MEtHZ28=" },
 *   customer: { callback: "https://shop.example.com/messages", notificationEmail: "ops@example.com" },
 *   bot: {
 *     callback: "https://bot.example.com/messages",
 *     notificationEmail: "ops@example.com",
 *     basicAuth: { username: "hub", password: new pulumi.Config().requireSecret("botPassword") },
 *   },
 *   chatConfigurations: { entryPoint: "1007" },
 * });
 * export const accountId = shop.account.id;
 */
export class ConversationAccount extends pulumi.ComponentResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = componentToken(kind);

  /**
   * Whether a value is a conversation account, including one from another copy of this package.
   * Never fails.
   */
  static override isInstance(value: unknown): value is ConversationAccount {
    return isOfType(value, ConversationAccount.__pulumiType);
  }

  /** The account itself. */
  readonly account: Account;
  /** The channel: the existing one, or the one that the component created. */
  readonly channel: Channel;
  /** The orchestration, which controls how conversations run. */
  readonly orchestration: Orchestration;
  /** Client applications of the parties that there are. */
  readonly applications: {
    readonly customer: ClientApplication;
    readonly bot?: ClientApplication;
    readonly agent?: ClientApplication;
  };
  /** The bot's participant, if there is a bot. */
  readonly participant: Participant | undefined;

  constructor(name: string, args: ConversationAccountArgs, opts?: pulumi.ComponentResourceOptions) {
    super(ConversationAccount.__pulumiType, name, checkArguments(name, args), opts);
    const child = { parent: this };
    const profile = args.profile === undefined ? {} : { profile: args.profile };
    const parts = new Parts(name, profile, child);
    const customer = parts.application("customer", "customer", args.customer);
    const agent = ClientApplication.isInstance(args.agent)
      ? args.agent
      : args.agent && parts.application("agent", "custom_agent", args.agent);
    const bot = args.bot && parts.bot(args.bot);
    this.applications = {
      customer,
      ...(bot ? { bot: bot.application } : {}),
      ...(agent ? { agent } : {}),
    };
    this.participant = bot?.participant;
    this.channel = Channel.isInstance(args.channel)
      ? args.channel
      : new Channel(name, { ...profile, ...args.channel }, child);
    this.orchestration = parts.orchestration(customer, agent, bot);
    const { channel, orchestration } = this;
    const chatConfigurations = { ...args.chatConfigurations, orchestration };
    const { address } = args;
    this.account = new Account(name, { ...profile, address, channel, chatConfigurations }, child);
    this.registerOutputs({ accountId: this.account.id, channelId: this.channel.id });
  }
}

interface BotParts {
  readonly application: ClientApplication;
  readonly participant: Participant;
}

/** Makes the parts of one account, named after it. */
class Parts {
  constructor(
    private readonly name: string,
    private readonly profile: { readonly profile?: string },
    private readonly opts: pulumi.CustomResourceOptions,
  ) {}

  application(party: string, role: Role, args: PartyArgs): ClientApplication {
    const { basicAuth, oauth2, version = "v3", authentication, ...rest } = args;
    const ways = Object.entries({ authentication, basicAuth, oauth2 }).filter(([, way]) => way);
    if (ways.length > 1)
      throw new pulumi.RunError(
        `${kind} ${JSON.stringify(this.name)}: ${party} accepts only one kind of authentication, not ${ways.map(([way]) => way).join(" and ")}`,
      );
    const name = `${this.name}-${party}`;
    const made = basicAuth
      ? new Authentication(name, { ...this.profile, basicAuth }, this.opts)
      : oauth2
        ? new Authentication(name, { ...this.profile, oauth2 }, this.opts)
        : authentication;
    const roles = [{ ...rest, name: role, version, authentication: made }];
    return new ClientApplication(name, { ...this.profile, roles }, this.opts);
  }

  bot({ name, intents, options, ...party }: BotArgs): BotParts {
    const application = this.application("bot", "custom_bot", party);
    const args: ParticipantArgs = { name, type: "custom_bot", application, intents, options };
    const participant = new Participant(
      `${this.name}-bot`,
      { ...this.profile, ...args },
      this.opts,
    );
    return { application, participant };
  }

  orchestration(
    customer: ClientApplication,
    agent: ClientApplication | undefined,
    bot: BotParts | undefined,
  ): Orchestration {
    const customerConfiguration = { customer };
    const botConfiguration = bot && { bots: [{ ...bot, onEscalation: agent && { agent } }] };
    const agentConfiguration = agent && { agents: [agent] };
    if (botConfiguration) {
      const applications = { customerConfiguration, botConfiguration, agentConfiguration };
      return new Orchestration(this.name, { ...this.profile, applications }, this.opts);
    }
    if (agentConfiguration) {
      const applications = { customerConfiguration, agentConfiguration };
      return new Orchestration(this.name, { ...this.profile, applications }, this.opts);
    }
    throw new pulumi.RunError(
      `${kind} ${JSON.stringify(this.name)}: declare a bot, an agent, or both, so that someone can answer`,
    );
  }
}
