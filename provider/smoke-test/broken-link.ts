import { ConversationError, isConversationError } from "../kernel/errors.js";

/** What was found out before a link turned out to be broken. */
export interface ChainFindings {
  /** Links that hold, with kind, name and id. */
  readonly sound: string[];
  /** What may be wrong, but need not be: it speaks only when the test fails. */
  readonly doubts: string[];
}

export const noChainFindings = (): ChainFindings => ({ sound: [], doubts: [] });

const soundText = ({ sound }: ChainFindings): string =>
  sound.length > 0 ? ` Sound before it: ${sound.join(", ")}.` : "";

const doubtText = ({ doubts }: ChainFindings): string =>
  doubts.length > 0 ? ` It may also matter that ${doubts.join("; that ")}.` : "";

/**
 * The failure of a test.
 *
 * @param link the kind of the object that is wrong, or `sign-in`, `message`, `delivery`, `callback
 * address`, `probe`
 * @param what what is wrong with it, and what to do, in whole sentences
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
