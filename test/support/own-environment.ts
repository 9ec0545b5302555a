import fc from "fast-check";
import { afterAll, vi } from "vitest";

/**
 * What the shell says of a service, a stack or its passphrase is not for the programs of a test, nor what it
 * says of its terminal, its language and who runs it: what they print depends on that. The runner, in a
 * process of its own, goes by it.
 */
const ofTheShell =
  /^(CONVERSATION_|PULUMI_(ACCESS_TOKEN|BACKEND_URL|CONFIG|DEBUG|HOME|OPTION_|PARALLEL|STACK)|(CI|COLUMNS|LINES|TERM|FORCE_COLOR|NO_COLOR|LANG|LANGUAGE|NODE_OPTIONS|no_proxy)$|LC_|GIT_|GITHUB_)/;

const here = "127.0.0.1,localhost,::1";
const { NO_PROXY = "", no_proxy: direct = NO_PROXY } = process.env;
for (const name of Object.keys(process.env)) if (ofTheShell.test(name)) delete process.env[name];
// Files follow each other in one process: another object in its place would stay, and the system's functions,
// such as that for the folder for temporary files, would go on reading this one.
Object.defineProperty(process, "env", { writable: false });
afterAll(() => void vi.unstubAllEnvs());
// A proxy of this machine does not lead back to it.
process.env.NO_PROXY = direct.endsWith(here) ? direct : [direct, here].filter(Boolean).join();
// Farthest from the time of services: where a text tells the time of a machine, every machine shows it.
process.env.TZ = "Pacific/Kiritimati";

// Properties that say nothing of their own look at the same values in each short run, and at new ones in a long one.
const { PROPERTY_RUNS: runs } = process.env;
fc.configureGlobal(runs ? { numRuns: Number(runs) } : { seed: 20_261_124 });
