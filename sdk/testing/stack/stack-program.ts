import * as pulumi from "@pulumi/pulumi";
import type { PulumiFn } from "@pulumi/pulumi/automation/index.js";
import { errorText } from "../checks/error-text.js";

/**
 * A program whose failure is told by Pulumi alone. One that throws within the Automation API also
 * leaves a rejection that nobody handles, for which test runners fail tests that have nothing to do
 * with it.
 *
 * @param failed is told what the program threw
 */
export const guardedProgram =
  (program: PulumiFn, failed: (error: unknown) => void): PulumiFn =>
  async () => {
    try {
      return await program();
    } catch (error) {
      failed(error);
      // An error in the log fails the run, and deletes nothing that was not declared any more.
      await pulumi.log.error(`The program failed: ${errorText(error)}`);
      return undefined;
    }
  };
