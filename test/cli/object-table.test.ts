import { expect, test } from "vitest";
import { objectTable } from "../../cli/quickstart/object-table.js";

test("objects stand with the names of the objects that they mention, wherever that is", () => {
  const lines = objectTable([
    { kind: "Authentication", id: "a-1", name: "login", body: { id: "a-1", name: "login" } },
    {
      kind: "ClientApplication",
      id: "c-1",
      name: "bot",
      body: {
        id: "c-1",
        roles: [{ authentication: { id: "a-1" } }, { authentication: { id: "a-1" } }],
      },
    },
  ]);
  expect(lines).toEqual([
    "kind               name   id   refers to",
    "─────────────────  ─────  ───  ─────────",
    "Authentication     login  a-1",
    "ClientApplication  bot    c-1  login",
  ]);
});
