import { type AddressInfo, createServer } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import { runTraces } from "../../provider/dynamic/traces.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import { channel } from "../../provider/resources/channel.js";
import { kiosk } from "../lifecycle/steps.js";
import { doorOfTests, handedBack, lifecycleThrough } from "../support/door.js";
import { settingsOf } from "../support/emulated.js";
import { EmulatorControl } from "../support/emulator-control.js";
import {
  type CollectedSpan,
  startCollector,
  type TraceCollector,
} from "../support/trace-collector.js";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const engineSpan = "b7ad6b7169203331";
const urn = "urn:pulumi:prod::shop::conversation:index:Channel::kiosk";

let collector: TraceCollector;
let emulator: Emulator;
let control: EmulatorControl;
beforeEach(async () => {
  collector = await startCollector();
  emulator = await startEmulator({ clock: "manual", plan: "developer", burst: 1 });
  control = new EmulatorControl(emulator);
});
afterEach(async () => {
  collector.close();
  await emulator.close();
});

/** A traced run in virtual time: waits take none, and what they would take is in the spans. */
const tracedRun = () => {
  let time = 0;
  const pass = (ms: number): void => {
    time += ms;
    emulator.advance(ms);
  };
  const clock = {
    now: () => time,
    wall: () => Date.UTC(2026, 0, 1) + time,
    sleep: async (ms: number) => pass(ms),
  };
  const settings = settingsOf(emulator, { CONVERSATION_PLAN: "developer" });
  const { step, connect } = runTraces({
    traceparent: () => `00-${traceId}-${engineSpan}-01`,
    urn: () => urn,
    environment: { PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: collector.address },
    clock,
  });
  const pace = pacedCalls({ clock, tenant: "t", plan: "developer", burst: 1, share: 1 });
  const service = connect(settings, {
    ...{ clock, pace, retry: { minTimeoutMs: 1, maxTimeoutMs: 2 } },
    // The pause itself is a timer of the library that repeats.
    onEvent: ({ type }) => type === "repeating" && pass(700),
  });
  const run = createRun(async () => ({ settings, service }), { step });
  return { life: lifecycleThrough(doorOfTests, channel, run), pass, service };
};

const created = async ({ life }: ReturnType<typeof tracedRun>, more = {}) => {
  const { inputs, failures } = await life.check({}, kiosk(more));
  expect(failures).toEqual([]);
  return life.create(handedBack(inputs));
};

/** Spans as lines, each below the one that it belongs to: name, duration in ms, and what ended it. */
const outline = (parent: string, indent = ""): readonly string[] =>
  collector.spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((a, b) => a.start - b.start)
    .flatMap(({ name, start, end, attributes, spanId }) => [
      [
        `${indent}${name} ${Math.round(end - start)}`,
        ...["http.response.status_code", "http.request.resend_count", "error.type"].flatMap(
          (key) => attributes[key] ?? [],
        ),
      ].join(" "),
      ...outline(spanId, `${indent}  `),
    ]);

const leaves = (): readonly CollectedSpan[] => {
  const parents = new Set(collector.spans.map(({ parentSpanId }) => parentSpanId));
  return collector.spans.filter(({ spanId }) => !parents.has(spanId));
};

test("below the engine's span of a resource: its lists, token, waits and calls", async () => {
  const run = tracedRun();
  await created(run);
  expect(outline(engineSpan)).toEqual([
    "creating Channel 0",
    "  listing channels 0",
    "    access token 0",
    "      POST token URL 0 200",
    "    GET /channels 0 200",
    "  POST /channels 0 201",
  ]);
  const [first] = collector.spans.filter(({ name }) => name === "creating Channel");
  expect(first).toMatchObject({
    traceId,
    service: "pulumi-conversation",
    attributes: { "pulumi.urn": urn },
  });
  for (const span of collector.spans) expect(span.traceId).toBe(traceId);
});

test("waits and calls add up to the whole, also where calls are refused and repeated", async () => {
  await control.faults(
    { on: "TOKEN", kind: "status", status: 503 },
    { on: "GET /channels", kind: "status", status: 503 },
    { on: "POST /channels", kind: "status", status: 429 },
  );
  await created(tracedRun());
  const lines = outline(engineSpan);
  expect(
    lines.map((line) => line.replace(/(creating|listing|access|wait)(.*) \d+$/, "$1$2")),
  ).toEqual([
    "creating Channel",
    "  listing channels",
    "    access token",
    "      POST token URL 0 503 503",
    "      pause before POST token URL 700",
    "      POST token URL 0 200 1",
    "    GET /channels 0 503 503",
    "    pause before GET /channels 700",
    "    wait for GET /channels",
    "    GET /channels 0 200 1",
    "  POST /channels 0 429 429",
    "  wait for POST /channels",
    "  POST /channels 0 201 1",
  ]);
  const whole = collector.spans.find(({ name }) => name === "creating Channel");
  const sum = leaves().reduce((ms, { start, end }) => ms + end - start, 0);
  expect(sum).toBeGreaterThan(6_000);
  expect(sum).toBeCloseTo((whole?.end ?? 0) - (whole?.start ?? 0), 1);
});

test("a take-over is a step of its own, and a failure has its code", async () => {
  const { id } = await control.byHand("POST", "/channels", {
    ...{ type: "custom.kiosk", displayName: "By hand", icon: "aVZC" },
  });
  const run = tracedRun();
  expect((await created(run, { adopt: true })).id).toBe(id);
  const lines = outline(engineSpan);
  expect(lines.slice(lines.indexOf("  taking over Channel 0"))).toEqual([
    "  taking over Channel 0",
    "    PUT /channels/{id} 0 204",
  ]);
  await control.faults({ on: "DELETE /channels/{id}", kind: "status", status: 400 });
  await expect(tracedRun().life.delete(String(id), kiosk())).rejects.toThrow();
  expect(outline(engineSpan)).toContainEqual(expect.stringMatching(/^deleting Channel 0 \w+/));
});

test("what takes no call has no span, and no span has a secret, a body or an id", async () => {
  const run = tracedRun();
  await run.life.check({}, kiosk());
  expect(collector.spans).toEqual([]);
  const { id } = await created(run, { description: "canary" });
  const everything = JSON.stringify(collector.spans);
  for (const hidden of [emulator.clientSecret, emulator.clientId, "canary", id, "Bearer"])
    expect(everything).not.toContain(hidden);
  expect(everything).toContain("127.0.0.1");
});

test("spans never go by way of a proxy, and a collector that does not answer is waited for once", async () => {
  const silent = createServer(() => {});
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  vi.stubEnv("http_proxy", `http://${address}`);
  vi.stubEnv("no_grpc_proxy", "");
  try {
    await created(tracedRun());
    expect(collector.spans).not.toEqual([]);
    const { step } = runTraces({
      traceparent: () => undefined,
      urn: () => urn,
      environment: { PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: address },
    });
    const failing = () => step("failing", () => Promise.reject(new Error("failed")));
    await expect(failing()).rejects.toThrow("failed");
    const from = performance.now();
    await expect(failing()).rejects.toThrow("failed");
    expect(performance.now() - from).toBeLessThan(1_000);
  } finally {
    silent.close();
    vi.unstubAllEnvs();
  }
});
