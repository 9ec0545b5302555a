import { type ResourceValidationPolicy, validateResourceOfType } from "@pulumi/policy";
import { ClientApplication } from "../resources.js";
import { knownItems, whereKnown } from "./known-values.js";
import { policyNotes } from "./policy-notes.js";

/** The domains that RFC 2606 keeps for documentation and tests: nobody reads their mail. */
const isForExamples = (domain: string): boolean =>
  /(^|\.)(example\.(com|net|org)|example|test|invalid|localhost)$/.test(domain);

const wrongWith = (address: string, allowed: readonly string[]): string | undefined => {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  if (isForExamples(domain)) return "is an address for examples, which nobody reads";
  if (allowed.length === 0 || allowed.includes(domain)) return undefined;
  return `is not in ${allowed.join(" or ")}`;
};

/** `notification-address`: somebody learns when a callback cannot be reached. */
export const notificationAddress: ResourceValidationPolicy = {
  ...policyNotes(
    "notification-address",
    "Somebody is told of failing callbacks",
    "Each role has a notification address that somebody reads.",
    "Give notificationEmail the address of the team that runs the callback.",
  ),
  severity: "medium",
  configSchema: {
    properties: {
      domains: {
        type: "array",
        items: { type: "string" },
        default: [],
        description: "Domains that the address may be in. Empty: any but those for examples.",
      },
    },
  },
  validateResource: validateResourceOfType(ClientApplication, (application, args, report) => {
    const { domains = [] } = args.getConfig<{ readonly domains?: readonly string[] }>();
    for (const role of knownItems(() => application.roles)) {
      const address = whereKnown(() => role.notificationEmail);
      const wrong = address === undefined ? undefined : wrongWith(address, domains);
      if (wrong)
        report(
          `notificationEmail of role ${whereKnown(() => role.name)}, ${address}, ${wrong}: a failing callback would go unnoticed.`,
        );
    }
  }),
};
