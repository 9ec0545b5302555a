import type { CallParameters } from "../../../provider/service/client.js";
import type { Operation } from "../../../provider/service/operations.js";

const operation = (method: Operation["method"], template: string): Operation => ({
  method,
  template,
  title: "do it",
  scopes: [],
  rate: "standard",
});

/** One call by each method, with what it needs. */
export const calls: Readonly<Record<Operation["method"], readonly [Operation, CallParameters]>> = {
  GET: [operation("GET", "/channels/{id}"), { id: "c1" }],
  POST: [operation("POST", "/channels"), { body: { type: "x" } }],
  PUT: [operation("PUT", "/channels/{id}"), { id: "c1", body: { type: "x" } }],
  PATCH: [operation("PATCH", "/channels/{id}"), { id: "c1", body: { type: "x" } }],
  DELETE: [operation("DELETE", "/channels/{id}"), { id: "c1" }],
};
