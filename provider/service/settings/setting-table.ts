import { defaultScopes } from "../http/operations.js";
import type { Plan } from "./plans.js";
import {
  baseAddress,
  fraction,
  lowerCaseWord,
  oneOf,
  type Parsed,
  plan,
  printableText,
  redisAddress,
  scopeList,
  tokenAddress,
  wholeNumber,
} from "./setting-rules.js";

/** Everything that a program or its surroundings configure. Rules and defaults: {@link settingTable}. */
export interface Settings {
  /** Base address without a trailing slash; ends with the version segment. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes asked for, separated by blanks. */
  readonly scope: string;
  /** Left out: not known. */
  readonly plan?: Plan;
  /** Calls allowed in a short spike. Left out: not known. */
  readonly burst?: number;
  /** Part of each rate limit that may be used: above 0, at most 1. */
  readonly share: number;
  readonly redisUrl?: string;
  /** The vendor's own word on the wire. */
  readonly platformName: string;
  readonly ownershipMark: "description" | "none";
  /** What this tenant's PUT does to members that it does not name. Left out: not known. */
  readonly put?: "keep" | "replace";
  /** File that `pulumi-conversation probe` wrote. Left out: nothing was found out. */
  readonly findings?: string;
  /** Name of the profile that these settings belong to. Left out: the default one. */
  readonly profile?: string;
}

export type SettingKey = Exclude<keyof Settings, "profile">;

/** One row of the table of settings. */
export interface SettingSpec<T> {
  /** Last part of the environment variable, such as `BASE_URL`. */
  readonly environment: string;
  readonly doc: string;
  readonly parse: (text: string) => Parsed<T>;
  readonly required?: true;
  /** Never shown; encrypted when kept in the stack's configuration. */
  readonly secret?: true;
  readonly default?: T;
}

type SettingTable = { readonly [K in SettingKey]: SettingSpec<NonNullable<Settings[K]>> };

/** Every setting, in the order in which docs and messages show them. */
export const settingTable: SettingTable = {
  baseUrl: {
    environment: "BASE_URL",
    doc: "Base address of the service. Ends with the version segment `v3`; `https:` except for this machine.",
    parse: baseAddress,
    required: true,
  },
  tokenUrl: {
    environment: "TOKEN_URL",
    doc: "Token address of the client-credentials grant; `https:` except for this machine.",
    parse: tokenAddress,
    required: true,
  },
  clientId: {
    environment: "CLIENT_ID",
    doc: "Identifier of the client application that calls the service.",
    parse: printableText,
    required: true,
  },
  clientSecret: {
    environment: "CLIENT_SECRET",
    doc: "Secret of the client application that calls the service.",
    parse: printableText,
    required: true,
    secret: true,
  },
  scope: {
    environment: "SCOPE",
    doc: "Scopes asked for, separated by blanks, or one address that ends in `.default`.",
    parse: scopeList,
    default: defaultScopes.join(" "),
  },
  plan: {
    environment: "PLAN",
    doc: "Plan of the tenant: `developer`, `basic` or `enterprise`, in any case. Sets the rate of each endpoint.",
    parse: plan,
  },
  burst: {
    environment: "BURST",
    doc: "Calls that an endpoint allows in a short spike, where it is known: a whole number of at least 1.",
    parse: wholeNumber,
  },
  share: {
    environment: "SHARE",
    doc: "Part of each rate limit that this tool may use: above 0, at most 1.",
    parse: fraction,
    default: 1,
  },
  redisUrl: {
    environment: "REDIS_URL",
    doc: "Redis through which processes and machines share the rate limits: `redis:` or `rediss:` address.",
    parse: redisAddress,
    // Such an address often carries a password.
    secret: true,
  },
  platformName: {
    environment: "PLATFORM_NAME",
    doc: "The vendor's own word that stands for `platform` in identifiers such as `platform_bot`.",
    parse: lowerCaseWord,
    default: "platform",
  },
  ownershipMark: {
    environment: "OWNERSHIP_MARK",
    doc: "Where an object keeps the mark of the stack that owns it: in its `description`, or nowhere (`none`).",
    parse: oneOf(["description", "none"]),
    default: "description",
  },
  put: {
    environment: "PUT",
    doc: "What this tenant's PUT does to members that it does not name: `keep` or `replace`. Left out: not known; a run then refuses where a PUT could erase something that the service hides.",
    parse: oneOf(["keep", "replace"]),
  },
  findings: {
    environment: "FINDINGS",
    doc: "File that `pulumi-conversation probe` wrote of this tenant: what is not given of `put`, `plan` and `burst` is taken from it.",
    parse: printableText,
  },
};
