import { join } from "node:path";

/* Before all tests with the real Pulumi: hundreds of runs, with programs of a few lines. */
const first = join(__dirname, "..", "..", "dist", "test", "support", "small-run.js");
process.env.NODE_OPTIONS = `--require "${first}"`;
