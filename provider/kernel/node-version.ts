import { ConversationError } from "./errors.js";

/**
 * The first Node.js version with everything that the package needs, as in `engines` in
 * package.json.
 */
export const leastNode = "22.19";

const numbersOf = (version: string): readonly number[] => version.split(".").map(Number);

const isOlder = (version: string): boolean => {
  const [major = 0, minor = 0] = numbersOf(version);
  const [leastMajor = 0, leastMinor = 0] = numbersOf(leastNode);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
};

/**
 * Rejects a Node.js version that is too old, before it causes an obscure error. Must load and run
 * on old versions, so it imports nothing that they lack.
 *
 * @throws ConversationError `SETTINGS_INVALID`
 */
export const assertNode = (version: string = process.versions.node): void => {
  if (!isOlder(version)) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `pulumi-conversation needs Node.js ${leastNode} or later; this program runs on Node.js ${version}. Install a newer version of Node.js (https://nodejs.org), then try again.`,
  );
};
