import type { ReportViolation, ResourceValidationPolicy } from "@pulumi/policy";
import { isLoopback } from "../../provider/service/settings/setting-rules.js";
import { Authentication, ClientApplication } from "../resources.js";
import { knownItems, whereKnown } from "./known-values.js";
import { policyNotes } from "./policy-notes.js";

/** An address that whoever is on the way can read along; the machine's own are nobody's business. */
const isReadable = (address: string): boolean => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "http:" && !isLoopback(url.hostname);
};

const checkTokenAddress = (address: string | undefined, report: ReportViolation): void => {
  if (address !== undefined && isReadable(address))
    report(
      `The token for the callback is fetched from ${address}: its credentials travel in clear text. Use https.`,
    );
};

/** `https-callbacks`: messages and credentials travel encrypted. */
export const secureCallbacks: ResourceValidationPolicy = {
  ...policyNotes(
    "https-callbacks",
    "Callbacks use https",
    "Callbacks and the addresses that their tokens come from use https.",
    "Give the address with https:, and serve it with a certificate that the service trusts.",
  ),
  severity: "high",
  validateResource: (args, report) => {
    for (const role of knownItems(() => args.asType(ClientApplication)?.roles)) {
      const callback = whereKnown(() => role.callback);
      if (callback !== undefined && isReadable(callback))
        report(
          `The callback of role ${whereKnown(() => role.name)} is ${callback}: customers' messages travel in clear text. Use https.`,
        );
    }
    const authentication = args.asType(Authentication);
    checkTokenAddress(
      whereKnown(() => authentication?.oauth2?.tokenRequestUrl),
      report,
    );
  },
};
