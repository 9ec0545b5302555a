import { expect, test } from "vitest";
import { faultKinds } from "../../emulator/service/faults.js";
import { readPage } from "./pages.js";

/** What the table of faults says of each kind: what happens, and which members it takes. */
const rows = readPage("docs/emulator.md")
  .split("\n")
  .map((line) => line.split("|").map((part) => part.trim()))
  .filter(([, kinds = "", , members]) => kinds.startsWith("`") && members !== undefined);

test.each(Object.entries(faultKinds))(
  "the page explains the fault %s and its members",
  (kind, { members }) => {
    const reported = rows.find(([, kinds = ""]) => kinds.split(", ").includes(`\`${kind}\``));
    const named = [...(reported?.[3] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(reported).toBeDefined();
    expect(named).toEqual(Object.keys(members));
  },
);
