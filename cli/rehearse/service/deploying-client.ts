import { isConversationError } from "../../../provider/kernel/errors.js";
import { nearestHint, quoted } from "../../../provider/kernel/text.js";
import {
  defaultScopes,
  endpointName,
  isScope,
  type Scope,
  scopes as serviceScopes,
  setUpOperation,
} from "../../../provider/service/http/operations.js";
import type { KindReading } from "../../account/read-account.js";
import { CommandFailure } from "../../command.js";
import type { TenantReading } from "./tenant-reading.js";

/** As much of a tenant as tells what its client may do. */
export type ClientReading = Pick<TenantReading, "scopes" | "settings"> & {
  readonly account: {
    readonly kinds: readonly Pick<KindReading, "definition" | "error">[];
  };
};

/** The client with which the run will take place, which may be another one than that which reads. */
export interface DeployingClient {
  readonly scopes: readonly string[];
  /** Whether it is another one: what the client that reads is refused for its scopes does not bind it. */
  readonly isOther: boolean;
  /** What had to be assumed, and how to say it: a sentence. */
  readonly assumed?: string;
}

const prefix = "app.conversation.conversationmgr.";

const shortNames = defaultScopes.map((scope) => scope.slice(prefix.length));

const scopeOf = (word: string): Scope => {
  const found = defaultScopes.find((scope) => scope === word || scope === prefix + word);
  if (found) return found;
  throw new CommandFailure(
    `--as-scopes: the service has no scope ${quoted(word)}, only ${shortNames.join(", ")} (or in full, ${serviceScopes.manage} and so on)${nearestHint(word, shortNames)}`,
    2,
  );
};

/**
 * The scopes that a person names, separated by blanks or commas, with or without what they all begin with.
 *
 * @throws CommandFailure where the service has no such scope, or none is named
 */
export const parseScopes = (text: string): readonly Scope[] => {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return [...new Set((words.length > 0 ? words : [""]).map(scopeOf))];
};

const listScopes = ({ definition }: Pick<KindReading, "definition">): readonly Scope[] =>
  setUpOperation(definition, "list").scopes;

const isForbidden = ({ error }: Pick<KindReading, "error">): boolean =>
  isConversationError(error, "FORBIDDEN");

const allows = (scopes: readonly string[], kind: Pick<KindReading, "definition">): boolean =>
  listScopes(kind).some((scope) => scopes.includes(scope));

/** Without the scopes that would have given a list which was refused, if that explains the other lists, too. */
const withoutRefused = (
  scopes: readonly string[],
  { account: { kinds } }: ClientReading,
): readonly string[] => {
  const refused = new Set<string>(kinds.filter(isForbidden).flatMap(listScopes));
  const left = scopes.filter((scope) => !refused.has(scope));
  return kinds.every((kind) => kind.error !== undefined || allows(left, kind)) ? left : scopes;
};

/**
 * The scopes of the token that was used for reading: as the token address tells them in words of the
 * specification, else those that were asked for, as far as no answer shows that they were not granted.
 */
export const scopesInUse = (reading: ClientReading): readonly string[] => {
  const { scopes, settings } = reading;
  if (scopes?.some(isScope)) return scopes;
  const asked = settings.scope.split(" ");
  return withoutRefused(asked.some(isScope) ? asked : defaultScopes, reading);
};

const assumption = (reading: ClientReading, scopes: readonly string[]): string => {
  const refused = reading.account.kinds.find((kind) => isForbidden(kind) && !allows(scopes, kind));
  const why =
    reading.scopes?.some(isScope) || !refused
      ? `has only ${scopes.join(", ")}`
      : `may only read, as ${endpointName(setUpOperation(refused.definition, "list"))} was refused`;
  const { profile } = reading.settings;
  const whose = profile === undefined ? "of these settings" : `of profile ${profile}`;
  return `The client ${whose} ${why}, so it is assumed that another one deploys, with all scopes of the service; say which it has with --as-scopes.`;
};

/**
 * The client that will deploy: with the scopes that are given, else the one that reads. Where that may
 * change nothing, it is not the one that deploys.
 */
export const deployingClient = (
  reading: ClientReading,
  given?: readonly string[],
): DeployingClient => {
  if (given) return { scopes: given, isOther: true };
  const scopes = scopesInUse(reading);
  if (scopes.includes(serviceScopes.manage)) return { scopes, isOther: false };
  return { scopes: defaultScopes, isOther: true, assumed: assumption(reading, scopes) };
};

/**
 * The kinds whose lists the deploying client will be refused, too: those that were refused, but for those
 * that only the client that reads lacks the scope for.
 */
export const refusedLists = (
  reading: Pick<TenantReading, "scopes" | "settings" | "account">,
  { scopes, isOther }: DeployingClient,
): readonly KindReading[] => {
  const inUse = scopesInUse(reading);
  return reading.account.kinds.filter((kind) => {
    if (kind.error === undefined) return false;
    return !(isOther && isForbidden(kind) && !allows(inUse, kind) && allows(scopes, kind));
  });
};
