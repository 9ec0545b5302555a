// Generated from provider/resources by `npm run generate`. Change the definitions, not this file.

import type * as pulumi from "@pulumi/pulumi";
import { typeToken } from "../provider/kernel/pulumi.js";
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
  /** User name. 1 to 255 characters. Source: vendor's description of the interface. */
  username: pulumi.Input<string>;
  /** Password. 1 to 255 characters. Secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  password: pulumi.Input<string>;
}

/**
 * Credentials for Basic authentication.
 * The members of {@link AuthenticationBasicAuthArgs}, with their values in the service.
 */
export interface AuthenticationBasicAuth {
  /** User name. 1 to 255 characters. Source: vendor's description of the interface. */
  readonly username: string;
  /** Password. 1 to 255 characters. Secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  readonly password: string;
}

/** How the service obtains a token for the callback. The service reuses the token until the callback responds with 401. */
export interface AuthenticationOauth2Args {
  /** URL of the token request. 1 to 255 characters. Absolute http or https URL, without user name or password. Source: vendor's description of the interface. */
  tokenRequestUrl: pulumi.Input<string>;
  /** HTTP method of the token request. Source: vendor's description of the interface. */
  method: pulumi.Input<"POST" | "GET">;
  /** Headers of the token request. 1 to 25 entries. Values are secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  headers: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Body of the token request: a string, or an object to send as JSON text. 1 to 1,024 characters. Secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  payload: pulumi.Input<string | pulumi.Inputs>;
  /** JSONPath to the token in the response, such as `$.accessToken`. 1 to 1,024 characters. Source: vendor's description of the interface. */
  accessTokenPath: pulumi.Input<string>;
}

/**
 * How the service obtains a token for the callback. The service reuses the token until the callback responds with 401.
 * The members of {@link AuthenticationOauth2Args}, with their values in the service.
 */
export interface AuthenticationOauth2 {
  /** URL of the token request. 1 to 255 characters. Absolute http or https URL, without user name or password. Source: vendor's description of the interface. */
  readonly tokenRequestUrl: string;
  /** HTTP method of the token request. Source: vendor's description of the interface. */
  readonly method: "POST" | "GET";
  /** Headers of the token request. 1 to 25 entries. Values are secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  readonly headers: Record<string, string>;
  /** Body of the token request: a string, or an object to send as JSON text. 1 to 1,024 characters. Secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  readonly payload: string;
  /** JSONPath to the token in the response, such as `$.accessToken`. 1 to 1,024 characters. Source: vendor's description of the interface. */
  readonly accessTokenPath: string;
}

interface AuthenticationArgsMembers extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the authentication. 1 to 1,023 characters. Source: vendor's description of the interface. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the authentication is in use. Default: `true`. Source: vendor's description of the interface. */
  active?: pulumi.Input<boolean> | undefined;
}

/** Arguments for an authentication: the method (Basic authentication or OAuth) and credentials that the service uses when it posts messages to a client application's callback. */
export type AuthenticationArgs = AuthenticationArgsMembers & (
  | {
      /** Authentication method. Derived from `basicAuth` or `oauth2` if omitted. Source: vendor's description of the interface. */
      type?: "basic" | undefined;
      /** Credentials for Basic authentication. Source: vendor's description of the interface. */
      basicAuth: pulumi.Input<AuthenticationBasicAuthArgs>;
      oauth2?: undefined;
    }
  | {
      /** Authentication method. Derived from `basicAuth` or `oauth2` if omitted. Source: vendor's description of the interface. */
      type?: "oauth2" | undefined;
      /** How the service obtains a token for the callback. The service reuses the token until the callback responds with 401. Source: vendor's description of the interface. */
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

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the authentication. 1 to 1,023 characters. Source: vendor's description of the interface. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the authentication is in use. Default: `true`. Source: vendor's description of the interface. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Authentication method. Derived from `basicAuth` or `oauth2` if omitted. Source: vendor's description of the interface. */
  declare readonly type: pulumi.Output<"basic" | "oauth2">;

  /** Credentials for Basic authentication. Source: vendor's description of the interface. */
  declare readonly basicAuth: pulumi.Output<AuthenticationBasicAuth | undefined>;

  /** How the service obtains a token for the callback. The service reuses the token until the callback responds with 401. Source: vendor's description of the interface. */
  declare readonly oauth2: pulumi.Output<AuthenticationOauth2 | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
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
  /** The role, which must be unique within the application. Source: vendor's description of the interface. */
  name: pulumi.Input<"customer" | "custom_bot" | "platform_bot" | "platform_agent" | "custom_agent" | "business_notification">;
  /** Format of the messages that the service posts to the callback. Source: vendor's description of the interface. */
  version: pulumi.Input<"v1" | "v3">;
  /** URL that the service posts messages to. 1 to 1,023 characters. Absolute http or https URL, without user name or password. Source: vendor's description of the interface. */
  callback: pulumi.Input<string>;
  /** Recipient to notify when the service cannot reach the callback. 1 to 255 characters. Email address. Source: vendor's description of the interface. */
  notificationEmail: pulumi.Input<string>;
  /** Headers that the service sends to the callback. 1 to 25 entries. Values are secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  headers?: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /** How the service authenticates to the callback. If omitted, the service sends no Authorization header. Source: vendor's description of the interface. */
  authentication?: pulumi.Input<string> | pulumi.Input<Authentication> | undefined;
}

/**
 * A role and its callback.
 * The members of {@link ClientApplicationRoleArgs}, with their values in the service.
 */
export interface ClientApplicationRole {
  /** The role, which must be unique within the application. Source: vendor's description of the interface. */
  readonly name: "customer" | "custom_bot" | "platform_bot" | "platform_agent" | "custom_agent" | "business_notification";
  /** Format of the messages that the service posts to the callback. Source: vendor's description of the interface. */
  readonly version: "v1" | "v3";
  /** URL that the service posts messages to. 1 to 1,023 characters. Absolute http or https URL, without user name or password. Source: vendor's description of the interface. */
  readonly callback: string;
  /** Recipient to notify when the service cannot reach the callback. 1 to 255 characters. Email address. Source: vendor's description of the interface. */
  readonly notificationEmail: string;
  /** Headers that the service sends to the callback. 1 to 25 entries. Values are secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  readonly headers?: Record<string, string>;
  /** How the service authenticates to the callback. If omitted, the service sends no Authorization header. Source: vendor's description of the interface. */
  readonly authentication?: string;
}

/** Arguments for a client application: an external application that sends and receives messages. */
export interface ClientApplicationArgs extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the client application. 1 to 1,023 characters. Source: vendor's description of the interface. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the client application is in use. Default: `true`. Source: vendor's description of the interface. */
  active?: pulumi.Input<boolean> | undefined;
  /** The application's roles, each with its own callback. 1 to 7 items. Source: vendor's description of the interface. */
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

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the client application. 1 to 1,023 characters. Source: vendor's description of the interface. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the client application is in use. Default: `true`. Source: vendor's description of the interface. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** The application's roles, each with its own callback. 1 to 7 items. Source: vendor's description of the interface. */
  declare readonly roles: pulumi.Output<(ClientApplicationRole)[]>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
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
  /** Internal value of the feature. 1 to 255 characters. Source: vendor's description of the interface. */
  value: pulumi.Input<string>;
  /** Display value of the feature. 1 to 255 characters. Source: vendor's description of the interface. */
  displayValue: pulumi.Input<string>;
}

/**
 * A bot feature.
 * The members of {@link ParticipantIntentArgs}, with their values in the service.
 */
export interface ParticipantIntent {
  /** Internal value of the feature. 1 to 255 characters. Source: vendor's description of the interface. */
  readonly value: string;
  /** Display value of the feature. 1 to 255 characters. Source: vendor's description of the interface. */
  readonly displayValue: string;
}

/** Arguments for a participant: a registered bot. A client application can have several participants. */
export interface ParticipantArgs extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the participant. 1 to 1,023 characters. Source: vendor's description of the interface. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the participant is in use. Default: `true`. Source: vendor's description of the interface. */
  active?: pulumi.Input<boolean> | undefined;
  /** Kind of bot. The platform's own bot product creates bots of type `platform_bot`. Source: vendor's description of the interface. */
  type: pulumi.Input<"custom_bot" | "platform_bot">;
  /** Client application whose callback receives this bot's messages. Source: vendor's description of the interface. */
  application: pulumi.Input<string> | pulumi.Input<ClientApplication>;
  /** The bot's features. 1 to 500 items. Source: vendor's description of the interface. */
  intents?: pulumi.Input<readonly (pulumi.Input<ParticipantIntentArgs>)[]> | undefined;
  /** Custom attributes. 1 to 25 entries. Source: vendor's description of the interface. */
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

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the participant. 1 to 1,023 characters. Source: vendor's description of the interface. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the participant is in use. Default: `true`. Source: vendor's description of the interface. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Kind of bot. The platform's own bot product creates bots of type `platform_bot`. Source: vendor's description of the interface. */
  declare readonly type: pulumi.Output<"custom_bot" | "platform_bot">;

  /** Client application whose callback receives this bot's messages. Source: vendor's description of the interface. */
  declare readonly application: pulumi.Output<string>;

  /** The bot's features. 1 to 500 items. Source: vendor's description of the interface. */
  declare readonly intents: pulumi.Output<(ParticipantIntent)[] | undefined>;

  /** Custom attributes. 1 to 25 entries. Source: vendor's description of the interface. */
  declare readonly options: pulumi.Output<Record<string, string> | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
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
  /** Whether attachments are allowed. Default: `true`. Source: vendor's description of the interface. */
  enabled?: pulumi.Input<boolean> | undefined;
  /** Maximum size of an attachment, in bytes. Whole number, 1 to 10,485,760. Default: `10485760`. Source: vendor's description of the interface. */
  maxSize?: pulumi.Input<number> | undefined;
  /** Whether `extensions` lists allowed or blocked extensions. Source: vendor's description of the interface. */
  type?: pulumi.Input<"allow" | "block"> | undefined;
  /** File extensions without the dot. 1 to 75 items. Source: vendor's description of the interface. */
  extensions?: pulumi.Input<readonly (pulumi.Input<string>)[]> | undefined;
}

/**
 * Restrictions on attachments.
 * The members of {@link ChannelAttachmentPolicyArgs}, with their values in the service.
 */
export interface ChannelAttachmentPolicy {
  /** Whether attachments are allowed. Default: `true`. Source: vendor's description of the interface. */
  readonly enabled?: boolean;
  /** Maximum size of an attachment, in bytes. Whole number, 1 to 10,485,760. Default: `10485760`. Source: vendor's description of the interface. */
  readonly maxSize?: number;
  /** Whether `extensions` lists allowed or blocked extensions. Source: vendor's description of the interface. */
  readonly type?: "allow" | "block";
  /** File extensions without the dot. 1 to 75 items. Source: vendor's description of the interface. */
  readonly extensions?: (string)[];
}

/** Restrictions on messages from the customer. */
export interface ChannelInboundArgs {
  /** Maximum length of a text message, in characters. Whole number, 1 to 10,000. Default: `10000`. Source: vendor's description of the interface. */
  maxTextLength?: pulumi.Input<number> | undefined;
  /** Restrictions on attachments. Source: vendor's description of the interface. */
  attachmentPolicy?: pulumi.Input<ChannelAttachmentPolicyArgs> | undefined;
  /** What messages from the customer may contain. If omitted, everything. 1 to 4 items. Source: vendor's description of the interface. */
  features?: pulumi.Input<readonly (pulumi.Input<"typing_events" | "attachments" | "richText" | "delivery_receipts">)[]> | undefined;
}

/**
 * Restrictions on messages from the customer.
 * The members of {@link ChannelInboundArgs}, with their values in the service.
 */
export interface ChannelInbound {
  /** Maximum length of a text message, in characters. Whole number, 1 to 10,000. Default: `10000`. Source: vendor's description of the interface. */
  readonly maxTextLength?: number;
  /** Restrictions on attachments. Source: vendor's description of the interface. */
  readonly attachmentPolicy?: ChannelAttachmentPolicy;
  /** What messages from the customer may contain. If omitted, everything. 1 to 4 items. Source: vendor's description of the interface. */
  readonly features?: ("typing_events" | "attachments" | "richText" | "delivery_receipts")[];
}

/** Limits messages to a time after the customer's last message. */
export interface ChannelCustomerServiceWindowArgs {
  /** Length of the window, in minutes. Whole number, 1 to 10,080. Source: vendor's description of the interface. */
  durationMinutes: pulumi.Input<number>;
  /** Types of rich messages that may be sent after the window has closed. Source: vendor's description of the interface. */
  continueMessageTypes?: pulumi.Input<readonly (pulumi.Input<"listpicker" | "timepicker" | "richlink" | "quickreply" | "template" | "form" | "authentication" | "payment" | "app">)[]> | undefined;
}

/**
 * Limits messages to a time after the customer's last message.
 * The members of {@link ChannelCustomerServiceWindowArgs}, with their values in the service.
 */
export interface ChannelCustomerServiceWindow {
  /** Length of the window, in minutes. Whole number, 1 to 10,080. Source: vendor's description of the interface. */
  readonly durationMinutes: number;
  /** Types of rich messages that may be sent after the window has closed. Source: vendor's description of the interface. */
  readonly continueMessageTypes?: ("listpicker" | "timepicker" | "richlink" | "quickreply" | "template" | "form" | "authentication" | "payment" | "app")[];
}

/** Restrictions on messages to the customer. */
export interface ChannelOutboundArgs {
  /** Maximum length of a text message, in characters. Whole number, 1 to 10,000. Default: `10000`. Source: vendor's description of the interface. */
  maxTextLength?: pulumi.Input<number> | undefined;
  /** Restrictions on attachments. Source: vendor's description of the interface. */
  attachmentPolicy?: pulumi.Input<ChannelAttachmentPolicyArgs> | undefined;
  /** What messages to the customer may contain. If omitted, nothing but text. The vendor allows four words, but at most three of them. 1 to 3 items. Source: vendor's description of the interface. */
  features?: pulumi.Input<readonly (pulumi.Input<"typing_events" | "attachments" | "richText" | "delivery_receipts">)[]> | undefined;
  /** Whether the service sends system messages. Default: `false`. Source: vendor's description of the interface. */
  systemMessages?: pulumi.Input<boolean> | undefined;
  /** Whether a customer can log in during a conversation. Default: `false`. Source: vendor's description of the interface. */
  midChatAuth?: pulumi.Input<boolean> | undefined;
  /** Types of rich messages that the channel can show, without the `richMessage.` prefix. If omitted, none. 1 to 9 items. Source: vendor's description of the interface. */
  richMessageTypes?: pulumi.Input<readonly (pulumi.Input<"listpicker" | "timepicker" | "richlink" | "quickreply" | "template" | "form" | "authentication" | "payment" | "app">)[]> | undefined;
  /** Limits messages to a time after the customer's last message. Source: vendor's description of the interface. */
  customerServiceWindow?: pulumi.Input<ChannelCustomerServiceWindowArgs> | undefined;
}

/**
 * Restrictions on messages to the customer.
 * The members of {@link ChannelOutboundArgs}, with their values in the service.
 */
export interface ChannelOutbound {
  /** Maximum length of a text message, in characters. Whole number, 1 to 10,000. Default: `10000`. Source: vendor's description of the interface. */
  readonly maxTextLength?: number;
  /** Restrictions on attachments. Source: vendor's description of the interface. */
  readonly attachmentPolicy?: ChannelAttachmentPolicy;
  /** What messages to the customer may contain. If omitted, nothing but text. The vendor allows four words, but at most three of them. 1 to 3 items. Source: vendor's description of the interface. */
  readonly features?: ("typing_events" | "attachments" | "richText" | "delivery_receipts")[];
  /** Whether the service sends system messages. Default: `false`. Source: vendor's description of the interface. */
  readonly systemMessages?: boolean;
  /** Whether a customer can log in during a conversation. Default: `false`. Source: vendor's description of the interface. */
  readonly midChatAuth?: boolean;
  /** Types of rich messages that the channel can show, without the `richMessage.` prefix. If omitted, none. 1 to 9 items. Source: vendor's description of the interface. */
  readonly richMessageTypes?: ("listpicker" | "timepicker" | "richlink" | "quickreply" | "template" | "form" | "authentication" | "payment" | "app")[];
  /** Limits messages to a time after the customer's last message. Source: vendor's description of the interface. */
  readonly customerServiceWindow?: ChannelCustomerServiceWindow;
}

/** Restrictions on the messages that the channel transports. */
export interface ChannelRestrictionsArgs {
  /** Restrictions on messages from the customer. Source: vendor's description of the interface. */
  inbound?: pulumi.Input<ChannelInboundArgs> | undefined;
  /** Restrictions on messages to the customer. Source: vendor's description of the interface. */
  outbound?: pulumi.Input<ChannelOutboundArgs> | undefined;
}

/**
 * Restrictions on the messages that the channel transports.
 * The members of {@link ChannelRestrictionsArgs}, with their values in the service.
 */
export interface ChannelRestrictions {
  /** Restrictions on messages from the customer. Source: vendor's description of the interface. */
  readonly inbound?: ChannelInbound;
  /** Restrictions on messages to the customer. Source: vendor's description of the interface. */
  readonly outbound?: ChannelOutbound;
}

/** Arguments for a channel: a transport for chat messages, and its parameters. */
export interface ChannelArgs extends CommonArgs {
  /** The channel's identifier at run time, such as `custom.teams` for a custom channel. If you change it, lookups by the old type fail. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  type: pulumi.Input<string>;
  /** Display name. 1 to 255 characters. Source: vendor's description of the interface. */
  displayName: pulumi.Input<string>;
  /** Icon image. Must be a 32 × 32 pixel PNG if the platform's own agent desktop shows it. 1 to 512,000 characters. Base64 text, or a file: `new pulumi.asset.FileAsset("icon.png")`. Source: vendor's description of the interface. */
  icon: pulumi.Input<string> | pulumi.asset.FileAsset;
  /** Purpose of the channel. 1 to 1,023 characters. Source: vendor's description of the interface. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the channel is in use. Default: `true`. Source: vendor's description of the interface. */
  active?: pulumi.Input<boolean> | undefined;
  /** Restrictions on the messages that the channel transports. Source: vendor's description of the interface. */
  restrictions?: pulumi.Input<ChannelRestrictionsArgs> | undefined;
  /** System text, grouped by language (such as `en-US`) and then by key (such as `msg_hub_off_hours`). 1 to 25 entries. Keys: en-US, es-ES, fr-FR, it-IT, de-DE, nl-NL, pt-BR, pt-PT, da-DK, ru-RU, fr-CA, zh-CN, ja-JP, ko-KR, sv-SE. Source: vendor's description of the interface. */
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
 *       features: [
 *         "typing_events",
 *         "attachments",
 *         "richText"
 *       ],
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

  /** The channel's identifier at run time, such as `custom.teams` for a custom channel. If you change it, lookups by the old type fail. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  declare readonly type: pulumi.Output<string>;

  /** Display name. 1 to 255 characters. Source: vendor's description of the interface. */
  declare readonly displayName: pulumi.Output<string>;

  /** Icon image. Must be a 32 × 32 pixel PNG if the platform's own agent desktop shows it. 1 to 512,000 characters. Base64 text, or a file: `new pulumi.asset.FileAsset("icon.png")`. Source: vendor's description of the interface. */
  declare readonly icon: pulumi.Output<string>;

  /** Purpose of the channel. 1 to 1,023 characters. Source: vendor's description of the interface. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the channel is in use. Default: `true`. Source: vendor's description of the interface. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Restrictions on the messages that the channel transports. Source: vendor's description of the interface. */
  declare readonly restrictions: pulumi.Output<ChannelRestrictions | undefined>;

  /** System text, grouped by language (such as `en-US`) and then by key (such as `msg_hub_off_hours`). 1 to 25 entries. Keys: en-US, es-ES, fr-FR, it-IT, de-DE, nl-NL, pt-BR, pt-PT, da-DK, ru-RU, fr-CA, zh-CN, ja-JP, ko-KR, sv-SE. Source: vendor's description of the interface. */
  declare readonly l10nProperties: pulumi.Output<Record<string, Record<string, string>> | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
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
  /** Client application that receives the conversation after the escalation. Source: vendor's description of the interface. */
  agent: pulumi.Input<string> | pulumi.Input<ClientApplication>;
}

/**
 * What happens when the bot escalates.
 * The members of {@link OrchestrationOnEscalationArgs}, with their values in the service.
 */
export interface OrchestrationOnEscalation {
  /** Client application that receives the conversation after the escalation. Source: vendor's description of the interface. */
  readonly agent: string;
}

/** A bot, and the agents who take over from it. */
export interface OrchestrationBotArgs {
  /** The bot's client application. Source: vendor's description of the interface. */
  application: pulumi.Input<string> | pulumi.Input<ClientApplication>;
  /** The bot's participant. Source: vendor's description of the interface. */
  participant: pulumi.Input<string> | pulumi.Input<Participant>;
  /** What happens when the bot escalates. Source: vendor's description of the interface. */
  onEscalation?: pulumi.Input<OrchestrationOnEscalationArgs> | undefined;
}

/**
 * A bot, and the agents who take over from it.
 * The members of {@link OrchestrationBotArgs}, with their values in the service.
 */
export interface OrchestrationBot {
  /** The bot's client application. Source: vendor's description of the interface. */
  readonly application: string;
  /** The bot's participant. Source: vendor's description of the interface. */
  readonly participant: string;
  /** What happens when the bot escalates. Source: vendor's description of the interface. */
  readonly onEscalation?: OrchestrationOnEscalation;
}

/** Settings for the bot, which answers first. */
export interface OrchestrationBotConfigurationArgs {
  /** Whether to pass the transcript to an agent if the bot did not escalate and the customer is known. Default: `true`. Source: vendor's description of the interface. */
  forwardTranscript?: pulumi.Input<boolean> | undefined;
  /** Number of minutes within which a returning customer's conversation skips the bot and goes to the agent. 1 to 10,080. Source: vendor's description of the interface. */
  bypassVaDuration?: pulumi.Input<number> | undefined;
  /** The bot: a list of exactly one. 1 to 1 items. Source: vendor's description of the interface. */
  bots: pulumi.Input<readonly (pulumi.Input<OrchestrationBotArgs>)[]>;
}

/**
 * Settings for the bot, which answers first.
 * The members of {@link OrchestrationBotConfigurationArgs}, with their values in the service.
 */
export interface OrchestrationBotConfiguration {
  /** Whether to pass the transcript to an agent if the bot did not escalate and the customer is known. Default: `true`. Source: vendor's description of the interface. */
  readonly forwardTranscript?: boolean;
  /** Number of minutes within which a returning customer's conversation skips the bot and goes to the agent. 1 to 10,080. Source: vendor's description of the interface. */
  readonly bypassVaDuration?: number;
  /** The bot: a list of exactly one. 1 to 1 items. Source: vendor's description of the interface. */
  readonly bots: (OrchestrationBot)[];
}

/** The customer's client application; required for custom channels. */
export interface OrchestrationCustomerConfigurationArgs {
  /** Client application that receives the replies to the customer. Source: vendor's description of the interface. */
  customer: pulumi.Input<string> | pulumi.Input<ClientApplication>;
}

/**
 * The customer's client application; required for custom channels.
 * The members of {@link OrchestrationCustomerConfigurationArgs}, with their values in the service.
 */
export interface OrchestrationCustomerConfiguration {
  /** Client application that receives the replies to the customer. Source: vendor's description of the interface. */
  readonly customer: string;
}

/** The agents. */
export interface OrchestrationAgentConfigurationArgs {
  /** The agents' client application: a list of exactly one. 1 to 1 items. Source: vendor's description of the interface. */
  agents: pulumi.Input<readonly (pulumi.Input<string> | pulumi.Input<ClientApplication>)[]>;
}

/**
 * The agents.
 * The members of {@link OrchestrationAgentConfigurationArgs}, with their values in the service.
 */
export interface OrchestrationAgentConfiguration {
  /** The agents' client application: a list of exactly one. 1 to 1 items. Source: vendor's description of the interface. */
  readonly agents: (string)[];
}

interface OrchestrationApplicationsArgsMembers {
  /** Settings for the bot, which answers first. Source: vendor's description of the interface. */
  botConfiguration?: pulumi.Input<OrchestrationBotConfigurationArgs> | undefined;
  /** The customer's client application; required for custom channels. Source: vendor's description of the interface. */
  customerConfiguration?: pulumi.Input<OrchestrationCustomerConfigurationArgs> | undefined;
  /** The agents. Source: vendor's description of the interface. */
  agentConfiguration?: pulumi.Input<OrchestrationAgentConfigurationArgs> | undefined;
}

/** The parties to a conversation. */
export type OrchestrationApplicationsArgs = OrchestrationApplicationsArgsMembers & (
  | {
      /** Settings for the bot, which answers first. Source: vendor's description of the interface. */
      botConfiguration: pulumi.Input<OrchestrationBotConfigurationArgs>;
    }
  | {
      /** The agents. Source: vendor's description of the interface. */
      agentConfiguration: pulumi.Input<OrchestrationAgentConfigurationArgs>;
    }
);

/**
 * The parties to a conversation.
 * The members of {@link OrchestrationApplicationsArgs}, with their values in the service.
 */
export interface OrchestrationApplications {
  /** Settings for the bot, which answers first. Source: vendor's description of the interface. */
  readonly botConfiguration?: OrchestrationBotConfiguration;
  /** The customer's client application; required for custom channels. Source: vendor's description of the interface. */
  readonly customerConfiguration?: OrchestrationCustomerConfiguration;
  /** The agents. Source: vendor's description of the interface. */
  readonly agentConfiguration?: OrchestrationAgentConfiguration;
}

/** Arguments for an orchestration: how a conversation moves between the customer, the bot, and the agents. */
export interface OrchestrationArgs extends CommonArgs {
  /** Name, which need not be unique; derived from the logical name if omitted. Source: vendor's description of the interface. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the orchestration. 1 to 1,023 characters. Source: vendor's description of the interface. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the orchestration is in use. Default: `true`. Source: vendor's description of the interface. */
  active?: pulumi.Input<boolean> | undefined;
  /** The parties to a conversation. Source: vendor's description of the interface. */
  applications: pulumi.Input<OrchestrationApplicationsArgs>;
}

/**
 * How a conversation moves between the customer, the bot, and the agents.
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

  /** Name, which need not be unique; derived from the logical name if omitted. Source: vendor's description of the interface. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the orchestration. 1 to 1,023 characters. Source: vendor's description of the interface. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the orchestration is in use. Default: `true`. Source: vendor's description of the interface. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** The parties to a conversation. Source: vendor's description of the interface. */
  declare readonly applications: pulumi.Output<OrchestrationApplications>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
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
  /** Time within which a returning customer's conversation joins the same case. The vendor does not state the unit; the range is that of minutes in a week. 1 to 10,080. Source: vendor's description of the interface. */
  sameCaseDuration?: pulumi.Input<number> | undefined;
  /** Whether to copy custom attributes from the earlier conversation. Applies only if the orchestration sets `bypassVaDuration`. Source: vendor's description of the interface. */
  copyCustomAttributes?: pulumi.Input<boolean> | undefined;
}

/**
 * How conversations are assigned to cases.
 * The members of {@link AccountCaseManagementArgs}, with their values in the service.
 */
export interface AccountCaseManagement {
  /** Time within which a returning customer's conversation joins the same case. The vendor does not state the unit; the range is that of minutes in a week. 1 to 10,080. Source: vendor's description of the interface. */
  readonly sameCaseDuration?: number;
  /** Whether to copy custom attributes from the earlier conversation. Applies only if the orchestration sets `bypassVaDuration`. Source: vendor's description of the interface. */
  readonly copyCustomAttributes?: boolean;
}

/** Settings for the account's conversations. */
export interface AccountChatConfigurationsArgs {
  /** Idle time, in minutes, after which the customer must start a new conversation. 3 to 10,080. Default: `240`. Source: vendor's description of the interface. */
  timeout?: pulumi.Input<number> | undefined;
  /** Default language, such as `en-US`. Default: `en-US`. Source: vendor's description of the interface. */
  defaultLanguage?: pulumi.Input<string> | undefined;
  /** Whether to answer with the off-hours text if no agent is available, or hold the message until one is. Default: `off_hours`. Source: vendor's description of the interface. */
  onAgentUnavailability?: pulumi.Input<"off_hours" | "retain_and_retry"> | undefined;
  /** Whether agents may log out while chats are open. Default: `false`. Source: vendor's description of the interface. */
  allowLogoutWithOpenChats?: pulumi.Input<boolean> | undefined;
  /** Whether agents may return messages to the queue when no agent is available. Default: `false`. Source: vendor's description of the interface. */
  allowQueueTransferOnAgentUnavailability?: pulumi.Input<boolean> | undefined;
  /** Orchestration for the account's conversations. Source: vendor's description of the interface. */
  orchestration: pulumi.Input<string> | pulumi.Input<Orchestration>;
  /** ID of the entry point, which belongs to another product area. Usually numeric, such as `1007`. 1 to 255 characters. Source: vendor's description of the interface. */
  entryPoint: pulumi.Input<string>;
}

/**
 * Settings for the account's conversations.
 * The members of {@link AccountChatConfigurationsArgs}, with their values in the service.
 */
export interface AccountChatConfigurations {
  /** Idle time, in minutes, after which the customer must start a new conversation. 3 to 10,080. Default: `240`. Source: vendor's description of the interface. */
  readonly timeout?: number;
  /** Default language, such as `en-US`. Default: `en-US`. Source: vendor's description of the interface. */
  readonly defaultLanguage?: string;
  /** Whether to answer with the off-hours text if no agent is available, or hold the message until one is. Default: `off_hours`. Source: vendor's description of the interface. */
  readonly onAgentUnavailability?: "off_hours" | "retain_and_retry";
  /** Whether agents may log out while chats are open. Default: `false`. Source: vendor's description of the interface. */
  readonly allowLogoutWithOpenChats?: boolean;
  /** Whether agents may return messages to the queue when no agent is available. Default: `false`. Source: vendor's description of the interface. */
  readonly allowQueueTransferOnAgentUnavailability?: boolean;
  /** Orchestration for the account's conversations. Source: vendor's description of the interface. */
  readonly orchestration: string;
  /** ID of the entry point, which belongs to another product area. Usually numeric, such as `1007`. 1 to 255 characters. Source: vendor's description of the interface. */
  readonly entryPoint: string;
}

/** Arguments for an account: a channel and an orchestration, connected under one address. */
export interface AccountArgs extends CommonArgs {
  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  name?: pulumi.Input<string> | undefined;
  /** Purpose of the account. 1 to 1,023 characters. Source: vendor's description of the interface. */
  description?: pulumi.Input<string> | undefined;
  /** Whether the account is in use. Default: `true`. Source: vendor's description of the interface. */
  active?: pulumi.Input<boolean> | undefined;
  /** Business address on the channel: a phone number, email address, or page ID. If you change it, lookups by the old address fail. 1 to 255 characters. Source: vendor's description of the interface. */
  address: pulumi.Input<string>;
  /** The account's channel. Source: vendor's description of the interface. */
  channel: pulumi.Input<string> | pulumi.Input<Channel>;
  /** How conversations are assigned to cases. Source: vendor's description of the interface. */
  caseManagement?: pulumi.Input<AccountCaseManagementArgs> | undefined;
  /** Settings for the account's conversations. Source: vendor's description of the interface. */
  chatConfigurations: pulumi.Input<AccountChatConfigurationsArgs>;
  /** Additional attributes, which may include credentials for a provider. 1 to 10 entries. Values are secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
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

  /** Name; derived from the logical name if omitted. 1 to 255 characters. Unique. Source: vendor's description of the interface. */
  declare readonly name: pulumi.Output<string>;

  /** Purpose of the account. 1 to 1,023 characters. Source: vendor's description of the interface. */
  declare readonly description: pulumi.Output<string | undefined>;

  /** Whether the account is in use. Default: `true`. Source: vendor's description of the interface. */
  declare readonly active: pulumi.Output<boolean | undefined>;

  /** Business address on the channel: a phone number, email address, or page ID. If you change it, lookups by the old address fail. 1 to 255 characters. Source: vendor's description of the interface. */
  declare readonly address: pulumi.Output<string>;

  /** The account's channel. Source: vendor's description of the interface. */
  declare readonly channel: pulumi.Output<string>;

  /** How conversations are assigned to cases. Source: vendor's description of the interface. */
  declare readonly caseManagement: pulumi.Output<AccountCaseManagement | undefined>;

  /** Settings for the account's conversations. Source: vendor's description of the interface. */
  declare readonly chatConfigurations: pulumi.Output<AccountChatConfigurations>;

  /** Additional attributes, which may include credentials for a provider. 1 to 10 entries. Values are secret: encrypted in the state, never shown. Source: vendor's description of the interface. */
  declare readonly attributes: pulumi.Output<Record<string, string> | undefined>;

  /** When the service created the object, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
  declare readonly created: pulumi.Output<string | undefined>;

  /** When the object was last changed, in ISO 8601 format: GMT, with milliseconds. Set by the service. If the response to the write omits the time, the response's own time is used. Source: vendor's description of the interface. */
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
