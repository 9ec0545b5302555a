import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { z } from "zod";
import { type Door, doors } from "../support/door.js";
import { emulatedProject } from "../support/emulated-project.js";
import { guideCommands } from "../support/guide-commands.js";
import { type CollectedSpan, startCollector } from "../support/trace-collector.js";

const canary = "CANARY-7f3a";

/** Twenty objects of four kinds, five of each. */
const program = `
const pulumi = require("@pulumi/pulumi");
const c = require("pulumi-conversation");
for (const n of [1, 2, 3, 4, 5]) {
  const password = pulumi.secret("${canary} password");
  const authentication = new c.Authentication("auth-" + n, { basicAuth: { username: "hub", password } });
  new c.Channel("channel-" + n, { type: "custom.web" + n, displayName: "${canary} shown", icon: "aVZC" });
  const headers = { "X-Key": pulumi.secret("${canary} header") };
  const bot = { name: "custom_bot", version: "v3", callback: "https://bot.example.com/in", notificationEmail: "ops@example.com" };
  const application = new c.ClientApplication("app-" + n, { roles: [{ ...bot, authentication, headers }] });
  new c.Participant("bot-" + n, { type: "custom_bot", application });
}
`;

const plan = { CONVERSATION_PLAN: "developer", CONVERSATION_BURST: "1" };

const opened = (door: Door, more: Readonly<Record<string, string>> = {}) =>
  emulatedProject(
    program,
    { plan: "developer", burst: 1 },
    { ...plan, NODE_OPTIONS: "", ...more },
    door,
  );

const up = ["up", "--yes", "--skip-preview"] as const;

const ms = ({ start, end }: CollectedSpan): number => end - start;

const ofOurs = (spans: readonly CollectedSpan[]): readonly CollectedSpan[] =>
  spans.filter(({ service }) => service === "pulumi-conversation");

/** A row of the engine: its own span, and the smallest of ours below it. */
interface SeenRow {
  readonly name: string;
  readonly engine: CollectedSpan;
  readonly parts: readonly CollectedSpan[];
}

const rowsOf = (spans: readonly CollectedSpan[]): readonly SeenRow[] => {
  const ours = ofOurs(spans);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const parents = new Set(ours.map(({ parentSpanId }) => parentSpanId));
  const topOf = (span: CollectedSpan): CollectedSpan => {
    const above = byId.get(span.parentSpanId);
    return above?.service === span.service ? topOf(above) : span;
  };
  return ours
    .filter(({ name }) => name.startsWith("creating "))
    .map((top) => {
      const engine = byId.get(top.parentSpanId);
      if (!engine) throw new Error(`${top.name} is below no span of the engine`);
      const name = String(top.attributes["pulumi.urn"]).split("::").at(-1) ?? "";
      const parts = ours.filter((span) => !parents.has(span.spanId) && topOf(span) === top);
      return { name, engine, parts: parts.toSorted((a, b) => a.start - b.start) };
    })
    .toSorted((a, b) => a.engine.start - b.engine.start);
};

/** Each resource's row as Pulumi shows it, in milliseconds. */
const shownRows = (output: string): ReadonlyMap<string, number> =>
  new Map(
    [...output.matchAll(/ (\S+) created \((\d+(?:\.\d+)?)s\)/g)].map(([, name = "", seconds]) => [
      name,
      Number(seconds) * 1000,
    ]),
  );

const traceId = "0af7651916cd43dd8448eb211c80319c";
const outerSpan = "b7ad6b7169203331";

/** Follows the guide, within a larger trace. */
const trace = async (door: Door) => {
  const collector = await startCollector();
  const commands = guideCommands("rate-limits");
  const exported = commands.flatMap((line) => /^export (\w+)=(.*)$/.exec(line)?.slice(1) ?? []);
  const [name = "", value = ""] = exported;
  const project = await opened(door, {
    [name]: value,
    TRACEPARENT: `00-${traceId}-${outerSpan}-01`,
  });
  try {
    const line = (commands.find((each) => each.includes("grpc:")) ?? "").replace(
      "localhost:4317",
      collector.address,
    );
    const output = await project.succeed([...line.split(" ").slice(1), "--skip-preview"]);
    const settings = await z
      .object({ CONVERSATION_CLIENT_ID: z.string(), CONVERSATION_CLIENT_SECRET: z.string() })
      .parseAsync(project.environment);
    return { output, settings, spans: [...collector.spans] };
  } finally {
    collector.close();
    await project.close();
  }
};

const expectNoSecret = (
  { settings, spans }: Awaited<ReturnType<typeof trace>>,
  { expect }: TestContext,
): void => {
  // No span at all, of ours or of Pulumi.
  const everything = JSON.stringify(spans);
  expect(everything).not.toContain(canary);
  expect(everything).not.toContain(settings.CONVERSATION_CLIENT_SECRET);
};

test
  .runIf(doors.includes("dynamic"))
  .concurrent(
    "operations of dynamic resources are directly in the larger trace, and hold no secret",
    async (context) => {
      const { expect } = context;
      const traced = await trace("dynamic");
      const ours = ofOurs(traced.spans);
      const operations = ours.filter(({ name }) => name.startsWith("creating "));
      expect(operations).toHaveLength(20);
      for (const { parentSpanId } of operations) expect(parentSpanId).toBe(outerSpan);
      for (const span of ours) expect(span.traceId).toBe(traceId);
      const urns = operations.map(({ attributes }) => attributes["pulumi.urn"]);
      expect(urns).toContain(
        "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Channel::channel-1",
      );
      expect(new Set(urns).size).toBe(20);
      expect(ours.some(({ name }) => name === "wait for POST /channels")).toBe(true);
      expectNoSecret(traced, context);
    },
  );

test
  .runIf(doors.includes("plugin"))
  .concurrent("the trace of the plugin explains each row, and holds no secret", async (context) => {
    const { expect } = context;
    const traced = await trace("plugin");
    const { output, spans } = traced;
    const rows = rowsOf(spans);
    expect(rows.length).toBe(20);
    const shown = shownRows(output);
    const waited = rows.filter(({ engine }) => ms(engine) >= 2_000);
    expect(waited.length).toBeGreaterThan(10);
    const sumOf = ({ parts }: SeenRow): number => parts.reduce((all, part) => all + ms(part), 0);
    const isExplained = (row: SeenRow): boolean => {
      const [whole, sum, shownMs] = [ms(row.engine), sumOf(row), shown.get(row.name) ?? 0];
      // Pulumi shows whole seconds.
      return (
        Math.abs(whole - sum) < 0.05 * whole && Math.abs(shownMs - sum) < 0.05 * shownMs + 1_000
      );
    };
    // A busy machine takes seconds of its own, most of them while the process starts.
    const least = process.env.QUIET_MACHINE === "1" ? 1 : 0.5;
    expect(waited.filter(isExplained).length).toBeGreaterThanOrEqual(least * waited.length);
    const whole = waited.reduce((all, { engine }) => all + ms(engine), 0);
    const sum = waited.reduce((all, row) => all + sumOf(row), 0);
    expect(Math.abs(whole - sum) / whole).toBeLessThan(0.05);
    for (const { traceId: of } of ofOurs(spans)) expect(of).toBe(traceId);
    expectNoSecret(traced, context);
  });

/** Writes the modules of a provider's process, each with what loaded it, when the engine ends it. */
const preload = (folder: string): string => `
process.once("SIGINT", () => {
  const loaded = Object.entries(require.cache).map(([path, { parent }]) => [path, parent?.filename ?? ""]);
  const seen = JSON.stringify({ script: process.argv[1], loaded });
  require("node:fs").writeFileSync(${JSON.stringify(folder)} + "/" + process.pid + ".json", seen);
  process.exit(0);
});
`;

const modulesSchema = z.object({
  script: z.string(),
  loaded: z.array(z.tuple([z.string(), z.string()])),
});

/** The modules of OpenTelemetry, and of ours for it, that we loaded during an `up`. */
const modulesForTraces = async (
  door: Door,
  more: readonly string[],
): Promise<readonly string[]> => {
  const folder = mkdtempSync(join(tmpdir(), "conversation-modules-"));
  writeFileSync(join(folder, "preload.cjs"), preload(folder));
  const project = await emulatedProject(
    `const c = require("pulumi-conversation"); new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });`,
    {},
    { NODE_OPTIONS: `--require=${join(folder, "preload.cjs")}` },
    door,
  );
  try {
    await project.succeed([...up, ...more]);
    const seen = readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => modulesSchema.parse(JSON.parse(readFileSync(join(folder, name), "utf8"))))
      .filter(({ script }) => script.includes(project.providerProcess));
    const all = seen.flatMap(({ loaded }) => loaded);
    expect(all.some(([path]) => path.includes("provider/dynamic/engine-run"))).toBe(true);
    // What is loaded with the SDK counts as loaded by its manifest.
    const isOurs = (path: string): boolean =>
      /[\\/]dist[\\/](provider|sdk)[\\/]|[\\/]pulumi[\\/]package\.json$/.test(path);
    return all
      .filter(([path, by]) => isOurs(by) || isOurs(path))
      .flatMap(([path]) => /@opentelemetry[\\/][\w-]+|dynamic[\\/]traces/.exec(path)?.[0] ?? []);
  } finally {
    await project.close();
    rmSync(folder, { recursive: true, force: true });
  }
};

test.concurrent.for(doors)(
  "through the door %s nothing is loaded for traces that nobody wants",
  async (door, { expect }) => {
    expect(await modulesForTraces(door, [])).toEqual([]);
    const file = join(tmpdir(), `conversation-trace-${process.pid}-${door}.json`);
    const line = guideCommands("rate-limits").find((each) => each.includes("file:")) ?? "";
    const words = line.replace("/tmp/trace.json", file).split(" ").slice(3);
    expect(words).toEqual(["--otel-traces", `file://${file}`]);
    const loaded = await modulesForTraces(door, words);
    rmSync(file);
    expect(loaded).toContain("dynamic/traces");
    expect(loaded).toContain("@opentelemetry/exporter-trace-otlp-grpc");
  },
);
