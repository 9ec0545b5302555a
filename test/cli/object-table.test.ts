import { expect, test } from "vitest";
import { objectTable } from "../../cli/quickstart/run-quickstart.js";

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
    "kind               name   refers to",
    "─────────────────  ─────  ─────────",
    "Authentication     login",
    "ClientApplication  bot    login",
  ]);
});

test("names of the length of the examples' stay whole within 80 columns", () => {
  const [one, other] = ["bots-then-agents-b1601d5", "shop-orders-bot-76c300c-eu"];
  const lines = objectTable([
    { kind: "ClientApplication", id: "c-1", name: one, body: { id: "c-1", other: "c-2" } },
    { kind: "ClientApplication", id: "c-2", name: other, body: { id: "c-2", other: "c-1" } },
  ]);
  expect(lines.slice(2)).toEqual([
    `ClientApplication  ${one}    ${other}`,
    `ClientApplication  ${other}  ${one}`,
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(78);
});
