import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { doors } from "../support/door.js";
import { emulatedProject } from "../support/emulated-project.js";
import { guideCommands } from "../support/guide-commands.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { startCollector } from "../support/trace-collector.js";

const canary = "CANARY-7f3a";

const program = `
const pulumi = require("@pulumi/pulumi");
const c = require("pulumi-conversation");
const password = pulumi.secret("${canary} password");
const authentication = new c.Authentication("auth", { basicAuth: { username: "hub", password } });
new c.Channel("web", { type: "custom.web", displayName: "${canary} shown", icon: "aVZC" });
const headers = { "X-Key": pulumi.secret("${canary} header") };
const bot = { name: "custom_bot", version: "v3", callback: "https://bot.example.com/in", notificationEmail: "ops@example.com" };
new c.ClientApplication("app", { roles: [{ ...bot, authentication, headers }] });
`;

const traceId = "0af7651916cd43dd8448eb211c80319c";
const outerSpan = "b7ad6b7169203331";

test.for(doors)(
  "by the guide's lines, operations stand in the larger trace and hold no secret (%s)",
  async (door) => {
    const collector = await startCollector();
    const commands = guideCommands("rate-limits");
    const [[name = "", value = ""] = []] = commands.flatMap((line) => {
      const exported = /^export (\w+)=(.*)$/.exec(line);
      return exported ? [exported.slice(1)] : [];
    });
    const variables = { NODE_OPTIONS: "", [name]: value };
    const TRACEPARENT = `00-${traceId}-${outerSpan}-01`;
    const project = await emulatedProject(program, {}, { ...variables, TRACEPARENT }, door);
    try {
      const line = commands.find((each) => each.includes("grpc:")) ?? "";
      const words = line.replace("localhost:4317", collector.address).split(" ").slice(1);
      await project.succeed([...words, "--skip-preview"]);
      const { spans } = collector;
      const ours = spans.filter(({ service }) => service === "pulumi-conversation");
      for (const span of ours) expect(span.traceId).toBe(traceId);
      const operations = ours.filter((span) => span.name.startsWith("creating "));
      const urns = operations.map(({ attributes }) => String(attributes["pulumi.urn"]));
      expect(urns.map((urn) => urn.split("::").at(-1)).sort()).toEqual(["app", "auth", "web"]);
      // Dynamic resources are told no span of the engine's.
      const engines = spans.filter(({ service }) => service !== "pulumi-conversation");
      for (const { parentSpanId } of operations)
        if (door === "dynamic") expect(parentSpanId).toBe(outerSpan);
        else expect(engines.map(({ spanId }) => spanId)).toContain(parentSpanId);
      // No span at all, of ours or of Pulumi.
      const everything = JSON.stringify(spans);
      expect(everything).not.toContain(canary);
      expect(everything).not.toContain(project.emulator.clientSecret);
    } finally {
      collector.close();
      await project.close();
    }
  },
);

test("nothing is loaded for traces that nobody wants", async () => {
  const folder = temporaryFolder();
  const [preload, seen] = [join(folder, "preload.cjs"), join(folder, "seen.json")];
  // Writes what loaded each module of a provider's process, when the engine ends it.
  writeFileSync(
    preload,
    `if (process.argv[1]?.includes("dynamic-provider")) process.once("SIGINT", () => {
      const loaded = Object.entries(require.cache).map(([path, { parent }]) => [path, parent?.filename ?? ""]);
      require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify(loaded));
      process.exit(0);
    });`,
  );
  const project = await emulatedProject(program, {}, { NODE_OPTIONS: `--require=${preload}` });
  try {
    await project.succeed(["up", "--yes", "--skip-preview"]);
    const loaded: readonly (readonly [string, string])[] = JSON.parse(readFileSync(seen, "utf8"));
    expect(loaded.some(([path]) => path.includes("provider/dynamic/engine-run"))).toBe(true);
    const ours = loaded.filter((pair) =>
      pair.some((path) => /[\\/]dist[\\/](provider|sdk)[\\/]/.test(path)),
    );
    expect(ours.filter(([path]) => /@opentelemetry|dynamic[\\/]traces/.test(path))).toEqual([]);
  } finally {
    await project.close();
  }
});
