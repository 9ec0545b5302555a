import type { Policies } from "@pulumi/policy";
import { accountProtected } from "./account-protected.js";
import { botsMatchParticipants } from "./bots-match-participants.js";
import { noBasicAuthentication } from "./no-basic-authentication.js";
import { noClearSecrets } from "./no-clear-secrets.js";
import { noSharedAuthentication } from "./no-shared-authentication.js";
import { notificationAddress } from "./notification-address.js";
import { rolesMatchOrchestration } from "./roles-match-orchestration.js";
import { secureCallbacks } from "./secure-callbacks.js";

/**
 * What is worth checking in every stack with conversation accounts, for a policy pack of
 * `@pulumi/policy` (1.21 or newer), which `PolicyPack` comes from. All are advisory until the pack, or its configuration, says
 * otherwise; each has a link to the page that explains it and lists its options. Looking at them
 * makes no call to the service. Never fails by itself: what a preview does not know yet is checked
 * by `up`.
 *
 * @example
 * new PolicyPack("conversation", { policies: [...conversationPolicies] });
 */
export const conversationPolicies: Policies = [
  secureCallbacks,
  notificationAddress,
  noBasicAuthentication,
  noSharedAuthentication,
  accountProtected,
  noClearSecrets,
  botsMatchParticipants,
  rolesMatchOrchestration,
];
