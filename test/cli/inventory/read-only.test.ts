import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { runProgram } from "../../../cli/program.js";
import { recordedSession } from "../session.js";
import { pending, type StackSandbox, stackSandbox } from "./stack-sandbox.js";

/**
 * Runs something in this process as if it had been started there. Variables are set one by one: a
 * `process.env` of another object is not what the system's functions read.
 */
const inside = async <Result>(
  { folder, env }: { folder: string; env: Readonly<Record<string, string | undefined>> },
  work: () => Promise<Result>,
): Promise<Result> => {
  const before = process.cwd();
  process.chdir(folder);
  for (const name of Object.keys({ ...process.env, ...env })) vi.stubEnv(name, env[name]);
  try {
    return await work();
  } finally {
    process.chdir(before);
    vi.unstubAllEnvs();
  }
};

const seed = Number(process.env.READ_ONLY_SEED ?? 20_261_122);
const runs = Number(process.env.READ_ONLY_RUNS ?? 12);

/** A stack with everything that these commands can bring in order, and more objects than its state has. */
const disordered = async (): Promise<StackSandbox> => {
  const box = await stackSandbox();
  await box.upForms(() => true);
  const web = { displayName: "Web", icon: "aVZC" };
  await box.up("Channel", "begun", { ...web, type: "custom.begun" });
  const begun = box.popped();
  await box.up("Channel", "left", { ...web, type: "custom.left" });
  box.popped();
  await box.control.byHand("POST", "/channels", { ...web, type: "custom.foreign" });
  const [changed] = await box.control.objects("channels");
  if (!changed) throw new Error("no channel");
  const { id, created: _, modified: __, ...body } = changed;
  await box.control.byHand("PUT", `/channels/${id}`, { ...body, displayName: "By hand" });
  box.write(pending("creating", begun), pending("updating", { ...box.state.at(-1) }));
  return box;
};

/** Whatever changes nothing: the options that do are left out on purpose. */
const line = fc.oneof(
  fc.tuple(
    fc.constant("drift"),
    fc.subarray(["--managed-only", "--stack=prod"]),
    fc.constantFrom<readonly string[]>([], ["--json"], ["--markdown"]),
  ),
  fc.tuple(
    fc.constant("repair"),
    fc.subarray(["--ignore-lock", "--stack=prod"]),
    fc.constantFrom<readonly string[]>([], ["--json"]),
  ),
  fc.tuple(
    fc.constant("orphans"),
    fc.subarray(["--stack=prod"]),
    fc.constantFrom<readonly string[]>([], ["--json"]),
  ),
  fc.tuple(
    fc.constant("compare"),
    fc.subarray(["--stack=prod"]),
    fc.constantFrom<readonly string[]>(["live", "stack:prod"], ["live", "stack:prod", "--json"]),
  ),
);

/** What Pulumi is asked changes nothing: `--show-secrets` only shows. */
const reading = /^(whoami|stack --show-name|stack ls|stack export|config --json) ?/;

const asIn = async (box: StackSandbox, args: readonly string[]) => {
  const { session, written } = recordedSession();
  const code = await inside({ folder: box.folder, env: box.options.env }, () =>
    runProgram(args, session),
  );
  return { code, ...written };
};

const lockKinds = [undefined, "", { pid: 4_194_303, hostname: "elsewhere" }] as const;

test("without --apply, --delete or --release no command writes anything, whatever is out of order", {
  timeout: 600_000 + runs * 5000,
}, async () => {
  const box = await disordered();
  const drawn = fc.sample(fc.tuple(line, fc.constantFrom(...lockKinds), fc.boolean()), {
    ...{ seed, numRuns: runs },
  });
  for (const [[command, options, form], lock, isForbidden] of drawn) {
    if (lock !== undefined) box.lock(lock);
    if (isForbidden)
      await box.control.faults({ on: "GET /channels", kind: "forbidden-list", times: 9 });
    const before = { bytes: box.bytes(), writes: await box.control.writes() };
    const objects = await box.control.objects();
    const args = [command, ...options, ...form];
    const { code, out, err } = await asIn(box, args);
    const after = { bytes: box.bytes(), writes: await box.control.writes() };
    const tokens = after.writes.slice(before.writes.length).filter((call) => !/token/i.test(call));
    expect({ args, tokens, objects: await box.control.objects() }).toEqual({
      ...{ args, tokens: [], objects },
    });
    expect(after.bytes).toEqual(before.bytes);
    expect({ args, asked: box.asked().filter((asked) => !reading.test(asked)) }).toEqual({
      ...{ args, asked: [] },
    });
    expect([0, 1, 2, 6]).toContain(code);
    expect(err).not.toMatch(/^\s+at /m);
    if (form.includes("--json") && out) expect(() => JSON.parse(out)).not.toThrow();
    if (form.length === 0)
      for (const each of out.split("\n")) expect(each.length, each).toBeLessThanOrEqual(80);
    await box.control.control("DELETE", "/faults");
    box.unlock();
  }
});
