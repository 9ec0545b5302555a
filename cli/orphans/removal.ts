import { isConversationError } from "../../provider/kernel/errors.js";
import type { Orphan } from "../../provider/lifecycle/ownership/orphans.js";
import { describeUser, usersOf } from "../../provider/lifecycle/ownership/users.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import { messageOf } from "../failure.js";

/** Why an object could not be deleted; a refusal names who still uses it. */
const reasonOf = async (
  error: unknown,
  { definition, id, mark }: Orphan,
  session: AccountSession,
): Promise<string> => {
  if (!isConversationError(error, "REJECTED", "FORBIDDEN")) return messageOf(error);
  const users = await usersOf(definition, id, session, resources);
  if (users.length === 0) return messageOf(error);
  const named = users.map((user) => describeUser(user, mark)).join("; ");
  return `the service refuses (${error.details.status ?? "no status"}), as it is used by ${named}`;
};

/** Deletes an object. @returns why it is still there; undefined: it is gone */
export const removeOrphan = async (
  orphan: Orphan,
  session: AccountSession,
): Promise<string | undefined> => {
  try {
    await session.service.remove(orphan.definition, orphan.id);
    return undefined;
  } catch (error) {
    return reasonOf(error, orphan, session);
  }
};
