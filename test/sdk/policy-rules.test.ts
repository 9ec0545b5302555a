import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import { pluginToken, typeToken } from "../../provider/pointer.js";
import { conversationPolicies } from "../../sdk/policies/index.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { type PolicyAccount, right, role, secretOf, shown } from "./support/policy-account.js";
import { seen, seenIn } from "./support/policy-resources.js";

const folder = folderOfFile();
writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\n");

/** Names of the policies that speak: the same of resources of either door. */
const spoken = (declared: PolicyAccount): readonly string[] => {
  const [found, ofPlugin] = [typeToken, pluginToken].map((token) => spokenOf(declared, token));
  expect(ofPlugin).toEqual(found);
  return found ?? [];
};

const spokenOf = (declared: PolicyAccount, token: typeof typeToken): readonly string[] => {
  const lines = declared.clear.map((text, place) => `  shop:value${place}: ${text}`);
  writeFileSync(join(folder, "Pulumi.prod.yaml"), ["config:", ...lines, ""].join("\n"));
  const resources = shown(declared, token);
  return conversationPolicies
    .filter((policy) => {
      if ("validateStack" in policy) return seen(policy, resources, { folder }).length > 0;
      return resources.some((each) => seenIn(policy, each).length > 0);
    })
    .map(({ name }) => name);
};

const numRuns = Number(process.env.POLICY_RUNS ?? 30);
const runs = { numRuns, seed: 5 };
const patience = { timeout: 180_000 + numRuns * 100 };

test("nothing is said of a careful program, whatever a preview does not know yet", patience, () => {
  fc.assert(
    fc.property(right, fc.array(fc.nat(), { maxLength: 8 }), (declared, picks) => {
      expect(spoken(declared)).toEqual([]);
      // Any value may be the output of something that is not there yet.
      for (const pick of picks) {
        const holders = [
          ...declared.applications.flatMap(({ roles }) => roles),
          ...declared.authentications,
        ];
        const holder = holders[pick % holders.length] ?? {};
        const keys = Object.keys(holder);
        holder[keys[pick % keys.length] ?? "callback"] = unknownValue;
      }
      expect(spoken(declared)).toEqual([]);
    }),
    runs,
  );
});

const at = <T>(list: readonly T[], pick: number): T => {
  const found = list[pick % list.length];
  if (found === undefined) throw new Error("an empty list");
  return found;
};

const roleAt = (declared: PolicyAccount, pick: number) =>
  at(
    declared.applications.flatMap(({ roles }) => roles),
    pick,
  );

/** Breaks one rule in one of the places that it reads; the rule is to say so, and no other. */
const breaks: Readonly<Record<string, (declared: PolicyAccount, pick: number) => void>> = {
  "https-callbacks (callback)": (declared, pick) => {
    roleAt(declared, pick).callback = at(
      [
        "http://acme.io/m",
        "HTTP://10.0.0.7/m",
        "http://localhost.acme.io",
        "http://127.0.0.1.acme.io/",
      ],
      pick,
    );
  },
  "https-callbacks (token)": (declared, pick) => {
    at(declared.authentications, pick).oauth2 = { tokenRequestUrl: "http://acme.io/token" };
  },
  "notification-address": (declared, pick) => {
    roleAt(declared, pick).notificationEmail = at(
      ["a@example.com", "a@EXAMPLE.org", "a@x.example.net", "a@shop.test", "a@b.invalid"],
      pick,
    );
  },
  "no-basic-authentication": (declared, pick) => {
    const broken = { basicAuth: { username: "hub", password: "hidden-basic" } };
    declared.authentications[pick % declared.authentications.length] =
      pick % 2 === 0 ? broken : { ...broken, type: "basic" };
  },
  "no-shared-authentication (applications)": (declared, pick) => {
    const [first, ...others] = declared.applications;
    const second = at(others, pick);
    if (!first) return;
    second.uses[0] = 0;
    at(second.roles, 0).authentication = { of: 0 };
  },
  "no-shared-authentication (roles)": (declared, pick) => {
    declared.hasIds = true;
    const { roles, uses } = at(declared.applications, pick);
    roles.push({ ...role("custom_unread", uses[0] ?? 0), name: "business_other" });
  },
  "account-protected": (declared) => {
    declared.isProtected = false;
  },
  "no-clear-secrets": (declared, pick) => {
    declared.clear.push(secretOf(pick % declared.authentications.length));
  },
  "bots-match-participants (role)": (declared, pick) => {
    const participant = at(declared.participants, pick);
    participant.type = participant.type === "custom_bot" ? "platform_bot" : "custom_bot";
  },
  "roles-match-orchestration (customer)": (declared) => {
    const [customer] = declared.applications;
    if (customer) at(customer.roles, 0).name = "business_other";
  },
  "roles-match-orchestration (agent)": (declared) => {
    at(at(declared.applications, 1).roles, 0).name = "business_other";
  },
  "roles-match-orchestration (places)": (declared, pick) => {
    declared.hasIds = true;
    declared.places.customer = at(declared.places.bots, pick).application;
    declared.places.bots[0] = {
      application: declared.places.bots[0]?.application ?? 2,
      participant: 0,
    };
  },
  "bots-match-participants (application)": (declared, pick) => {
    declared.hasIds = true;
    // The bot names the application of another participant, or one of its own.
    const other = { ...at(declared.applications, 2), name: "other" };
    declared.applications.push({
      ...other,
      uses: [],
      roles: other.roles.map((each, at) => ({ ...each, authentication: `foreign-${at}` })),
    });
    const bot = at(declared.places.bots, pick);
    bot.application = declared.applications.length - 1;
  },
};

test.each(Object.entries(breaks))(
  "%s: what breaks the rule is reported, and nothing else",
  patience,
  (name, broken) => {
    fc.assert(
      fc.property(right, fc.nat(1000), (declared, pick) => {
        broken(declared, pick);
        expect(spoken(declared)).toEqual([name.replace(/ \(.*/, "")]);
      }),
      runs,
    );
  },
);

test("a secret of the environment is not taken for one that stands in the file", patience, () => {
  fc.assert(
    fc.property(right, fc.nat(1000), (declared, pick) => {
      const text = "${fromEnv DESK_SECRET 1}";
      at(declared.authentications, pick).oauth2 = {
        tokenRequestUrl: "https://acme.io/token",
        payload: text,
      };
      declared.clear.push(`"${text}"`);
      expect(spoken(declared)).toEqual([]);
    }),
    runs,
  );
});
