import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import { conversationPolicies } from "../../sdk/policies/index.js";
import { seen, seenIn } from "./support/policy-resources.js";
import { right, role, secretOf, shown, type World } from "./support/policy-world.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "policy-rules-"));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Names of the policies that speak. */
const spoken = (world: World): readonly string[] => {
  const lines = world.clear.map((text, place) => `  shop:value${place}: ${text}`);
  writeFileSync(join(folder, "Pulumi.prod.yaml"), ["config:", ...lines, ""].join("\n"));
  const resources = shown(world);
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
    fc.property(right, fc.array(fc.nat(), { maxLength: 8 }), (world, picks) => {
      expect(spoken(world)).toEqual([]);
      // Any value may be the output of something that is not there yet.
      for (const pick of picks) {
        const holders = [
          ...world.applications.flatMap(({ roles }) => roles),
          ...world.authentications,
        ];
        const holder = holders[pick % holders.length] ?? {};
        const keys = Object.keys(holder);
        holder[keys[pick % keys.length] ?? "callback"] = unknownValue;
      }
      expect(spoken(world)).toEqual([]);
    }),
    runs,
  );
});

const at = <T>(list: readonly T[], pick: number): T => {
  const found = list[pick % list.length];
  if (found === undefined) throw new Error("an empty list");
  return found;
};

const roleAt = (world: World, pick: number) =>
  at(
    world.applications.flatMap(({ roles }) => roles),
    pick,
  );

/** Breaks one rule in one of the places that it reads; the rule is to say so, and no other. */
const breaks: Readonly<Record<string, (world: World, pick: number) => void>> = {
  "https-callbacks (callback)": (world, pick) => {
    roleAt(world, pick).callback = at(
      [
        "http://acme.io/m",
        "HTTP://10.0.0.7/m",
        "http://localhost.acme.io",
        "http://127.0.0.1.acme.io/",
      ],
      pick,
    );
  },
  "https-callbacks (token)": (world, pick) => {
    at(world.authentications, pick).oauth2 = { tokenRequestUrl: "http://acme.io/token" };
  },
  "notification-address": (world, pick) => {
    roleAt(world, pick).notificationEmail = at(
      ["a@example.com", "a@EXAMPLE.org", "a@x.example.net", "a@shop.test", "a@b.invalid"],
      pick,
    );
  },
  "no-basic-authentication": (world, pick) => {
    const broken = { basicAuth: { username: "hub", password: "hidden-basic" } };
    world.authentications[pick % world.authentications.length] =
      pick % 2 === 0 ? broken : { ...broken, type: "basic" };
  },
  "no-shared-authentication (applications)": (world, pick) => {
    const [first, ...others] = world.applications;
    const second = at(others, pick);
    if (!first) return;
    second.uses[0] = 0;
    at(second.roles, 0).authentication = { of: 0 };
  },
  "no-shared-authentication (roles)": (world, pick) => {
    world.hasIds = true;
    const { roles, uses } = at(world.applications, pick);
    roles.push({ ...role("custom_unread", uses[0] ?? 0), name: "business_other" });
  },
  "account-protected": (world) => {
    world.isProtected = false;
  },
  "no-clear-secrets": (world, pick) => {
    world.clear.push(secretOf(pick % world.authentications.length));
  },
  "bots-match-participants (role)": (world, pick) => {
    const participant = at(world.participants, pick);
    participant.type = participant.type === "custom_bot" ? "platform_bot" : "custom_bot";
  },
  "roles-match-orchestration (customer)": (world) => {
    const [customer] = world.applications;
    if (customer) at(customer.roles, 0).name = "business_other";
  },
  "roles-match-orchestration (agent)": (world) => {
    at(at(world.applications, 1).roles, 0).name = "business_other";
  },
  "roles-match-orchestration (places)": (world, pick) => {
    world.hasIds = true;
    world.places.customer = at(world.places.bots, pick).application;
    world.places.bots[0] = { application: world.places.bots[0]?.application ?? 2, participant: 0 };
  },
  "bots-match-participants (application)": (world, pick) => {
    world.hasIds = true;
    // The bot names the application of another participant, or one of its own.
    const other = { ...at(world.applications, 2), name: "other" };
    world.applications.push({
      ...other,
      uses: [],
      roles: other.roles.map((each, at) => ({ ...each, authentication: `foreign-${at}` })),
    });
    const bot = at(world.places.bots, pick);
    bot.application = world.applications.length - 1;
  },
};

test.each(Object.entries(breaks))(
  "%s: what breaks the rule is told, and nothing else",
  patience,
  (name, broken) => {
    fc.assert(
      fc.property(right, fc.nat(1000), (world, pick) => {
        broken(world, pick);
        expect(spoken(world)).toEqual([name.replace(/ \(.*/, "")]);
      }),
      runs,
    );
  },
);

test("a secret of the environment is not taken for one that stands in the file", patience, () => {
  fc.assert(
    fc.property(right, fc.nat(1000), (world, pick) => {
      const text = "${fromEnv DESK_SECRET 1}";
      at(world.authentications, pick).oauth2 = {
        tokenRequestUrl: "https://acme.io/token",
        payload: text,
      };
      world.clear.push(`"${text}"`);
      expect(spoken(world)).toEqual([]);
    }),
    runs,
  );
});
