import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { asBody, type Emulated, emulated, owned } from "../support/emulated.js";
import { roleOf } from "../support/forms.js";
import { type MadeKind, oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Emulated;
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);
const { make, change } = steps;

const start = async (switches: Json = {}, environment: Record<string, string> = {}) => {
  hub = await emulated({ switches } as never, environment);
};

const application = (more: Json = {}): Json =>
  owned("app", { name: "app", roles: [roleOf("custom_bot")], ...more });

/** Headers set by hand on the one role of an application. */
const withHeaders = async (id: string): Promise<void> => {
  const [object] = await hub.objects("clientapplications");
  const [role] = (object?.roles ?? []) as readonly Json[];
  await hub.service.replace(clientApplication, id, {
    ...asBody(object),
    roles: [{ ...role, headers: [{ name: "X-Key", value: "set-by-hand" }] }],
  });
  hub.nextRun();
};

const heldRole = async (): Promise<Json | undefined> =>
  ((await hub.objects("clientapplications"))[0]?.roles as readonly Json[] | undefined)?.[0];

describe("what the program does not declare and the service shows", () => {
  beforeEach(() => start({ secrets: "echo" }));

  test("stays when only the description changes", async () => {
    const { id, state } = await make("ClientApplication", application());
    await withHeaders(id);
    await change("ClientApplication", id, state, application({ description: "New" }));
    expect(await heldRole()).toMatchObject({
      headers: [{ name: "X-Key", value: "set-by-hand" }],
    });
  });

  test("stays when an account is adopted", async () => {
    const made = (await oneOfEach(steps)).get("Account") as MadeKind;
    const object = (await hub.objects("accounts"))[0] ?? {};
    await hub.service.replace(account, made.id, {
      ...asBody(object),
      description: "by hand",
      attributes: [{ name: "key", value: "by-hand" }],
    });
    hub.nextRun([]);
    const { attributes: _, ...inputs } = made.inputs;
    await make("Account", { ...inputs, adopt: true });
    expect((await hub.objects("accounts"))[0]).toMatchObject({
      attributes: [{ name: "key", value: "by-hand" }],
    });
  });
});

describe.each(["mask", "omit"])(
  "what the program does not declare and the service hides (%s)",
  (secrets) => {
    beforeEach(() => start({ secrets }));

    test("an update that would erase it is refused before any write, and says the ways out", async () => {
      const { id, state } = await make("ClientApplication", application());
      await withHeaders(id);
      const before = await hub.objects("clientapplications");
      await hub.calls();
      await expect(
        change("ClientApplication", id, state, application({ description: "New" })),
      ).rejects.toThrow(
        /roles\[custom_bot\]\.headers.*Nothing was changed.*eraseHidden.*conversation:put/s,
      );
      expect(await hub.objects("clientapplications")).toEqual(before);
      expect((await hub.calls()).filter((call) => !call.startsWith("GET"))).toEqual([]);
    });

    test("the preview of an adoption refuses it, too", async () => {
      const { id } = await make("ClientApplication", application());
      await withHeaders(id);
      const [object] = await hub.objects("clientapplications");
      await hub.service.replace(clientApplication, id, {
        ...asBody(object),
        description: "by hand",
      });
      hub.nextRun([]);
      const { failures } = await hub
        .of("ClientApplication")
        .check({}, application({ adopt: true }));
      expect(failures[0]?.reason).toContain("roles[custom_bot].headers");
    });

    test("eraseHidden lets it go", async () => {
      const { id, state } = await make("ClientApplication", application());
      await withHeaders(id);
      await change(
        "ClientApplication",
        id,
        state,
        application({ description: "New", eraseHidden: true }),
      );
      expect(JSON.stringify(await heldRole())).not.toContain("set-by-hand");
      expect(JSON.stringify(await heldRole())).not.toContain("***");
    });

    test("declaring it is the other way out", async () => {
      const { id, state } = await make("ClientApplication", application());
      await withHeaders(id);
      const roles = [{ ...(application().roles as Json[])[0], headers: { "X-Key": "declared" } }];
      await change("ClientApplication", id, state, application({ description: "New", roles }));
      expect(await heldRole()).toMatchObject({
        headers: [{ name: "X-Key", value: "declared" }],
      });
    });
  },
);

test("a whole member that the service hides stays where this tenant's PUT is known to keep it", async () => {
  await start({ secrets: "mask", put: "keep" }, { CONVERSATION_PUT: "keep" });
  const made = (await oneOfEach(steps)).get("Account") as MadeKind;
  const object = (await hub.objects("accounts"))[0] ?? {};
  const attributes = [{ name: "key", value: "by-hand" }];
  await hub.service.replace(account, made.id, { ...asBody(object), attributes });
  hub.nextRun();
  const { attributes: _, ...inputs } = made.inputs;
  const { attributes: __, ...state } = made.state;
  await change("Account", made.id, state, { ...inputs, description: "New" });
  expect((await hub.objects("accounts"))[0]).toMatchObject({ attributes });
});

test("a secret of another program that left the declaration is removed, not taken for hidden", async () => {
  await start({ secrets: "mask" });
  const headers = { "X-Key": "declared-once" };
  const roles = [{ ...(application().roles as Json[])[0], headers }];
  const { id, state } = await make("ClientApplication", application({ roles }));
  await change("ClientApplication", id, state, application());
  expect(await heldRole()).not.toHaveProperty("headers");
});

describe("the human description", () => {
  beforeEach(() => start());

  test("stays while the program gives none, and the mark stays beside it", async () => {
    const { id, state } = await make("Authentication", owned("a", basicInputs()));
    const [object] = await hub.objects("authentications");
    await hub.service.replace(authentication, id, {
      ...asBody(object),
      description: `By hand ${object?.description}`,
      basicAuth: { username: "hub", password: "a-password" },
    });
    hub.nextRun();
    const { inputs } = await hub.of("Authentication").read(id, state);
    expect(inputs).not.toHaveProperty("description");
    await change("Authentication", id, state, owned("a", { ...basicInputs(), active: false }));
    expect((await hub.objects("authentications"))[0]?.description).toMatch(/^By hand \[pulumi: /);
  });

  test("of the program is removed when the program gives it no more", async () => {
    const { id, state } = await make("Channel", kiosk({ description: "Of the program" }));
    await change("Channel", id, state, kiosk());
    expect((await hub.objects("channels"))[0]?.description).toMatch(/^\[pulumi: /);
  });
});

const basicInputs = (): Json => ({
  name: "web",
  basicAuth: { username: "hub", password: "a-password" },
});
