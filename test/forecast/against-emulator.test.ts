import { afterEach, expect, test } from "vitest";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import { simulateRun } from "../../provider/forecast/forecast.js";
import type { ForecastOperation } from "../../provider/forecast/operations.js";
import { workloadOf } from "../../provider/forecast/planned-steps.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import { previewIn, stackExportIn } from "../../provider/pulumi-cli/stack-documents.js";
import { connectService } from "../../provider/service/connect.js";
import { type Plan, plans } from "../../provider/service/plans.js";
import { readSettings } from "../../provider/service/settings.js";
import { EmulatedTime } from "./support/emulated-time.js";
import { previewOf, programs, stateOf } from "./support/program.js";
import { SmallEngine } from "./support/small-engine.js";

type ProgramName = keyof typeof programs;

const parallel = 8;
const noEngine = { startSeconds: 0, stepSeconds: 0 };

let emulator: Emulator | undefined;

afterEach(() => emulator?.close());

const start = async (plan: Plan, burst: number | undefined) => {
  const limits = burst === undefined ? {} : { burst };
  const started = await startEmulator({ clock: "manual", plan, ...limits });
  emulator = started;
  const settings = readSettings({
    environment: {
      CONVERSATION_BASE_URL: started.baseUrl,
      CONVERSATION_TOKEN_URL: started.tokenUrl,
      CONVERSATION_CLIENT_ID: started.clientId,
      CONVERSATION_CLIENT_SECRET: started.clientSecret,
    },
    config: () => undefined,
  });
  const clock = new EmulatedTime(started);
  await clock.install();
  /** A process of its own, as Pulumi starts one for each operation; its bucket is full by then. */
  const newRun = () => {
    const pace = pacedCalls({ clock, tenant: started.baseUrl, plan, share: 1, ...limits });
    const service = connectService(settings, { clock, pace, transport: clock.transport() });
    return createRun(async () => ({ settings, service }));
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
  return simulateRun(workload, { ...conditions, share: 1, parallel, pageSize: 10 }, noEngine);
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
