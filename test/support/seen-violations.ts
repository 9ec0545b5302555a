import { appendFileSync } from "node:fs";
import { Outgoing } from "../../emulator/conversations/outgoing.js";
import { Store } from "../../emulator/objects/objects.js";
import { CallLog } from "../../emulator/service/calls.js";
import { observeEmulators } from "./observed-emulators.js";

/* Loaded into every process of a test that has an emulator: tells the test what does not fit the description. */

observeEmulators({ CallLog, Outgoing, Store }, (wrong) => {
  const { TEST_VIOLATIONS_FILE: file } = process.env;
  if (file && wrong.length > 0) appendFileSync(file, `${wrong.join("\n")}\n`);
});
