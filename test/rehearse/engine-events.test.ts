import { expect, test } from "vitest";
import { engineEventsIn } from "../../cli/rehearse/run-on-copy.js";

const step = { op: "create", urn: "urn:pulumi:prod::shop::aws:s3/bucket:Bucket::b", old: null };
const bucket = { ...step, type: "aws:s3/bucket:Bucket", new: { custom: true, inputs: {} } };

const events: readonly object[] = [
  { preludeEvent: { config: {} } },
  { resourcePreEvent: { metadata: bucket, planning: true } },
  { resOutputsEvent: { metadata: bucket, planning: true } },
  { summaryEvent: { result: "succeeded" } },
  { cancelEvent: {} },
];

const logOf = (all: readonly object[]) => all.map((event) => `${JSON.stringify(event)}\n`).join("");

test("what a preview would do is read whole, or known not to be", () => {
  const { planned, steps, isWhole } = engineEventsIn(logOf(events));
  const { urn, type } = bucket;
  expect({ planned, steps, isWhole }).toEqual({
    planned: [{ urn, type, operation: "create", custom: true }],
    steps: [{ urn, type, operation: "create", failed: false }],
    isWhole: true,
  });
  expect(engineEventsIn("").isWhole).toBe(false);
  expect(engineEventsIn(logOf(events).slice(0, -10)).isWhole).toBe(false);
  const otherForm = { resourcePreEvent: { metadata: { ...bucket, urn: 7 } } };
  expect(engineEventsIn(logOf([otherForm, ...events])).isWhole).toBe(false);
});
