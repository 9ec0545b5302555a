import { ConversationError } from "../../kernel/errors.js";
import { quoted } from "../redaction/quoted.js";

const profileName = /^[A-Za-z][A-Za-z0-9_-]*$/;

/**
 * Refuses what cannot be the name of a profile.
 *
 * @throws ConversationError `SETTINGS_INVALID`
 */
export const assertProfile = (profile: string | undefined): void => {
  if (profile === undefined || (profile.length <= 64 && profileName.test(profile))) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `${quoted(profile)} cannot be the name of a profile: use up to 64 letters, digits, "_" and "-", starting with a letter.`,
  );
};

/**
 * How the environment variables of a profile begin, such as `CONVERSATION_MY_EU_`; without a profile
 * `CONVERSATION_`.
 */
export const profilePrefix = (profile?: string): string => {
  assertProfile(profile);
  const word = profile === undefined ? "" : `${profile.toUpperCase().replaceAll("-", "_")}_`;
  return `CONVERSATION_${word}`;
};

/**
 * Refuses a profile whose environment variables are those of another one, such as `my-eu` beside
 * `my_eu`: each would silently take the other's account.
 *
 * @param others profiles already in use; the same name among them does no harm
 * @throws ConversationError `SETTINGS_INVALID` naming both
 */
export const assertDistinctProfiles = (
  profile: string | undefined,
  others: Iterable<string | undefined>,
): void => {
  const prefix = profilePrefix(profile);
  const twin = [...others].find((other) => other !== profile && profilePrefix(other) === prefix);
  if (twin === undefined) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `The profiles ${JSON.stringify(twin)} and ${JSON.stringify(profile)} would both be read from ${prefix}BASE_URL and so on. Nothing was sent. Give one of them a name that differs in more than upper and lower case, "-" and "_".`,
  );
};
