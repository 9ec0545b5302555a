import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { secretSignature } from "../../provider/kernel/pulumi.js";
import { stateValues } from "../../provider/lifecycle/resource.js";
import { authentication } from "../../provider/resources/authentication.js";
import { Stage } from "../matrix/support/stage.js";
import type { Arrived, Passing } from "../matrix/support/wire.js";
import { type Held, Life } from "./support/life.js";
import { leaksIn } from "./support/search.js";

const clientSecret = "hush & + é 100%";

const scopes = ["app.conversation.conversationmgr.manage"];

let stage: Stage;
let life: Life;
let printed: string[];

beforeEach(async () => {
  printed = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  }
  stage = await Stage.open();
  await stage.hub.control("POST", "/clients", { clientId: "hushed", clientSecret, scopes });
  nextRun();
  life = new Life("shop/prod/0123456789abcdef", "a");
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage[Symbol.asyncDispose]();
});

const nextRun = (secret = clientSecret): void =>
  stage.nextRun({ CONVERSATION_CLIENT_ID: "hushed", CONVERSATION_CLIENT_SECRET: secret });

const tokens = (): string[] =>
  [...stage.wire.authorizations].flatMap((header) => header.split(" ")[1] ?? []);

const assertSilent = (what: unknown): void =>
  expect(leaksIn(what, clientSecret, ...tokens())).toEqual([]);

/** Says everything that it was told, in every place that a message may be made from. */
const echo =
  (status: number) =>
  (_: Passing, { body, authorization }: Arrived): Passing => ({
    status,
    text: JSON.stringify({
      code: `${status}-100`,
      error: "invalid_request",
      developerMessage: `${authorization} ${body}`,
      error_description: `${authorization} ${body}`,
      details: [
        { key: "body", value: body },
        ...body.split(/[,:{}&=]/).map((part) => ({ key: part, value: part.slice(0, 40) })),
        { key: authorization, value: authorization },
      ],
    }),
  });

const endpoints = (collection: string): string[] => [
  "TOKEN",
  `GET /${collection}`,
  `POST /${collection}`,
  ...["GET", "PUT", "DELETE"].map((method) => `${method} /${collection}/{id}`),
];

const failuresOf = async (promises: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(promises)).flatMap((each) =>
    each.status === "rejected" ? [each.reason] : [],
  );

let others = 0;

/** Everything that a run does with a kind; where the deletion is disturbed, only that. */
const actsOn = (entry: Held, on: string): Promise<unknown>[] => {
  const run = stage.run()(entry.form.definition.kind);
  if (on.startsWith("DELETE")) return [run.delete(entry.id, entry.state)];
  others += 1;
  const another = new Life(`other/dev/${others}`, `other-${others}`);
  another.held.push(...life.held);
  return [
    another.create(stage.run(), entry.form),
    run.read(entry.id, entry.state),
    run.read(entry.id, { __provider: "pointer" }),
    life.change(stage.run(), entry, { description: "changed" }),
  ];
};

test.each([400, 401, 403, 404, 503, 301, 200])(
  "no error shows a secret if the service answers %i with everything that it was sent",
  async (status) => {
    const all: unknown[] = [];
    await life.up(stage.run());
    for (const entry of life.held) {
      for (const on of endpoints(entry.form.definition.collection)) {
        nextRun();
        stage.wire.clear();
        stage.wire.arrived.length = 0;
        stage.wire.add({ on, do: "answer", with: echo(status), times: 1000 });
        const failures = await failuresOf(actsOn(entry, on));
        expect(stage.wire.arrived, on).toContain(on);
        all.push(...failures);
        for (const failure of failures) assertSilent(failure);
      }
    }
    // Every refusal quotes the service, but nothing that must not be quoted.
    if (status >= 400 && status < 500)
      expect(all.map((failure) => (failure as Error).message).join()).toContain("[secret]");
    assertSilent(printed);
    assertSilent(await stage.hub.control("GET", "/log"));
  },
);

test("an object that cannot be finished is handed to the engine with its secrets sealed", async () => {
  await life.up(stage.run());
  for (const { form } of life.held) {
    nextRun();
    stage.wire.clear();
    const on = `PUT /${form.definition.collection}/{id}`;
    stage.wire.add({ on, do: "answer", with: echo(400), times: 1000 });
    const [failure] = await failuresOf([life.create(stage.run(), form)]);
    expect(failure).toHaveProperty("id");
    assertSilent(failure);
  }
});

test("for the engine every secret is sealed once: by its definition or by its program", () => {
  const secret = (value: unknown) => ({ ...secretSignature, value });
  const sealed = (...markedSecrets: readonly string[]) =>
    stateValues({
      definition: authentication,
      properties: {
        fields: { name: "desk", basicAuth: { username: "hub", password: "p" } },
        markedSecrets,
        record: {},
      },
    });
  expect(sealed("basicAuth.username", "name")).toMatchObject({
    name: secret("desk"),
    basicAuth: { username: secret("hub"), password: secret("p") },
  });
  expect(sealed("basicAuth").basicAuth).toEqual(secret({ username: "hub", password: "p" }));
});
