import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { kindOf, type Running, running } from "./running.js";

const drop = (service: Running, collection: string, id: unknown) =>
  service.call("DELETE", `/${collection}/${String(id)}`);

const names = ["Authentication", "ClientApplication", "Participant", "Channel", "Orchestration"];

/** One object of every kind, each tied to the ones before it. */
const account = async (service: Running): Promise<Readonly<Record<string, string>>> => {
  const ids = new Map<string, string>();
  ids.set("Account", await service.make(kindOf("Account"), {}, ids));
  return Object.fromEntries(ids);
};

/** Specification §2, rules 1 to 4, and the references of orchestrations (assumed). */
test.each(names)("a %s in use is not deleted, with 400-113, and stays", async (kind) => {
  const service = await running();
  const ids = await account(service);
  const { collection, noun } = kindOf(kind);
  const { status, json, headers } = await drop(service, collection, ids[kind]);
  expect(status).toBe(400);
  expect(headers["content-type"]).toBe("application/json");
  expect(json).toEqual({
    code: "400-113",
    developerMessage: `The ${noun} is in use and cannot be deleted.`,
  });
  expect((await service.call("GET", `/${collection}/${ids[kind]}`)).status).toBe(200);
});

test("in the order of the references everything can be deleted, and is gone", async () => {
  const service = await running();
  const ids = await account(service);
  for (const kind of [...names, "Account"].reverse()) {
    const { collection } = kindOf(kind);
    const reply = await drop(service, collection, ids[kind]);
    expect({ kind, status: reply.status, text: reply.text }).toEqual({
      kind,
      status: 204,
      text: "",
    });
    expect(reply.headers).not.toHaveProperty("content-type");
    expect((await service.call("GET", `/${collection}/${ids[kind]}`)).json.code).toBe("404-101");
    expect((await drop(service, collection, ids[kind])).json.code).toBe("404-101");
  }
});

test.each(resources.map(({ collection }) => collection))(
  "an unknown id of %s is not found",
  async (collection) => {
    const service = await running();
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      for (const id of ["00000000-0000-4000-8000-000000000000", "1", "x".repeat(300), "%2e%2e"]) {
        const body = method === "PUT" ? {} : undefined;
        const { status, json } = await service.call(method, `/${collection}/${id}`, body);
        expect({ status, code: json.code }).toEqual({ status: 404, code: "404-101" });
      }
    }
  },
);
