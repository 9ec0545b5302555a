import { ConversationError } from "../kernel/errors.js";
import { jsonIn } from "../kernel/json.js";
import type { Settings } from "../service/setting-table.js";

/** Names the only URLs that a run on a copy of a stack may call: a JSON array of prefixes. */
export const addressesVariable = "PULUMI_CONVERSATION_ADDRESSES";

const isBelow = (address: string, starts: readonly unknown[]): boolean =>
  starts.some((start) => typeof start === "string" && address.startsWith(`${start}/`));

/**
 * Prevents a run on a copy of a stack from calling any account except the copied ones: a program or
 * a state may give a provider its own URLs, which take precedence over the environment.
 *
 * @throws ConversationError `SETTINGS_INVALID` if the run uses a copy of a stack and the URL is not
 * that of a copy
 */
export const assertRehearsedAddress = ({
  baseUrl,
  tokenUrl,
}: Pick<Settings, "baseUrl" | "tokenUrl">): void => {
  const given = process.env[addressesVariable];
  if (given === undefined) return;
  const parsed = jsonIn(given);
  const starts = Array.isArray(parsed) ? parsed : [];
  const wrong = Object.entries({ baseUrl, tokenUrl }).flatMap(([key, address]) =>
    isBelow(address, starts) ? [] : [key],
  );
  if (wrong.length === 0) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `Could not use ${wrong.join(" and ")} of a provider: this rehearsal would call a real account. Nothing was sent. A rehearsal can replace only accounts whose settings come from the environment or the stack's configuration: remove baseUrl and tokenUrl from the provider's arguments.`,
  );
};
