import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import { beforeAll, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { run } from "../cli/session.js";
import { changedAt } from "../support/json-places.js";
import { runtimeOperations, scopes, setUpOperations } from "../support/specification.js";
import { type Running, running } from "./running.js";

let document: JsonObject;
beforeAll(async () => {
  document = JSON.parse((await run("emulator", "--openapi")).out);
});

const schemaChecker = (of: JsonObject) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "document", ...of });
  return (schema: string, value: unknown): string => {
    const check = ajv.getSchema(`document#/components/schemas/${schema}`);
    if (!check) throw new Error(`no schema ${schema}`);
    return check(value) ? "" : ajv.errorsText(check.errors);
  };
};

test("the document is valid OpenAPI, by a validator that shares nothing with it", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
});

test("it names every operation of the specification's §4, each with its scopes", () => {
  const expected = [...setUpOperations, ...runtimeOperations].map(
    ({ method, path }) => `${method.toLowerCase()} ${path}`,
  );
  const paths = isObject(document.paths) ? document.paths : {};
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).map(
      ([method, operation]) => [`${method} ${path}`, operation] as const,
    ),
  );
  expect(operations.map(([name]) => name).sort()).toEqual(expected.sort());
  const scopesOf = (name: string) =>
    JSON.stringify(operations.find(([each]) => each === name)?.[1]).match(
      /app\.conversation[.\w]+/g,
    );
  expect(scopesOf("get /authentications")).toEqual([scopes.M]);
  expect(scopesOf("get /channels")).toEqual([scopes.M, scopes.R]);
  expect(scopesOf("get /assets/{id}")).toEqual([scopes.IM, scopes.IR]);
});

const answers = async (own: Running, check: (schema: string, value: unknown) => string) => {
  for (const definition of resources) {
    const { kind, collection } = definition;
    const body = await own.body(definition);
    expect([kind, check(kind, body)]).toEqual([kind, ""]);
    const made = await own.call("POST", `/${collection}`, body);
    expect(check("Created", made.json)).toBe("");
    const read = await own.call("GET", `/${collection}/${made.json.id}`);
    expect([kind, check(`${kind}Read`, read.json)]).toEqual([kind, ""]);
    const list = await own.call("GET", `/${collection}`);
    expect([kind, check(`${kind}List`, list.json)]).toEqual([kind, ""]);
  }
};

test.each(["mask", "echo", "omit"] as const)(
  "what the emulator takes and answers is what the document says (secrets: %s)",
  async (secrets) => {
    const own = await running({ switches: { secrets } });
    const served = await own.send("GET", "/openapi.json");
    expect(served.headers["content-type"]).toBe("application/json");
    expect(served.json.servers).toEqual([{ url: own.emulator.baseUrl }]);
    const check = schemaChecker(served.json);
    await answers(own, check);
    const refused = await own.call("POST", "/channels", {});
    expect([refused.status, check("Error", refused.json)]).toEqual([400, ""]);
    expect(check("Error", (await own.call("GET", "/channels/x")).json)).toBe("");
    const asset = {
      channel: { type: "custom.kiosk-0" },
      sender: { type: "customer" },
      name: "a.png",
      size: 1,
    };
    await own.control("PUT", "/switches", { unknownReference: "accept" });
    expect(check("AssetRequest", asset)).toBe("");
    const upload = await own.call("POST", "/assets", asset);
    expect(check("AssetUpload", upload.json)).toBe("");
  },
);

test("the vendor's own word is in the document", async () => {
  const { out } = await run("emulator", "--openapi", "--switch", "platformName=acme");
  expect(out).toContain("acme_bot");
  expect(out).not.toContain("platform_bot");
});

test("what the emulator refuses for its form, the schema refuses", async () => {
  const own = await running();
  const check = schemaChecker(document);
  for (const definition of resources) {
    const body = await own.body(definition);
    for (const [name, field] of Object.entries(definition.fields)) {
      const wrong = field.type === "text" || field.type === "reference" ? 5 : "wrong";
      const broken = changedAt(body, [field.wire ?? name], wrong);
      expect([name, check(definition.kind, broken) !== ""]).toEqual([name, true]);
      if (!field.required) continue;
      const missing = Object.fromEntries(
        Object.entries(body).filter(([member]) => member !== (field.wire ?? name)),
      );
      expect([name, check(definition.kind, missing) !== ""]).toEqual([name, true]);
    }
  }
});
