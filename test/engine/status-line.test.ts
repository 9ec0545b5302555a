import { createRequire } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { engineStatusLine } from "../../provider/engine/status-line.js";

const script = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
const load = createRequire(script);

interface Line {
  readonly urn: string;
  readonly message: string;
}

/** An engine that takes calls which are under way together from the last to the first. */
const engineThatTakesLastFirst = async () => {
  const grpc = load("@grpc/grpc-js");
  const { EngineService } = load("@pulumi/pulumi/proto/engine_grpc_pb.js");
  const { Empty } = load("google-protobuf/google/protobuf/empty_pb.js");
  const taken: Line[] = [];
  const underWay: (() => void)[] = [];
  const server = new grpc.Server();
  server.addService(EngineService, {
    log: (
      { request }: { request: { getUrn(): string; getMessage(): string } },
      answer: (error: null, empty: unknown) => void,
    ) => {
      if (underWay.length === 0) setImmediate(() => setImmediate(takeAll));
      underWay.push(() => {
        taken.push({ urn: request.getUrn(), message: request.getMessage() });
        answer(null, new Empty());
      });
    },
  });
  const takeAll = (): void => {
    for (const take of underWay.splice(0).reverse()) take();
  };
  const address = await new Promise<string>((resolve, reject) => {
    server.bindAsync(
      "127.0.0.1:0",
      grpc.ServerCredentials.createInsecure(),
      (error: Error | null, port: number) => (error ? reject(error) : resolve(`127.0.0.1:${port}`)),
    );
  });
  onTestFinished(() => server.forceShutdown());
  return { address, taken };
};

const statusLineTo = (address: string) => {
  const before = process.argv;
  process.argv = [process.execPath, script, address];
  onTestFinished(() => {
    process.argv = before;
  });
  return engineStatusLine();
};

test("a row ends as it was told last, though the engine takes calls in any order", async () => {
  const { address, taken } = await engineThatTakesLastFirst();
  const show = statusLineTo(address);
  const rows = ["a", "b", undefined];
  for (const row of rows) {
    show("2 s left", row);
    show("kept", row, "info");
    show("1 s left", row);
    show("", row);
  }
  await expect.poll(() => taken).toHaveLength(9);
  for (const row of rows) {
    const messages = taken.filter(({ urn }) => urn === (row ?? "")).map(({ message }) => message);
    expect(messages).toEqual(["2 s left", "kept", ""]);
  }
  show("again", "a");
  await expect.poll(() => taken.at(-1)).toEqual({ urn: "a", message: "again" });
});

test("where no engine answers, a line is lost and nothing else", async () => {
  const { address } = await engineThatTakesLastFirst();
  const show = statusLineTo(address.replace(/\d+$/, "1"));
  for (let line = 0; line < 100; line += 1) expect(() => show(`${line}`, "a")).not.toThrow();
});
