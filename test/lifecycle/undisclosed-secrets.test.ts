import { afterEach, beforeEach, expect, test } from "vitest";
import { undisclosed } from "../../provider/kernel/pulumi.js";
import { authentication } from "../../provider/resources/authentication.js";
import { doorOfTests } from "../support/door.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";

let hub: Emulated;
let id: string;

beforeEach(async () => {
  hub = await emulated();
  const wire = { name: "desk", type: "basic", basicAuth: { username: "hub", password: "live" } };
  id = (await hub.service.create(authentication, wire)).id;
  hub.nextRun();
});
afterEach(() => hub.stop());

const inputs = (password: string, more = {}) =>
  owned("desk", {
    ...{ name: "desk", active: true, type: "basic", basicAuth: { username: "hub", password } },
    ...more,
  });

/** Check and diff as the engine calls them: with the inputs of the state, and with its outputs. */
const compare = async (
  oldInputs: Record<string, unknown>,
  news: Record<string, unknown>,
  refreshed = {},
) => {
  hub.nextRun();
  const kind = hub.of("Authentication");
  expect((await kind.check(oldInputs, news)).failures).toEqual([]);
  return kind.diff(id, inputs(undisclosed, refreshed), news, oldInputs);
};

/** The engine itself compares and shows the inputs of a dynamic resource. */
const aChange = doorOfTests === "dynamic" ? {} : { changes: true };

test("the first value that a program gives is no change, and no call", async () => {
  await hub.calls();
  expect(await compare(inputs(undisclosed), inputs("mine"))).toEqual({ changes: false });
  expect(await hub.calls()).toEqual([]);
});

test("a value that is another one than before is a change that the engine shows, though the outputs lack both", async () => {
  expect(await compare(inputs("mine"), inputs("mine"))).toEqual({ changes: false });
  expect(await compare(inputs("mine"), inputs("another"))).toEqual(aChange);
  expect(hub.reported).toEqual([]);
});

test("what only a refresh found, and the engine cannot show, is said", async () => {
  const news = inputs("mine", { active: true });
  expect(await compare(news, news, { active: false, description: "by hand" })).toEqual({
    changes: true,
  });
  expect(hub.reported).toEqual(["writes active (was false), basicAuth.password (was [secret])"]);
});

test("a refresh, which compares with the inputs of the state and writes nothing, does not say so", async () => {
  const changed = inputs(undisclosed, { active: false });
  const kind = hub.of("Authentication");
  expect(await kind.diff(id, changed, inputs(undisclosed))).toEqual({ changes: true });
  expect(hub.reported).toEqual([]);
});

test("any other change is one, and writes the secret of the program", async () => {
  const news = inputs("mine", { active: false });
  expect(await compare(inputs(undisclosed), news)).toEqual(aChange);
  await hub.of("Authentication").update(id, inputs(undisclosed), news);
  expect(await hub.objects("authentications")).toMatchObject([
    { active: false, basicAuth: { username: "hub", password: "mine" } },
  ]);
});

test.each(["mask", "omit"])(
  "where the program leaves it to the state and the service hides it (%s), an update refuses",
  async (secrets) => {
    await hub.control("PUT", "/switches", { secrets });
    const news = inputs(undisclosed, { active: false });
    const update = hub.of("Authentication").update(id, inputs(undisclosed), news);
    await expect(update).rejects.toThrow(/basicAuth\.password/);
    expect(await hub.objects("authentications")).toMatchObject([
      { basicAuth: { username: "hub", password: "live" } },
    ]);
  },
);

test("where the service shows it, the update leaves it as it is", async () => {
  await hub.control("PUT", "/switches", { secrets: "echo" });
  const news = inputs(undisclosed, { active: false });
  await hub.of("Authentication").update(id, inputs(undisclosed), news);
  expect(await hub.objects("authentications")).toMatchObject([
    { active: false, basicAuth: { username: "hub", password: "live" } },
  ]);
});

test("a refresh keeps it as a secret, and the inputs, which may know more", async () => {
  const { props, inputs: replaced } = await hub.of("Authentication").read(id, inputs(undisclosed));
  expect(replaced).toBeUndefined();
  expect(props.basicAuth).toMatchObject({ password: { value: undisclosed } });
});
