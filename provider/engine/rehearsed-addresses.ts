import { ConversationError } from "../kernel/errors.js";
import { jsonIn } from "../kernel/json.js";
import type { Settings } from "../service/setting-table.js";

/** Names the only addresses that a run on a copy of a stack may call: JSON, an array of their starts. */
export const addressesVariable = "PULUMI_CONVERSATION_ADDRESSES";

const isBelow = (address: string, starts: readonly unknown[]): boolean =>
  starts.some((start) => typeof start === "string" && address.startsWith(`${start}/`));

/**
 * Keeps a run on a copy of a stack from every account but the copied ones: a program or a state may
 * give a provider an address of its own, which precedes the environment.
 *
 * @throws ConversationError `SETTINGS_INVALID` if the run is one on a copy and the address is not one of a copy
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
    `${wrong.join(" and ")} of a provider would lead this rehearsal to a real account, so nothing was sent there. A rehearsal can replace only accounts whose settings come from the environment or the stack's configuration: leave baseUrl and tokenUrl out of the provider's arguments.`,
  );
};
