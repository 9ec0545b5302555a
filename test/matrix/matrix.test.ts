import { describe, test } from "vitest";
import { groups } from "./groups.js";
import { operations } from "./support/acts.js";
import { runCourse } from "./support/course.js";
import { Stage } from "./support/stage.js";

describe.each(groups.map((group) => [group.title, group] as const))("%s", (_, { rows }) => {
  for (const { fault, cells } of rows) {
    for (const operation of operations) {
      const cell = cells[operation];
      if (typeof cell === "string") continue;
      const isTrue = !("defect" in cell);
      (isTrue ? test : test.fails)(`${fault}/${operation}: ${cell.words}`, async () => {
        if ("arrange" in cell) return runCourse(operation, cell);
        await using stage = await Stage.open(cell.emulator);
        await cell.test(stage);
      });
    }
  }
});
