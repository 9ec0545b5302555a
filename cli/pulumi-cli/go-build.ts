import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Ended, runCommand, type Stops } from "../process/run-command.js";
import type { Step } from "../terminal/progress.js";
import { isAtLeast } from "../version-number.js";
import type { Attempt, Surroundings } from "./attempt.js";
import { findProgram } from "./pulumi-cli.js";
import { type GoProgram, release } from "./releases.js";

const LONGEST_MS = 1_800_000;
/** Where Go's own instructions put it, for a PATH that lacks it. */
const USUAL_FOLDER = "/usr/local/go/bin";

/** Go removes its working files when interrupted. */
const STOPS: Stops = [
  { signal: "SIGINT", afterMs: 0 },
  { signal: "SIGKILL", afterMs: 4000 },
];

/** The Go toolchain, or why there is none to build with. */
const findGo = async (env: NodeJS.ProcessEnv): Promise<{ go: string } | { missing: string }> => {
  const go = findProgram("go", [env.PATH ?? "", USUAL_FOLDER].join(delimiter));
  if (go === undefined) return { missing: "Go is not installed" };
  const { stdout } = await runCommand(go, ["version"], { env, timeoutMs: 60_000 });
  if (isAtLeast(stdout, release.leastGo)) return { go };
  return { missing: `${stdout.trim() || go} is older than Go ${release.leastGo}` };
};

/** Counts what Go says it does, so that a long build is seen to move. */
const follow = (step: Step): ((line: string) => void) => {
  const counts = { downloaded: 0, compiled: 0 };
  return (line) => {
    if (line.startsWith("go: downloading")) counts.downloaded += 1;
    else if (/^[\w.-]+(\/[\w.~-]+)*$/.test(line)) counts.compiled += 1;
    step.detail(`${counts.downloaded} modules downloaded, ${counts.compiled} packages compiled`);
  };
};

/** Builds one program in a module of its own; Go's checksum database vouches for what it downloads. */
const build = (
  go: string,
  program: GoProgram,
  root: string,
  step: Step,
  { env, signal }: Surroundings,
): Promise<Ended> => {
  const cwd = join(root, "build", program.name);
  mkdirSync(cwd, { recursive: true });
  const requirement = `require ${program.module} ${program.version}`;
  writeFileSync(join(cwd, "go.mod"), `module build\n\ngo ${release.leastGo}\n\n${requirement}\n`);
  const output = join(root, "bin", program.name);
  return runCommand(
    go,
    ["build", "-v", "-mod=mod", "-trimpath", ...program.flags, "-o", output, program.package],
    {
      cwd,
      env: {
        ...env,
        CGO_ENABLED: "0",
        GOFLAGS: "-buildvcs=false",
        GOWORK: "off",
        GOTMPDIR: join(root, "build"),
      },
      signal,
      stops: STOPS,
      timeoutMs: LONGEST_MS,
      onLine: follow(step),
    },
  );
};

/** Builds the CLI and the language host from their published Go modules into a folder. */
export const buildFromGoModules = async (
  root: string,
  surroundings: Surroundings,
): Promise<Attempt> => {
  const found = await findGo(surroundings.env);
  if ("missing" in found) return { ok: false, reason: found.missing };
  surroundings.progress.note(
    `Building Pulumi ${release.version} from its Go modules: about 4 minutes on two cores, once per user.`,
  );
  for (const program of release.programs) {
    const step = surroundings.progress.step(`Building ${program.name}`);
    const ended = await build(found.go, program, root, step, surroundings);
    if (ended.code !== 0) {
      step.failed();
      const last = ended.lastLines.slice(-5).join("\n  ");
      return { ok: false, reason: `go build of ${program.package} failed:\n  ${last}` };
    }
    step.done(`Built ${program.name}`);
  }
  rmSync(join(root, "build"), { recursive: true, force: true });
  return { ok: true };
};
