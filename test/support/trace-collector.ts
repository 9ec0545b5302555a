import { parse } from "protobufjs";
import { z } from "zod";
import { grpc } from "../../provider/plugin/protocol.js";

/* OTLP from its specification, as far as spans need it: other than what sends them, on purpose. */
const { root } = parse(`
syntax = "proto3";
message Value {
  oneof value { string s = 1; bool b = 2; int64 i = 3; double d = 4; }
}
message Pair { string key = 1; Value value = 2; }
message Resource { repeated Pair attributes = 1; }
message Status { string message = 2; int32 code = 3; }
message Event { string name = 2; repeated Pair attributes = 3; }
message Span {
  bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
  fixed64 start = 7; fixed64 end = 8; repeated Pair attributes = 9; repeated Event events = 11; Status status = 15;
}
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
message Export { repeated ResourceSpans resourceSpans = 1; }
`);

const exported = root.lookupType("Export");

const pairs = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()).default({}) }))
  .default([])
  .transform((all) =>
    Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]])),
  );

const nanoseconds = z.string().transform((text) => Number(BigInt(text) / 1000n) / 1000);
const hex = z
  .string()
  .default("")
  .transform((text) => Buffer.from(text, "base64").toString("hex"));

const spanSchema = z.object({
  traceId: hex,
  spanId: hex,
  parentSpanId: hex,
  name: z.string(),
  kind: z.number().default(0),
  /** Milliseconds since 1970, to the microsecond. */
  start: nanoseconds,
  end: nanoseconds,
  attributes: pairs,
  events: z.array(z.object({ name: z.string(), attributes: pairs })).default([]),
  status: z.object({ message: z.string().default(""), code: z.number().default(0) }).prefault({}),
});

const exportSchema = z.object({
  resourceSpans: z
    .array(
      z.object({
        resource: z.object({ attributes: pairs }).prefault({}),
        scopeSpans: z.array(z.object({ spans: z.array(spanSchema).default([]) })).default([]),
      }),
    )
    .default([]),
});

/** A span as it arrived, with the name of the service that made it. */
export type CollectedSpan = z.infer<typeof spanSchema> & { readonly service: string };

const spansIn = (bytes: Buffer): readonly CollectedSpan[] => {
  const message = exported.toObject(exported.decode(bytes), { longs: String, bytes: String });
  return exportSchema
    .parse(message)
    .resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({ ...span, service: String(resource.attributes["service.name"]) })),
      ),
    );
};

/** A collector of OpenTelemetry on a socket: it takes OTLP over gRPC. */
export interface TraceCollector {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly spans: readonly CollectedSpan[];
  close(): void;
}

export const startCollector = async (): Promise<TraceCollector> => {
  const spans: CollectedSpan[] = [];
  const server = new grpc.Server({ "grpc.max_receive_message_length": -1 });
  const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  server.addService(
    {
      export: {
        ...{ path, requestStream: false, responseStream: false },
        requestSerialize: (bytes: Buffer) => bytes,
        requestDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
      },
    },
    {
      export: (
        { request }: { readonly request: Buffer },
        answer: (error: null, bytes: Buffer) => void,
      ) => {
        spans.push(...spansIn(request));
        answer(null, Buffer.alloc(0));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { address: `127.0.0.1:${port}`, spans, close: () => server.forceShutdown() };
};
