import type { Definition } from "../definition/define.js";
import { account } from "./account.js";
import { authentication } from "./authentication.js";
import { channel } from "./channel.js";
import { clientApplication } from "./client-application.js";
import { orchestration } from "./orchestration.js";
import { participant } from "./participant.js";

/** Every kind of setup object, in the order in which you set up an account (specification §1). */
export const resources: readonly Definition[] = [
  authentication,
  clientApplication,
  participant,
  channel,
  orchestration,
  account,
];
