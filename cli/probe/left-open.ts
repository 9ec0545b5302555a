import type { SwitchName } from "../../emulator/service/switches.js";
import { type Answers, stillOpen } from "./experiments/experiment.js";

const conversation = "only a conversation tells, and one cannot be removed again";

/** What no question settles, why not, and where it shows. */
const reasons = {
  runningConversationStatus: `${conversation}. Fetch one that goes on, and look at the status`,
  usedAssetStatus: `${conversation}. Delete an asset that was used in a message`,
  idleTimeout: `${conversation}. Answer in one that was idle for longer than the timeout of its account`,
  recipients: `${conversation}. See who gets a message where an orchestration names several bots`,
  inactiveObjects: `${conversation}. Start one over an account that is not active`,
  channelRestrictions: `${conversation}, and a message beyond the restrictions that is not refused begins one. Send one where nobody is disturbed`,
  deliveryRetries: `${conversation}. Count the calls to a callback that answers 500`,
  notificationMails: `${conversation}, and the mail goes to a person. Look into the mailbox after a callback could not be reached`,
  deletionRule:
    "where it is not refused, an orchestration is left that names what is gone. Delete a client application that only an orchestration names",
  callbackContent: `${conversation}. Look at the content of a call to a callback`,
} as const satisfies Partial<Record<SwitchName, string>>;

/** The reasons as answers: every switch of the emulator is found out, or stands among what is open. */
export const leftOpen: Answers = Object.fromEntries(
  Object.entries(reasons).map(([name, why]) => [name, stillOpen(why)]),
);
