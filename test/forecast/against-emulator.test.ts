import { afterEach, expect, test } from "vitest";
import { simulateRun } from "../../cli/forecast/forecast.js";
import type { ForecastOperation } from "../../cli/forecast/operations.js";
import { workloadOf } from "../../cli/forecast/planned-steps.js";
import { previewIn, stackExportIn } from "../../cli/pulumi/stack-documents.js";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import { type Lifecycle, lifecycle } from "../../provider/lifecycle/index.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import { type Plan, plans } from "../../provider/service/plans.js";
import { kindOf } from "../emulator/running.js";
import { EmulatedTime } from "./support/emulated-time.js";
import { type Declared, previewOf, programs, stateOf } from "./support/program.js";

type Json = Record<string, unknown>;

/** A resource in the state. */
interface Kept {
  readonly id: string;
  readonly outs: Json;
}

/** Lets so many jobs run together; the others wait in order of arrival. */
const slots = (parallel: number) => {
  let free = parallel;
  const waiting: (() => void)[] = [];
  return async <T>(job: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
};

const lifecycleOf = (kind: string, run: Run): Lifecycle => lifecycle(kindOf(kind), run);

/** What Pulumi's engine does with a program, by the real life cycle: order, slots, levels. */
class SmallEngine {
  readonly state = new Map<string, Kept>();
  readonly #program: readonly Declared[];
  readonly #parallel: number;

  constructor(program: readonly Declared[], parallel: number) {
    this.#program = program;
    this.#parallel = parallel;
  }

  /** Makes or changes every resource, after what it depends on. */
  async up(run: Run, description: string): Promise<void> {
    const slot = slots(this.#parallel);
    const ended = new Map<string, Promise<void>>();
    for (const each of this.#program) {
      const before = Promise.all(each.after.map((name) => ended.get(name)));
      ended.set(
        each.name,
        before.then(() => slot(() => this.#write(run, each, description))),
      );
    }
    await Promise.all(ended.values());
  }

  /** Deletes everything in levels. */
  async destroy(run: Run): Promise<void> {
    for (const level of this.#levels()) {
      const slot = slots(this.#parallel);
      await Promise.all(level.map((each) => slot(() => this.#delete(run, each))));
    }
  }

  async refresh(run: Run): Promise<void> {
    const slot = slots(this.#parallel);
    await Promise.all(
      this.#program.map((each) =>
        slot(async () => {
          const kept = this.#kept(each);
          await lifecycleOf(each.kind, run).read(kept.id, kept.outs);
        }),
      ),
    );
  }

  #kept({ name }: Declared): Kept {
    const kept = this.state.get(name);
    if (!kept) throw new Error(`${name} is not in the state`);
    return kept;
  }

  async #write(run: Run, each: Declared, description: string): Promise<void> {
    const inputs: Json = {
      ...each.inputs((name) => this.state.get(name)?.id ?? ""),
      description,
      owner: `shop/prod/0123456789abcdef/${each.name}`,
      __provider: "pointer",
    };
    const kept = this.state.get(each.name);
    const calls = lifecycleOf(each.kind, run);
    if (kept) {
      const { outs } = await calls.update(kept.id, kept.outs, inputs);
      this.state.set(each.name, { id: kept.id, outs: { ...outs } });
    } else {
      const { id, outs } = await calls.create(inputs);
      this.state.set(each.name, { id, outs: { ...outs } });
    }
  }

  async #delete(run: Run, each: Declared): Promise<void> {
    const kept = this.#kept(each);
    await lifecycleOf(each.kind, run).delete(kept.id, kept.outs);
    this.state.delete(each.name);
  }

  /** From what nothing depends on any more in the deepest level up; each ends before the next. */
  #levels(): readonly (readonly Declared[])[] {
    const depthOf = ({ after }: Declared): number =>
      this.#program
        .filter(({ name }) => after.includes(name))
        .reduce((most, other) => Math.max(most, depthOf(other) + 1), 0);
    const levels: Declared[][] = [];
    for (const each of this.#program) {
      const depth = depthOf(each);
      levels[depth] = [...(levels[depth] ?? []), each];
    }
    return levels.reverse();
  }
}

type ProgramName = keyof typeof programs;

const parallel = 8;
const noEngine = { startSeconds: 0, stepSeconds: 0 };

let emulator: Emulator | undefined;

afterEach(() => emulator?.close());

const start = async (plan: Plan, burst: number | undefined) => {
  const limits = burst === undefined ? {} : { burst };
  const started = await startEmulator({ clock: "manual", plan, ...limits });
  emulator = started;
  const clock = new EmulatedTime(started);
  clock.install();
  /** A process of its own, as Pulumi starts one for each operation; its bucket is full by then. */
  const newRun = () => {
    const session = clock.connect(plan, burst);
    return createRun(async () => session);
  };
  return { clock, newRun, rest: () => clock.seconds(clock.sleep(300_000)) };
};

const expected = (
  program: ProgramName,
  operation: ForecastOperation,
  op: string,
  conditions: { readonly plan: Plan; readonly burst?: number },
) => {
  const preview = previewIn(previewOf(programs[program], op));
  const state = op === "create" ? undefined : stackExportIn(stateOf(programs[program]));
  const workload = workloadOf(operation, { ...(preview && { preview }), ...(state && { state }) });
  return simulateRun(workload, { ...conditions, share: 1, parallel }, noEngine);
};

const close = (seconds: number): number => Math.max(2, 0.03 * seconds);

const cases = plans.flatMap((plan) =>
  [undefined, 1].flatMap((burst) =>
    (Object.keys(programs) as ProgramName[]).map((program) => ({ plan, burst, program })),
  ),
);

test.each(cases)(
  "$program on $plan, burst $burst: the forecast fits the real life cycle",
  async ({ plan, burst, program }) => {
    const { clock, newRun, rest } = await start(plan, burst);
    const engine = new SmallEngine(programs[program], parallel);
    const conditions = { plan, ...(burst === undefined ? {} : { burst }) };
    const operations = [
      ["up", "create", () => engine.up(newRun(), "first")],
      ["up", "update", () => engine.up(newRun(), "second")],
      ["refresh", "refresh", () => engine.refresh(newRun())],
      ["destroy", "delete", () => engine.destroy(newRun())],
    ] as const;
    for (const [operation, op, work] of operations) {
      const before = clock.accepted;
      const seconds = await clock.seconds(work());
      const { totalSeconds, calls } = expected(program, operation, op, conditions);
      expect.soft(calls.length, `calls of ${op}`).toBe(clock.accepted - before);
      expect
        .soft(Math.abs(totalSeconds - seconds), `${op}: ${totalSeconds} for ${seconds}`)
        .toBeLessThan(close(seconds));
      await rest();
    }
  },
);
