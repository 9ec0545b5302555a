// Generated from provider/resources by `npm run generate`. Change the definitions, not this file.

import type * as pulumi from "@pulumi/pulumi";
import { typeToken } from "../provider/pointer.js";
import { authentication } from "../provider/resources/authentication.js";
import { clientApplication } from "../provider/resources/client-application.js";
import { participant } from "../provider/resources/participant.js";
import { channel } from "../provider/resources/channel.js";
import { orchestration } from "../provider/resources/orchestration.js";
import { account } from "../provider/resources/account.js";
import { isOfType } from "./given-arguments.js";
import { ConversationResource, findBy, type Lookup, lookUp } from "./resource-class.js";

/** Arguments that every resource accepts in addition to the fields of its kind. */
export interface CommonArgs {
  /**
   * An existing object to adopt instead of creating one: `true` for the object with the same unique name, or an object's ID.
   * The object must exist, be the only match, and not have another stack's mark.
   * The preview reads the object and shows what will change; members that the program does not declare stay unchanged.
   * From then on, the object belongs to the stack, and removing the resource deletes it. To keep it, use `retainOnDelete`.
   * The argument has no effect once the resource is in the state, so you can leave it in the program. Default: `false`.
   */
  adopt?: boolean | string | undefined;
  /**
   * Additional members of the service's JSON that this package does not define. They are merged deeply, even into objects that the package defines.
   * They must not replace a documented property at any depth. They are written, compared, and repaired like other properties.
   * Secrets in them stay secret. Default: none.
   */
  extra?: pulumi.Input<pulumi.Inputs> | undefined;
  /**
   * Whether an update or adoption may erase hidden members (secrets that the service masks or omits) that the program does not declare, if it is unknown whether PUT keeps them.
   * If false, the run fails and lists them. Default: `false`.
   */
  eraseHidden?: boolean | undefined;
  /**
   * Name of the settings profile, for programs that use several accounts. For example, `staging` reads `CONVERSATION_STAGING_BASE_URL` and `conversation:staging.baseUrl`.
   * Up to 64 letters, digits, `_`, and `-`, starting with a letter. Cannot be changed later. Default: no profile.
   */
  profile?: string | undefined;
}

/** Credentials for Basic authentication. */
export interface AuthenticationBasicAuthArgs {
  /** User name. Source: public reference. */
  username: pulumi.Input<string>;
  /** Password. Secret: encrypted in the state, never shown. Source: public reference. */
  password: pulumi.Input<string>;
}

/**
 * Credentials for Basic authentication.
 * The members of {@link AuthenticationBasicAuthArgs}, with their values in the service.
 */
export interface AuthenticationBasicAuth {
  /** User name. Source: public reference. */
  readonly username: string;
  /** Password. Secret: encrypted in the state, never shown. Source: public reference. */
  readonly password: string;
}

/** How the service obtains a token for the callback. The service reuses the token until the callback responds with 401. */
export interface AuthenticationOauth2Args {
  /** URL of the token request. Absolute http or https URL. Source: public reference. */
  tokenRequestUrl?: pulumi.Input<string> | undefined;
  /** HTTP method of the token request, such as `POST`. Source: public reference. */
  method?: pulumi.Input<string> | undefined;
  /** Headers of the token request. Values are secret: encrypted in the state, never shown. Source: public reference. */
  headers?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /** Body of the token request: a string, or an object to send as JSON text. Secret: encrypted in the state, never shown. Source: public reference. */
  payload?: pulumi.Input<string | pulumi.Inputs> | undefined;
  /** JSONPath to the token in the response, such as `$.accessToken`. Source: public reference. */
  accessTokenPath?: pulumi.Input<string> | undefined;
}

/**
 * How the service obtains a token for the callback. The service reuses the token until the callback responds with 401.
 * The members of {@link AuthenticationOauth2Args}, with their values in the service.
 */
export interface AuthenticationOauth2 {
  /** URL of the token request. Absolute http or https URL. Source: public reference. */
  readonly tokenRequestUrl?: string;
  /** HTTP method of the token request, such as `POST`. Source: public reference. */
  readonly method?: string;
  /** Headers of the token request. Values are secret: encrypted in the state, never shown. Source: public reference. */
  readonly headers?: Record<string, string>;
  /** Body of the token request: a string, or an object to send as JSON text. Secret: encrypted in the state, never shown. Source: public reference. */
  readonly payload?: string;
  /** JSONPath to the token in the response, such as `$.accessToken`. Source: public reference. */
  readonly accessTokenPath?: string;
}

interface AuthenticationArgsMembers extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the authentication. 1 to 1,023 characters. Source: public reference. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the authentication is in use. Default: `true`. Source: public reference. */
  active?: pulumi.Input<boolean> | undefined;
}

/** Arguments for an authentication: the method (Basic authentication or OAuth) and credentials that the service uses when it posts messages to a client application's callback. */
export type AuthenticationArgs = AuthenticationArgsMembers & (
  | {
      /** Authentication method. Derived from `basicAuth` or `oauth2` if omitted. Source: public reference. */
      type?: "basic" | undefined;
      /** Credentials for Basic authentication. Source: public reference. */
      basicAuth: pulumi.Input<AuthenticationBasicAuthArgs>;
      oauth2?: undefined;
    }
  | {
      /** Authentication method. Derived from `basicAuth` or `oauth2` if omitted. Source: public reference. */
      type?: "oauth2" | undefined;
      /** How the service obtains a token for the callback. The service reuses the token until the callback responds with 401. Source: public reference. */
      oauth2: pulumi.Input<AuthenticationOauth2Args>;
      basicAuth?: undefined;
    }
);

/**
 * The method (Basic authentication or OAuth) and credentials that the service uses when it posts messages to a client application's callback.
 * Stored in `/authentications`. Updated in place, never replaced.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`
 * @example
 * new Authentication("example", {
 *   name: "orders-bot-callback",
 *   description: "Token for the orders bot callback",
 *   active: true,
 *   type: "oauth2",
 *   oauth2: {
 *     tokenRequestUrl: "https://bot.example.com/oauth/token",
 *     method: "POST",
 *     headers: {
 *       "Content-Type": "application/json"
 *     },
 *     payload: {
 *       clientId: "orders-bot",
 *       clientSecret: "not-a-real-secret"
 *     },
 *     accessTokenPath: "$.accessToken"
 *   }
 * });
 */
export class Authentication extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("Authentication");

  /** Whether a value is an authentication, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is Authentication {
    return isOfType(value, Authentication.__pulumiType);
  }

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the authentication. 1 to 1,023 characters. Source: public reference. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the authentication is in use. Default: `true`. Source: public reference. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Authentication method. Derived from `basicAuth` or `oauth2` if omitted. Source: public reference. */
  declare readonly type: pulumi.Output<"basic" | "oauth2">;

  /** Credentials for Basic authentication. Source: public reference. */
  declare readonly basicAuth: pulumi.Output<AuthenticationBasicAuth | undefined>;

  /** How the service obtains a token for the callback. The service reuses the token until the callback responds with 401. Source: public reference. */
  declare readonly oauth2: pulumi.Output<AuthenticationOauth2 | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly modified: pulumi.Output<string | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the authentication.
   * @param opts Pulumi options. `import` adopts an existing object, as `adopt` does; do not use both.
   */
  constructor(name: string, args: AuthenticationArgs, opts?: pulumi.CustomResourceOptions) {
    super(authentication, name, args, opts);
  }

  /**
   * Reads an existing authentication without managing it. Every preview and update makes one service call.
   * The run fails if no authentication has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the authentication in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Authentication {
    return lookUp(Authentication, name, id, state, opts);
  }

  /**
   * Finds an existing authentication by its name and reads it without managing it. Every preview and update
   * lists all authentications once per program, and makes one more call to read this one. The name also serves
   * as the logical name.
   * The run fails unless exactly one authentication matches.
   *
   * @param where The exact name.
   * @param state Settings for the call.
   */
  static find(where: { readonly name: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Authentication {
    return findBy(authentication, Authentication, where, state, opts);
  }
}

/** A role and its callback. */
export interface ClientApplicationRoleArgs {
  /** The role, which must be unique within the application. Source: public reference. */
  name: pulumi.Input<"customer" | "custom_bot" | "platform_bot" | "platform_agent" | "custom_agent" | "business_notification">;
  /** Format of the messages that the service posts to the callback. Source: public reference. */
  version: pulumi.Input<"v1" | "v3">;
  /** URL that the service posts messages to. Absolute http or https URL. Source: public reference. */
  callback: pulumi.Input<string>;
  /** Recipient to notify when the service cannot reach the callback. Email address. Source: public reference. */
  notificationEmail: pulumi.Input<string>;
  /** Headers that the service sends to the callback. Values are secret: encrypted in the state, never shown. Source: public reference. */
  headers?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /** How the service authenticates to the callback. If omitted, the service sends no Authorization header. Source: public reference. */
  authentication?: pulumi.Input<string> | pulumi.Input<Authentication> | undefined;
}

/**
 * A role and its callback.
 * The members of {@link ClientApplicationRoleArgs}, with their values in the service.
 */
export interface ClientApplicationRole {
  /** The role, which must be unique within the application. Source: public reference. */
  readonly name: "customer" | "custom_bot" | "platform_bot" | "platform_agent" | "custom_agent" | "business_notification";
  /** Format of the messages that the service posts to the callback. Source: public reference. */
  readonly version: "v1" | "v3";
  /** URL that the service posts messages to. Absolute http or https URL. Source: public reference. */
  readonly callback: string;
  /** Recipient to notify when the service cannot reach the callback. Email address. Source: public reference. */
  readonly notificationEmail: string;
  /** Headers that the service sends to the callback. Values are secret: encrypted in the state, never shown. Source: public reference. */
  readonly headers?: Record<string, string>;
  /** How the service authenticates to the callback. If omitted, the service sends no Authorization header. Source: public reference. */
  readonly authentication?: string;
}

/** Arguments for a client application: an external application that sends and receives messages. */
export interface ClientApplicationArgs extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the client application. 1 to 1,023 characters. Source: public reference. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the client application is in use. Default: `true`. Source: public reference. */
  active?: pulumi.Input<boolean> | undefined;
  /** The application's roles, each with its own callback. 1 to 7 items. Source: public reference. */
  roles: pulumi.Input<readonly (pulumi.Input<ClientApplicationRoleArgs>)[]>;
}

/**
 * An external application that sends and receives messages.
 * Stored in `/clientapplications`. Updated in place, never replaced.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`
 * @example
 * new ClientApplication("example", {
 *   name: "orders-bot",
 *   description: "Receives messages for the orders bot",
 *   active: true,
 *   roles: [
 *     {
 *       name: "custom_bot",
 *       version: "v3",
 *       callback: "https://bot.example.com/hub/messages",
 *       notificationEmail: "ops@example.com",
 *       headers: {
 *         "X-Tenant-Hint": "acme"
 *       },
 *       authentication: authentication
 *     }
 *   ]
 * });
 */
export class ClientApplication extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("ClientApplication");

  /** Whether a value is a client application, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is ClientApplication {
    return isOfType(value, ClientApplication.__pulumiType);
  }

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the client application. 1 to 1,023 characters. Source: public reference. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the client application is in use. Default: `true`. Source: public reference. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** The application's roles, each with its own callback. 1 to 7 items. Source: public reference. */
  declare readonly roles: pulumi.Output<(ClientApplicationRole)[]>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly modified: pulumi.Output<string | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the client application.
   * @param opts Pulumi options. `import` adopts an existing object, as `adopt` does; do not use both.
   */
  constructor(name: string, args: ClientApplicationArgs, opts?: pulumi.CustomResourceOptions) {
    super(clientApplication, name, args, opts);
  }

  /**
   * Reads an existing client application without managing it. Every preview and update makes one service call.
   * The run fails if no client application has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the client application in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): ClientApplication {
    return lookUp(ClientApplication, name, id, state, opts);
  }

  /**
   * Finds an existing client application by its name and reads it without managing it. Every preview and update
   * lists all client applications once per program, and makes one more call to read this one. The name also serves
   * as the logical name.
   * The run fails unless exactly one client application matches.
   *
   * @param where The exact name.
   * @param state Settings for the call.
   */
  static find(where: { readonly name: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): ClientApplication {
    return findBy(clientApplication, ClientApplication, where, state, opts);
  }
}

/** A bot feature. */
export interface ParticipantIntentArgs {
  /** Internal value of the feature. Source: public reference. */
  value: pulumi.Input<string>;
  /** Display value of the feature. Source: public reference. */
  displayValue: pulumi.Input<string>;
}

/**
 * A bot feature.
 * The members of {@link ParticipantIntentArgs}, with their values in the service.
 */
export interface ParticipantIntent {
  /** Internal value of the feature. Source: public reference. */
  readonly value: string;
  /** Display value of the feature. Source: public reference. */
  readonly displayValue: string;
}

/** Arguments for a participant: a registered bot. A client application can have several participants. */
export interface ParticipantArgs extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the participant. 1 to 1,023 characters. Source: public reference. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the participant is in use. Default: `true`. Source: public reference. */
  active?: pulumi.Input<boolean> | undefined;
  /** Kind of bot. The platform's own bot product creates bots of the platform type. Source: public reference. */
  type: pulumi.Input<"custom_bot" | "platform_bot">;
  /** Client application whose callback receives this bot's messages. Source: public reference. */
  application: pulumi.Input<string> | pulumi.Input<ClientApplication>;
  /** The bot's features. Source: public reference. */
  intents?: pulumi.Input<readonly (pulumi.Input<ParticipantIntentArgs>)[]> | undefined;
  /** Custom attributes. 1 to 25 entries. Source: public reference. */
  options?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
}

/**
 * A registered bot. A client application can have several participants.
 * Stored in `/participants`. Updated in place, never replaced.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`
 * @example
 * new Participant("example", {
 *   name: "orders-bot",
 *   type: "custom_bot",
 *   description: "Answers questions about orders",
 *   active: true,
 *   application: clientApplication,
 *   intents: [
 *     {
 *       value: "order_status",
 *       displayValue: "Order status"
 *     },
 *     {
 *       value: "returns",
 *       displayValue: "Returns"
 *     }
 *   ],
 *   options: {
 *     tier: "gold"
 *   }
 * });
 */
export class Participant extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("Participant");

  /** Whether a value is a participant, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is Participant {
    return isOfType(value, Participant.__pulumiType);
  }

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the participant. 1 to 1,023 characters. Source: public reference. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the participant is in use. Default: `true`. Source: public reference. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Kind of bot. The platform's own bot product creates bots of the platform type. Source: public reference. */
  declare readonly type: pulumi.Output<"custom_bot" | "platform_bot">;

  /** Client application whose callback receives this bot's messages. Source: public reference. */
  declare readonly application: pulumi.Output<string>;

  /** The bot's features. Source: public reference. */
  declare readonly intents: pulumi.Output<(ParticipantIntent)[] | undefined>;

  /** Custom attributes. 1 to 25 entries. Source: public reference. */
  declare readonly options: pulumi.Output<Record<string, string> | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly modified: pulumi.Output<string | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the participant.
   * @param opts Pulumi options. `import` adopts an existing object, as `adopt` does; do not use both.
   */
  constructor(name: string, args: ParticipantArgs, opts?: pulumi.CustomResourceOptions) {
    super(participant, name, args, opts);
  }

  /**
   * Reads an existing participant without managing it. Every preview and update makes one service call.
   * The run fails if no participant has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the participant in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Participant {
    return lookUp(Participant, name, id, state, opts);
  }

  /**
   * Finds an existing participant by its name and reads it without managing it. Every preview and update
   * lists all participants once per program, and makes one more call to read this one. The name also serves
   * as the logical name.
   * The run fails unless exactly one participant matches.
   *
   * @param where The exact name.
   * @param state Settings for the call.
   */
  static find(where: { readonly name: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Participant {
    return findBy(participant, Participant, where, state, opts);
  }
}

/** Restrictions on attachments. */
export interface ChannelAttachmentPolicyArgs {
  /** Must be true to allow attachments. Source: public reference. */
  enabled?: pulumi.Input<boolean> | undefined;
  /** Maximum size of an attachment, probably in bytes (the unit is not documented). Whole number, at least 0. Source: public reference. */
  maxSize?: pulumi.Input<number> | undefined;
  /** Whether `extensions` lists allowed or blocked extensions. Source: public reference. */
  type?: pulumi.Input<"allow" | "block"> | undefined;
  /** File extensions without the dot. Source: public reference. */
  extensions?: pulumi.Input<readonly (pulumi.Input<string>)[]> | undefined;
}

/**
 * Restrictions on attachments.
 * The members of {@link ChannelAttachmentPolicyArgs}, with their values in the service.
 */
export interface ChannelAttachmentPolicy {
  /** Must be true to allow attachments. Source: public reference. */
  readonly enabled?: boolean;
  /** Maximum size of an attachment, probably in bytes (the unit is not documented). Whole number, at least 0. Source: public reference. */
  readonly maxSize?: number;
  /** Whether `extensions` lists allowed or blocked extensions. Source: public reference. */
  readonly type?: "allow" | "block";
  /** File extensions without the dot. Source: public reference. */
  readonly extensions?: (string)[];
}

/** Restrictions on messages from the customer. */
export interface ChannelInboundArgs {
  /** Maximum length of a text message, in characters. Whole number, at least 0. Source: public reference. */
  maxTextLength?: pulumi.Input<number> | undefined;
  /** Allowed features: any of `typing_events`, `attachments`, and `richText`. If omitted, all are allowed. Source: public reference. */
  features?: pulumi.Input<readonly (pulumi.Input<string>)[]> | undefined;
  /** Restrictions on attachments. Source: public reference. */
  attachmentPolicy?: pulumi.Input<ChannelAttachmentPolicyArgs> | undefined;
}

/**
 * Restrictions on messages from the customer.
 * The members of {@link ChannelInboundArgs}, with their values in the service.
 */
export interface ChannelInbound {
  /** Maximum length of a text message, in characters. Whole number, at least 0. Source: public reference. */
  readonly maxTextLength?: number;
  /** Allowed features: any of `typing_events`, `attachments`, and `richText`. If omitted, all are allowed. Source: public reference. */
  readonly features?: (string)[];
  /** Restrictions on attachments. Source: public reference. */
  readonly attachmentPolicy?: ChannelAttachmentPolicy;
}

/** Restrictions on messages to the customer. */
export interface ChannelOutboundArgs {
  /** Maximum length of a text message, in characters. Whole number, at least 0. Source: public reference. */
  maxTextLength?: pulumi.Input<number> | undefined;
  /** Allowed features: any of `typing_events`, `attachments`, and `richText`. If omitted, all are allowed. Source: public reference. */
  features?: pulumi.Input<readonly (pulumi.Input<string>)[]> | undefined;
  /** Restrictions on attachments. Source: public reference. */
  attachmentPolicy?: pulumi.Input<ChannelAttachmentPolicyArgs> | undefined;
  /** Whether the service sends system messages. Source: public reference. */
  systemMessages?: pulumi.Input<boolean> | undefined;
  /** Whether a customer can log in during a conversation. Source: public reference. */
  midChatAuth?: pulumi.Input<boolean> | undefined;
  /** Types of rich messages that the channel can show, without the `richMessage.` prefix (for example, `listpicker`). Source: public reference. */
  richMessageTypes?: pulumi.Input<readonly (pulumi.Input<string>)[]> | undefined;
}

/**
 * Restrictions on messages to the customer.
 * The members of {@link ChannelOutboundArgs}, with their values in the service.
 */
export interface ChannelOutbound {
  /** Maximum length of a text message, in characters. Whole number, at least 0. Source: public reference. */
  readonly maxTextLength?: number;
  /** Allowed features: any of `typing_events`, `attachments`, and `richText`. If omitted, all are allowed. Source: public reference. */
  readonly features?: (string)[];
  /** Restrictions on attachments. Source: public reference. */
  readonly attachmentPolicy?: ChannelAttachmentPolicy;
  /** Whether the service sends system messages. Source: public reference. */
  readonly systemMessages?: boolean;
  /** Whether a customer can log in during a conversation. Source: public reference. */
  readonly midChatAuth?: boolean;
  /** Types of rich messages that the channel can show, without the `richMessage.` prefix (for example, `listpicker`). Source: public reference. */
  readonly richMessageTypes?: (string)[];
}

/** Restrictions on the messages that the channel transports. */
export interface ChannelRestrictionsArgs {
  /** Restrictions on messages from the customer. Source: public reference. */
  inbound?: pulumi.Input<ChannelInboundArgs> | undefined;
  /** Restrictions on messages to the customer. Source: public reference. */
  outbound?: pulumi.Input<ChannelOutboundArgs> | undefined;
}

/**
 * Restrictions on the messages that the channel transports.
 * The members of {@link ChannelRestrictionsArgs}, with their values in the service.
 */
export interface ChannelRestrictions {
  /** Restrictions on messages from the customer. Source: public reference. */
  readonly inbound?: ChannelInbound;
  /** Restrictions on messages to the customer. Source: public reference. */
  readonly outbound?: ChannelOutbound;
}

/** Arguments for a channel: a transport for chat messages, and its parameters. */
export interface ChannelArgs extends CommonArgs {
  /** The channel's identifier at run time, such as `custom.teams` for a custom channel. If you change it, lookups by the old type fail. 1 to 255 characters. Unique. Source: public reference. */
  type: pulumi.Input<string>;
  /** Display name. 1 to 255 characters. Source: public reference. */
  displayName: pulumi.Input<string>;
  /** Icon image. Must be a 32 × 32 pixel PNG if the platform's own agent desktop shows it. 1 to 512,000 characters. Base64 text, or a file: `new pulumi.asset.FileAsset("icon.png")`. Source: public reference. */
  icon: pulumi.Input<string> | pulumi.asset.FileAsset;
  /** Purpose of the channel. 1 to 1,023 characters. Source: public reference. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the channel is in use. Default: `true`. Source: public reference. */
  active?: pulumi.Input<boolean> | undefined;
  /** Restrictions on the messages that the channel transports. Source: public reference. */
  restrictions?: pulumi.Input<ChannelRestrictionsArgs> | undefined;
  /** System text, grouped by language (such as `en-US`) and then by key (such as `msg_hub_off_hours`). 1 to 25 entries. Source: public reference. */
  l10nProperties?: pulumi.Input<Record<string, pulumi.Input<Record<string, pulumi.Input<string>>>>> | undefined;
}

/**
 * A transport for chat messages, and its parameters.
 * Stored in `/channels`. Updated in place, never replaced.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`
 * @example
 * new Channel("example", {
 *   type: "custom.kiosk",
 *   displayName: "Store kiosk",
 *   icon: "aVZCT1J3MEtHZ28=",
 *   description: "In-store kiosk chat",
 *   active: true,
 *   restrictions: {
 *     inbound: {
 *       maxTextLength: 500,
 *       features: [
 *         "typing_events",
 *         "attachments",
 *         "richText"
 *       ],
 *       attachmentPolicy: {
 *         enabled: true,
 *         maxSize: 1048576,
 *         type: "block",
 *         extensions: [
 *           "exe",
 *           "bat"
 *         ]
 *       }
 *     },
 *     outbound: {
 *       maxTextLength: 500,
 *       systemMessages: true,
 *       midChatAuth: false,
 *       richMessageTypes: [
 *         "listpicker",
 *         "quickreply"
 *       ]
 *     }
 *   },
 *   l10nProperties: {
 *     "en-US": {
 *       msg_hub_off_hours: "We are closed right now."
 *     }
 *   }
 * });
 */
export class Channel extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("Channel");

  /** Whether a value is a channel, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is Channel {
    return isOfType(value, Channel.__pulumiType);
  }

  /** The channel's identifier at run time, such as `custom.teams` for a custom channel. If you change it, lookups by the old type fail. 1 to 255 characters. Unique. Source: public reference. */
  declare readonly type: pulumi.Output<string>;

  /** Display name. 1 to 255 characters. Source: public reference. */
  declare readonly displayName: pulumi.Output<string>;

  /** Icon image. Must be a 32 × 32 pixel PNG if the platform's own agent desktop shows it. 1 to 512,000 characters. Base64 text, or a file: `new pulumi.asset.FileAsset("icon.png")`. Source: public reference. */
  declare readonly icon: pulumi.Output<string>;

  /** Purpose of the channel. 1 to 1,023 characters. Source: public reference. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the channel is in use. Default: `true`. Source: public reference. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Restrictions on the messages that the channel transports. Source: public reference. */
  declare readonly restrictions: pulumi.Output<ChannelRestrictions | undefined>;

  /** System text, grouped by language (such as `en-US`) and then by key (such as `msg_hub_off_hours`). 1 to 25 entries. Source: public reference. */
  declare readonly l10nProperties: pulumi.Output<Record<string, Record<string, string>> | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly modified: pulumi.Output<string | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the channel.
   * @param opts Pulumi options. `import` adopts an existing object, as `adopt` does; do not use both.
   */
  constructor(name: string, args: ChannelArgs, opts?: pulumi.CustomResourceOptions) {
    super(channel, name, args, opts);
  }

  /**
   * Reads an existing channel without managing it. Every preview and update makes one service call.
   * The run fails if no channel has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the channel in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Channel {
    return lookUp(Channel, name, id, state, opts);
  }

  /**
   * Finds an existing channel by its type and reads it without managing it. Every preview and update
   * lists all channels once per program, and makes one more call to read this one. The type also serves
   * as the logical name.
   * The run fails unless exactly one channel matches.
   *
   * @param where The exact type.
   * @param state Settings for the call.
   */
  static find(where: { readonly type: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Channel {
    return findBy(channel, Channel, where, state, opts);
  }
}

/** What happens when the bot escalates. */
export interface OrchestrationOnEscalationArgs {
  /** Client application that receives the conversation after the escalation. Source: public reference. */
  agent: pulumi.Input<string> | pulumi.Input<ClientApplication>;
}

/**
 * What happens when the bot escalates.
 * The members of {@link OrchestrationOnEscalationArgs}, with their values in the service.
 */
export interface OrchestrationOnEscalation {
  /** Client application that receives the conversation after the escalation. Source: public reference. */
  readonly agent: string;
}

/** A bot, and the agents who take over from it. */
export interface OrchestrationBotArgs {
  /** The bot's client application. Source: public reference. */
  application: pulumi.Input<string> | pulumi.Input<ClientApplication>;
  /** The bot's participant. Source: public reference. */
  participant: pulumi.Input<string> | pulumi.Input<Participant>;
  /** What happens when the bot escalates. Source: public reference. */
  onEscalation?: pulumi.Input<OrchestrationOnEscalationArgs> | undefined;
}

/**
 * A bot, and the agents who take over from it.
 * The members of {@link OrchestrationBotArgs}, with their values in the service.
 */
export interface OrchestrationBot {
  /** The bot's client application. Source: public reference. */
  readonly application: string;
  /** The bot's participant. Source: public reference. */
  readonly participant: string;
  /** What happens when the bot escalates. Source: public reference. */
  readonly onEscalation?: OrchestrationOnEscalation;
}

/** Settings for the bots, which answer first. */
export interface OrchestrationBotConfigurationArgs {
  /** Whether to pass the transcript to an agent if the bot did not escalate and the customer is known. Source: public reference. */
  forwardTranscript?: pulumi.Input<boolean> | undefined;
  /** Number of minutes within which a returning customer's conversation skips the bot and goes to the agent. At least 0. Source: public reference. */
  bypassVaDuration?: pulumi.Input<number> | undefined;
  /** The bots. Source: public reference. */
  bots: pulumi.Input<readonly (pulumi.Input<OrchestrationBotArgs>)[]>;
}

/**
 * Settings for the bots, which answer first.
 * The members of {@link OrchestrationBotConfigurationArgs}, with their values in the service.
 */
export interface OrchestrationBotConfiguration {
  /** Whether to pass the transcript to an agent if the bot did not escalate and the customer is known. Source: public reference. */
  readonly forwardTranscript?: boolean;
  /** Number of minutes within which a returning customer's conversation skips the bot and goes to the agent. At least 0. Source: public reference. */
  readonly bypassVaDuration?: number;
  /** The bots. Source: public reference. */
  readonly bots: (OrchestrationBot)[];
}

/** The customer's client application; required for custom channels. */
export interface OrchestrationCustomerConfigurationArgs {
  /** Client application that receives the replies to the customer. Source: public reference. */
  customer: pulumi.Input<string> | pulumi.Input<ClientApplication>;
}

/**
 * The customer's client application; required for custom channels.
 * The members of {@link OrchestrationCustomerConfigurationArgs}, with their values in the service.
 */
export interface OrchestrationCustomerConfiguration {
  /** Client application that receives the replies to the customer. Source: public reference. */
  readonly customer: string;
}

/** The agents. */
export interface OrchestrationAgentConfigurationArgs {
  /** The agents' client applications. Source: public reference. */
  agents: pulumi.Input<readonly (pulumi.Input<string> | pulumi.Input<ClientApplication>)[]>;
}

/**
 * The agents.
 * The members of {@link OrchestrationAgentConfigurationArgs}, with their values in the service.
 */
export interface OrchestrationAgentConfiguration {
  /** The agents' client applications. Source: public reference. */
  readonly agents: (string)[];
}

interface OrchestrationApplicationsArgsMembers {
  /** Settings for the bots, which answer first. Source: public reference. */
  botConfiguration?: pulumi.Input<OrchestrationBotConfigurationArgs> | undefined;
  /** The customer's client application; required for custom channels. Source: public reference. */
  customerConfiguration?: pulumi.Input<OrchestrationCustomerConfigurationArgs> | undefined;
  /** The agents. Source: public reference. */
  agentConfiguration?: pulumi.Input<OrchestrationAgentConfigurationArgs> | undefined;
}

/** The parties to a conversation. */
export type OrchestrationApplicationsArgs = OrchestrationApplicationsArgsMembers & (
  | {
      /** Settings for the bots, which answer first. Source: public reference. */
      botConfiguration: pulumi.Input<OrchestrationBotConfigurationArgs>;
    }
  | {
      /** The agents. Source: public reference. */
      agentConfiguration: pulumi.Input<OrchestrationAgentConfigurationArgs>;
    }
);

/**
 * The parties to a conversation.
 * The members of {@link OrchestrationApplicationsArgs}, with their values in the service.
 */
export interface OrchestrationApplications {
  /** Settings for the bots, which answer first. Source: public reference. */
  readonly botConfiguration?: OrchestrationBotConfiguration;
  /** The customer's client application; required for custom channels. Source: public reference. */
  readonly customerConfiguration?: OrchestrationCustomerConfiguration;
  /** The agents. Source: public reference. */
  readonly agentConfiguration?: OrchestrationAgentConfiguration;
}

/** Arguments for an orchestration: how a conversation moves between the customer, the bots, and the agents. */
export interface OrchestrationArgs extends CommonArgs {
  /** Name, which need not be unique; derived from the logical name if omitted. Source: public reference. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the orchestration. 1 to 1,023 characters. Source: public reference. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the orchestration is in use. Default: `true`. Source: public reference. */
  active?: pulumi.Input<boolean> | undefined;
  /** The parties to a conversation. Source: public reference. */
  applications: pulumi.Input<OrchestrationApplicationsArgs>;
}

/**
 * How a conversation moves between the customer, the bots, and the agents.
 * Stored in `/orchestrations`. Updated in place, never replaced.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`
 * @example
 * new Orchestration("example", {
 *   name: "orders",
 *   description: "Orders bot first, agents on escalation",
 *   active: true,
 *   applications: {
 *     botConfiguration: {
 *       forwardTranscript: true,
 *       bypassVaDuration: 15,
 *       bots: [
 *         {
 *           application: clientApplication,
 *           participant: participant,
 *           onEscalation: {
 *             agent: clientApplication
 *           }
 *         }
 *       ]
 *     },
 *     customerConfiguration: {
 *       customer: clientApplication
 *     },
 *     agentConfiguration: {
 *       agents: [
 *         clientApplication
 *       ]
 *     }
 *   }
 * });
 */
export class Orchestration extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("Orchestration");

  /** Whether a value is an orchestration, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is Orchestration {
    return isOfType(value, Orchestration.__pulumiType);
  }

  /** Name, which need not be unique; derived from the logical name if omitted. Source: public reference. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the orchestration. 1 to 1,023 characters. Source: public reference. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the orchestration is in use. Default: `true`. Source: public reference. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** The parties to a conversation. Source: public reference. */
  declare readonly applications: pulumi.Output<OrchestrationApplications>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly modified: pulumi.Output<string | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the orchestration.
   * @param opts Pulumi options. `import` adopts an existing object, as `adopt` does; do not use both.
   */
  constructor(name: string, args: OrchestrationArgs, opts?: pulumi.CustomResourceOptions) {
    super(orchestration, name, args, opts);
  }

  /**
   * Reads an existing orchestration without managing it. Every preview and update makes one service call.
   * The run fails if no orchestration has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the orchestration in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Orchestration {
    return lookUp(Orchestration, name, id, state, opts);
  }

  /**
   * Finds an existing orchestration by its name and reads it without managing it. Every preview and update
   * lists all orchestrations once per program, and makes one more call to read this one. The name also serves
   * as the logical name.
   * The run fails unless exactly one orchestration matches.
   *
   * @param where The exact name.
   * @param state Settings for the call.
   */
  static find(where: { readonly name: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Orchestration {
    return findBy(orchestration, Orchestration, where, state, opts);
  }
}

/** How conversations are assigned to cases. */
export interface AccountCaseManagementArgs {
  /** Time within which a returning customer's conversation joins the same case. The unit is not documented. At least 0. Source: public reference. */
  sameCaseDuration?: pulumi.Input<number> | undefined;
  /** Whether to copy custom attributes from the earlier conversation. Applies only if the orchestration sets `bypassVaDuration`. Source: public reference. */
  copyCustomAttributes?: pulumi.Input<boolean> | undefined;
}

/**
 * How conversations are assigned to cases.
 * The members of {@link AccountCaseManagementArgs}, with their values in the service.
 */
export interface AccountCaseManagement {
  /** Time within which a returning customer's conversation joins the same case. The unit is not documented. At least 0. Source: public reference. */
  readonly sameCaseDuration?: number;
  /** Whether to copy custom attributes from the earlier conversation. Applies only if the orchestration sets `bypassVaDuration`. Source: public reference. */
  readonly copyCustomAttributes?: boolean;
}

/** Settings for the account's conversations. */
export interface AccountChatConfigurationsArgs {
  /** Idle time, in minutes (according to one integrator), after which the customer must start a new conversation. At least 0. Source: public reference. */
  timeout?: pulumi.Input<number> | undefined;
  /** Default language, such as `en-US`. Source: public reference. */
  defaultLanguage?: pulumi.Input<string> | undefined;
  /** Whether to answer with the off-hours text if no agent is available, or hold the message until one is. Source: public reference. */
  onAgentUnavailability?: pulumi.Input<"off_hours" | "retain_and_retry"> | undefined;
  /** Whether agents may log out while chats are open. Source: public reference. */
  allowLogoutWithOpenChats?: pulumi.Input<boolean> | undefined;
  /** Whether agents may return messages to the queue when no agent is available. Source: public reference. */
  allowQueueTransferOnAgentUnavailability?: pulumi.Input<boolean> | undefined;
  /** Orchestration for the account's conversations. Source: public reference. */
  orchestration?: pulumi.Input<string> | pulumi.Input<Orchestration> | undefined;
  /** ID of the entry point, which belongs to another product area. Usually numeric, such as `1007`. Source: public reference. */
  entryPoint?: pulumi.Input<string> | undefined;
}

/**
 * Settings for the account's conversations.
 * The members of {@link AccountChatConfigurationsArgs}, with their values in the service.
 */
export interface AccountChatConfigurations {
  /** Idle time, in minutes (according to one integrator), after which the customer must start a new conversation. At least 0. Source: public reference. */
  readonly timeout?: number;
  /** Default language, such as `en-US`. Source: public reference. */
  readonly defaultLanguage?: string;
  /** Whether to answer with the off-hours text if no agent is available, or hold the message until one is. Source: public reference. */
  readonly onAgentUnavailability?: "off_hours" | "retain_and_retry";
  /** Whether agents may log out while chats are open. Source: public reference. */
  readonly allowLogoutWithOpenChats?: boolean;
  /** Whether agents may return messages to the queue when no agent is available. Source: public reference. */
  readonly allowQueueTransferOnAgentUnavailability?: boolean;
  /** Orchestration for the account's conversations. Source: public reference. */
  readonly orchestration?: string;
  /** ID of the entry point, which belongs to another product area. Usually numeric, such as `1007`. Source: public reference. */
  readonly entryPoint?: string;
}

/** Arguments for an account: a channel and an orchestration, connected under one address. */
export interface AccountArgs extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the account. 1 to 1,023 characters. Source: public reference. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the account is in use. Default: `true`. Source: public reference. */
  active?: pulumi.Input<boolean> | undefined;
  /** Business address on the channel: a phone number, email address, or page ID. If you change it, lookups by the old address fail. 1 to 255 characters. Source: public reference. */
  address: pulumi.Input<string>;
  /** The account's channel. Source: public reference. */
  channel: pulumi.Input<string> | pulumi.Input<Channel>;
  /** How conversations are assigned to cases. Source: public reference. */
  caseManagement?: pulumi.Input<AccountCaseManagementArgs> | undefined;
  /** Settings for the account's conversations. Source: public reference. */
  chatConfigurations: pulumi.Input<AccountChatConfigurationsArgs>;
  /** Additional attributes, which may include credentials for a provider. 1 to 10 entries. Values are secret: encrypted in the state, never shown. Source: assumed. */
  attributes?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
}

/**
 * A channel and an orchestration, connected under one address.
 * Stored in `/accounts`. Updated in place, never replaced.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or if `import` contradicts `adopt`
 * @example
 * new Account("example", {
 *   name: "kiosk-berlin",
 *   description: "Kiosk in the Berlin store",
 *   active: true,
 *   address: "kiosk-berlin-01",
 *   channel: channel,
 *   caseManagement: {
 *     sameCaseDuration: 60,
 *     copyCustomAttributes: true
 *   },
 *   chatConfigurations: {
 *     timeout: 30,
 *     defaultLanguage: "en-US",
 *     onAgentUnavailability: "retain_and_retry",
 *     allowLogoutWithOpenChats: false,
 *     allowQueueTransferOnAgentUnavailability: true,
 *     orchestration: orchestration,
 *     entryPoint: "1007"
 *   }
 * });
 */
export class Account extends ConversationResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken("Account");

  /** Whether a value is an account, including one from another copy of this package. Never fails. */
  static override isInstance(value: unknown): value is Account {
    return isOfType(value, Account.__pulumiType);
  }

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: public reference. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the account. 1 to 1,023 characters. Source: public reference. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the account is in use. Default: `true`. Source: public reference. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Business address on the channel: a phone number, email address, or page ID. If you change it, lookups by the old address fail. 1 to 255 characters. Source: public reference. */
  declare readonly address: pulumi.Output<string>;

  /** The account's channel. Source: public reference. */
  declare readonly channel: pulumi.Output<string>;

  /** How conversations are assigned to cases. Source: public reference. */
  declare readonly caseManagement: pulumi.Output<AccountCaseManagement | undefined>;

  /** Settings for the account's conversations. Source: public reference. */
  declare readonly chatConfigurations: pulumi.Output<AccountChatConfigurations>;

  /** Additional attributes, which may include credentials for a provider. 1 to 10 entries. Values are secret: encrypted in the state, never shown. Source: assumed. */
  declare readonly attributes: pulumi.Output<Record<string, string> | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: public reference. */
  declare readonly modified: pulumi.Output<string | undefined>;

  /**
   * @param name Logical name, unique in the program.
   * @param args Properties of the account.
   * @param opts Pulumi options. `import` adopts an existing object, as `adopt` does; do not use both.
   */
  constructor(name: string, args: AccountArgs, opts?: pulumi.CustomResourceOptions) {
    super(account, name, args, opts);
  }

  /**
   * Reads an existing account without managing it. Every preview and update makes one service call.
   * The run fails if no account has this ID, or if the service does not return it.
   *
   * @param name Logical name, unique in the program.
   * @param id ID of the account in the service.
   * @param state Settings for the call.
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Account {
    return lookUp(Account, name, id, state, opts);
  }

  /**
   * Finds an existing account by its name and reads it without managing it. Every preview and update
   * lists all accounts once per program, and makes one more call to read this one. The name also serves
   * as the logical name.
   * The run fails unless exactly one account matches.
   *
   * @param where The exact name.
   * @param state Settings for the call.
   */
  static find(where: { readonly name: string }, state: Lookup = {}, opts?: pulumi.CustomResourceOptions): Account {
    return findBy(account, Account, where, state, opts);
  }
}
