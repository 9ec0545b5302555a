import type { ResourceValidationPolicy } from "@pulumi/policy";
import { Account } from "../resources.js";
import { policyNotes } from "./policy-notes.js";

/** `account-protected`: no run deletes an account by mistake. */
export const accountProtected: ResourceValidationPolicy = {
  ...policyNotes(
    "account-protected",
    "Accounts are protected",
    "An account has the option protect, so that no run deletes it by mistake.",
    "Add { protect: true } to the options of the account.",
  ),
  severity: "medium",
  validateResource: (args, report) => {
    if (args.isType(Account) && !args.opts.protect)
      report(
        "The account is not protected: a run that no longer declares it deletes it, and customers reach nobody. Add the option protect.",
      );
  },
};
