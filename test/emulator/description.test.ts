import { expect, test } from "vitest";
import { hub, message } from "../emulator-runtime/hub.js";
import { takeViolations } from "../support/own-violations.js";
import { runtimeOperations, setUpOperations } from "../support/specification.js";
import { wireOperations } from "../support/wire-table.js";

test("each operation of the specification is described, and 14 have bodies", () => {
  const names = [...setUpOperations, ...runtimeOperations].map(
    ({ method, path }) => `${method} ${path}`,
  );
  expect([...wireOperations.keys()].sort()).toEqual(names.sort());
  expect([...wireOperations.values()].filter(({ sent }) => sent)).toHaveLength(14);
});

test("what is sent, answered or delivered otherwise is seen, unless a fault answers", async () => {
  const { service, ids, begin, send, logged } = await hub();
  const conversation = await begin();
  const { json } = await service.control("GET", "/snapshot");
  // As if the service had kept something that its description does not have.
  const kept = JSON.parse(JSON.stringify(json).replace('"about":{', '"about":{"shade":"blue",'));
  await service.control("PUT", "/snapshot", kept);
  await send(message(conversation, "custom_bot", "conversation.end"));
  await logged(1);
  await service.call("GET", `/conversations/${conversation}`);
  await service.call("DELETE", `/accounts/${ids.account}`, {});
  await service.control("POST", "/faults", [{ on: "GET /channels", kind: "not-json" }]);
  await service.call("GET", "/channels");
  expect([...takeViolations()].sort()).toEqual([
    "A callback of version v3 got: .messages.message[0].conversation.shade is unknown",
    "DELETE /accounts/{id} was sent: there must be no body",
    "GET /conversations/{id} answered 200: .shade is unknown",
  ]);
});
