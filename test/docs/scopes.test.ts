import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import {
  type Operation,
  runtimeOperations,
  scopes,
  setUpActions,
  setUpOperation,
} from "../../provider/service/operations.js";
import { readPage } from "./pages.js";

const section =
  readPage("docs/guides/pipelines.md").split("## Two clients")[1]?.split("\n## ")[0] ?? "";

/** Rows of the table: what runs, its operations, the scopes. */
const rows = [...section.matchAll(/^\| (.*`.*|the .*) \| (.*) \| (.*) \|$/gm)].map(
  ([, what = "", operations = "", needs = ""]) => ({
    ...{ what, needs },
    operations: operations === "none" ? [] : operations.split(", "),
  }),
);

const prefix = "app.conversation.conversationmgr.";

const least = (operations: readonly Operation[]): string => {
  const enough = Object.values(scopes).filter((scope) =>
    operations.every((operation) => operation.scopes.includes(scope)),
  );
  const scope = enough.find((each) => each === scopes.read) ?? enough[0];
  return `\`${scope?.slice(prefix.length)}\``;
};

const needed = (names: readonly string[]): string => {
  const runtime = Object.entries(runtimeOperations)
    .filter(([name]) => names.includes(name))
    .map(([, operation]): Operation => operation);
  if (runtime.length > 0) return least(runtime);
  const actions = setUpActions.filter((action) => names.includes(action));
  expect(actions).toHaveLength(names.length);
  if (actions.length === 0) return "none";
  const byScope = Map.groupBy(resources, (definition) =>
    least(actions.map((action) => setUpOperation(definition, action))),
  );
  const [usual = ["", []], ...others] = [...byScope].toSorted(
    ([, a], [, b]) => b.length - a.length,
  );
  const exceptions = others.flatMap(([scope, kinds]) =>
    kinds.map(({ noun }) => `; ${scope} for ${noun}s`),
  );
  return usual[0] + exceptions.join("");
};

test("the guide's table of scopes is what the operations need", () => {
  expect(rows).toHaveLength(5);
  for (const { what, operations, needs } of rows)
    expect([what, needed(operations)]).toEqual([what, needs]);
});
