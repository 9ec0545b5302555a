import { createRequire } from "node:module";
import { join } from "node:path";

const built = join(__dirname, "..", "..", "dist", "test", "support");

/* Before all tests with the real Pulumi: hundreds of runs, with programs of a few lines. */
process.env.NODE_OPTIONS = `--require "${join(built, "small-run.js")}"`;
// Each start of Pulumi parses a dictionary of passwords, and its collector would walk over that again and again.
process.env.GOGC = "400";
// Emulators of the built package in this process; those in others are seen by what is loaded there first.
createRequire(__filename)(join(built, "seen-violations.js"));
