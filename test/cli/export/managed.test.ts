import { expect, test } from "vitest";
import { exportReport } from "../../../cli/export/run-export.js";
import {
  markFor,
  markOf,
  markText,
  newSerial,
} from "../../../provider/lifecycle/ownership/mark.js";
import { oddAccount, oddId } from "../../support/odd-account.js";
import { exportSandbox } from "./exported.js";

/** An account whose channels the stack other/prod has made. */
const managedChannels = () => {
  const account = oddAccount(1);
  const [channel] = account.channels ?? [];
  const mark = markFor(
    markOf("Channel", "other/prod/0123456789abcdef/Web_1"),
    newSerial(0),
    "custom.Größe & Maß",
  );
  const marked = {
    ...channel,
    description: `Shop ${markText(mark)}`,
    created: "1970-01-01T00:00:00.000Z",
  };
  return { ...account, channels: [marked] };
};

const namesIn = (text = ""): readonly string[] =>
  JSON.parse(text).resources.map(({ name }: { readonly name: string }) => name);

test("an object with the mark of a stack is left out and told; who refers to it looks it up", async () => {
  const hub = await exportSandbox(managedChannels());
  const result = await hub.export();
  const { plan } = result;
  expect(plan.skipped).toMatchObject([{ reason: expect.stringContaining("other/prod Web_1") }]);
  expect(plan.lookedUp.map(({ object }) => object.id)).toEqual([oddId(4, 0)]);
  expect(hub.files()["README.md"]).toContain(
    "it carries the mark of another stack: other/prod Web_1",
  );
  expect(exportReport(result)).toContain("--managed declares it, too");
});

test("--managed declares it under the name of its stack, without its mark, and does not import it", async () => {
  const hub = await exportSandbox(managedChannels());
  const result = await hub.export({ managed: true });
  const files = hub.files();
  expect(result.plan.skipped).toEqual([]);
  expect(files["index.ts"]).toContain('= new Channel("Web_1", {');
  expect(files["index.ts"]).toContain('description: "Shop",');
  expect(namesIn(files["import.json"])).not.toContain("Web_1");
  expect(namesIn(result.wholeImport)).toContain("Web_1");
  expect(files["README.md"]).toContain(
    "pulumi state move --source <their stack> --dest prod <urn>",
  );
  expect(files["README.md"]).toContain("| `other/prod` | `Web_1` |");
  for (const line of exportReport(result).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("an account that is managed altogether is a project without resources, and says what to do", async () => {
  const { channels = [] } = managedChannels();
  const hub = await exportSandbox({ channels });
  const result = await hub.export();
  expect(namesIn(hub.files()["import.json"])).toEqual([]);
  expect(hub.files()["README.md"]).toContain("There is nothing to import.");
  expect(hub.files()["README.md"]).not.toContain("pulumi import");
  expect(exportReport(result)).toContain("The account has no objects to declare.");
});
