import { HttpError } from "../http/response.js";
import type { TokenClaims } from "./tokens.js";

/** Scopes by their label in the specification (§4, §5.1). */
export const scopesByLabel = {
  M: "app.conversation.conversationmgr.manage",
  R: "app.conversation.conversationmgr.read",
  IM: "app.conversation.conversationmgr.interaction.manage",
  IR: "app.conversation.conversationmgr.interaction.read",
} as const;

export type ScopeLabel = keyof typeof scopesByLabel;

/**
 * Whether a call may be made with these claims.
 *
 * @param labels any one of these scopes is enough
 * @throws HttpError where it may not
 */
export const assertScope = ({ subject, scopes }: TokenClaims, labels: readonly ScopeLabel[]) => {
  if (subject !== "client")
    throw new HttpError(403, "403-112", "Users may not call this operation; it is for servers.");
  const enough = labels.map((label) => scopesByLabel[label]);
  if (!enough.some((scope) => scopes.includes(scope)))
    throw new HttpError(403, "403-197", `The token lacks the scope ${enough.join(" or ")}.`);
};
