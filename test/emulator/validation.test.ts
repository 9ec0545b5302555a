import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { textAt } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { kindOf, type Running, running, start } from "./running.js";

let service: Running;
let application: { id: string };
let channel: { id: string };
beforeAll(async () => {
  service = await start();
  application = { id: await service.make(kindOf("ClientApplication")) };
  channel = { id: await service.make(kindOf("Channel")) };
});
afterAll(() => service[Symbol.asyncDispose]());

test.each(resources)(
  "a new $kind is answered with its id alone, and has the time",
  async (kind) => {
    const { status, json } = await service.call(
      "POST",
      `/${kind.collection}`,
      await service.body(kind),
    );
    expect([status, Object.keys(json)]).toEqual([201, ["id"]]);
    expect(json.id).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const { created, modified } = (await service.call("GET", `/${kind.collection}/${json.id}`))
      .json;
    expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(modified).toBe(created);
  },
);

const unknown = { id: "00000000-0000-4000-8000-000000000000" };

/** Every reference of the specification's reference graph. */
const references = [
  "ClientApplication roles[0].authentication.id",
  "Participant application.id",
  "Orchestration applications.botConfiguration.bots[0].id",
  "Orchestration applications.botConfiguration.bots[0].participant.id",
  "Orchestration applications.botConfiguration.bots[0].onEscalation.agent.id",
  "Orchestration applications.customerConfiguration.customer.id",
  "Orchestration applications.agentConfiguration.agents[0].id",
  "Account channel.id",
  "Account chatConfigurations.orchestration.id",
];

test("a wrong reference is refused and named, and changes nothing", async () => {
  const tried: string[] = [];
  for (const definition of resources) {
    const { kind, collection } = definition;
    const path = `/${collection}/${await service.make(definition)}`;
    const before = (await service.call("GET", path)).text;
    const body = await service.body(definition);
    for (const place of placesIn(body)) {
      if (!/^[0-9a-f-]{36}$/.test(textAt(body, ...place) ?? "")) continue;
      const key = place.join(".").replaceAll(/\.(\d+)/g, "[$1]");
      const refused = { status: 400, json: { code: "400-196", details: [{ key }] } };
      for (const { id } of [unknown, key === "channel.id" ? application : channel])
        for (const call of [`POST /${collection}`, `PUT ${path}`]) {
          const [method = "", at = ""] = call.split(" ");
          expect(await service.call(method, at, changedAt(body, place, id))).toMatchObject(refused);
        }
      tried.push(`${kind} ${key}`);
    }
    expect((await service.call("GET", path)).text).toBe(before);
  }
  expect(tried.toSorted()).toEqual(references.toSorted());
});

test("unknownReference accept takes any id", async () => {
  const own = await running({ switches: { unknownReference: "accept" } });
  const body = await own.body(kindOf("Account"), { channel: unknown });
  expect((await own.call("POST", "/accounts", body)).status).toBe(201);
});

test.each([
  ["no body", ""],
  ["half of an object", '{"name":'],
  ["an array", "[]"],
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ["2,000 nested arrays", `{"name":${"[".repeat(2000)}${"]".repeat(2000)}}`],
])("%s is no body", async (_, raw) => {
  const headers = { "content-type": "application/json" };
  const { status, json } = await service.call("POST", "/channels", undefined, { raw, headers });
  expect({ status, code: json.code }).toEqual({ status: 400, code: "400-100" });
});

const patches = ["application/merge-patch+json", "application/json-patch+json"];

test.each([undefined, "text/plain", "application/jsonp", ...patches])(
  "a body of type %s is refused",
  async (type) => {
    const raw = JSON.stringify(await service.body(kindOf("Channel")));
    const headers = type === undefined ? {} : { "content-type": type };
    const { status, json } = await service.call("POST", "/channels", undefined, { raw, headers });
    expect({ status, code: json.code }).toEqual({ status: 400, code: "400-100" });
  },
);

test("a body of more than 2 MiB is refused, and the refusal can be read", async () => {
  const body = await service.body(kindOf("Channel"), { more: "x".repeat(8 * 1024 * 1024) });
  const reply = await service.call("POST", "/channels", body);
  expect(reply).toMatchObject({ status: 400, json: { code: "400-10424" } });
});

const unheard = { unheardOf: 1 };

test("each member that the schema does not have is refused and named, at every depth", async () => {
  const given = {
    ...(await service.body(kindOf("Participant"))),
    ...JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
    ...{ id: "x", created: "2001-01-01T00:00:00.000Z", ...unheard },
    application: { ...application, ...unheard },
    intents: { intent: [{ value: "a", displayValue: "A", ...unheard }], ...unheard },
    options: [{ name: "n", value: "v", ...unheard }],
  };
  const path = `/participants/${await service.make(kindOf("Participant"))}`;
  const modified = { modified: "2001-01-01T00:00:00.000Z" };
  for (const [method, at, more] of [
    ["POST", "/participants", ["modified"]],
    ["PUT", path, []],
  ] as const) {
    const { status, json } = await service.call(method, at, { ...given, ...modified });
    const keys = (json.details as { key: string }[]).map(({ key }) => key).sort();
    expect({ status, code: json.code, keys }).toEqual({
      ...{ status: 400, code: "400-420" },
      keys: [
        "__proto__",
        "application.unheardOf",
        "constructor",
        "created",
        "id",
        "intents.intent[0].unheardOf",
        "intents.unheardOf",
        ...more,
        "options[0].unheardOf",
        "unheardOf",
      ],
    });
  }
});

test("a call whose caller goes away within the body is in the log without a status of its own", async () => {
  const own = await running();
  const { port } = new URL(own.emulator.baseUrl);
  const socket = connect(Number(port), "127.0.0.1");
  const head = `POST /conversation/v3/channels HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${await own.token()}`;
  socket.write(
    `${head}\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{"type":`,
    () => socket.destroy(),
  );
  await expect.poll(() => own.emulator.control.log()).toHaveLength(1);
  expect(await own.emulator.control.log()).toMatchObject([
    { method: "POST", template: "/channels", status: 0 },
  ]);
});
