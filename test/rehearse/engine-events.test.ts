import { expect, test } from "vitest";
import { EngineEvents } from "../../cli/rehearse/run-on-copy.js";

const bucket = {
  op: "create",
  urn: "urn:pulumi:prod::shop::aws:s3/bucket:Bucket::b",
  type: "aws:s3/bucket:Bucket",
};

test("the steps and the errors of a run are read from its log, whatever else is in it", () => {
  const { urn, type } = bucket;
  const events = [
    { preludeEvent: { config: {} } },
    { resourcePreEvent: { metadata: bucket } },
    { resOutputsEvent: { metadata: { ...bucket, urn: 7 } } },
    { resOutputsEvent: { metadata: bucket } },
    { resOpFailedEvent: { metadata: { ...bucket, op: "delete" } } },
    { diagnosticEvent: { urn, message: "<{%fg 1%}>taken<{%reset%}>\n", severity: "error" } },
    { diagnosticEvent: { urn, message: "noted", severity: "debug" } },
    { diagnosticEvent: { message: "noted", severity: "info" } },
  ];
  const read = new EngineEvents();
  for (const event of events) read.take(JSON.stringify(event));
  read.take('{"resOutputsEvent":');
  expect(read).toMatchObject({
    steps: [
      { urn, type, operation: "create", failed: false },
      { urn, type, operation: "delete", failed: true },
    ],
    errors: [{ urn, message: "taken" }],
  });
});
