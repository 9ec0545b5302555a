// A provider plugin for the scripts beside it, straight on the protocol of Pulumi's SDK: it has one type,
// tap:index:Thing, with any value, notes every call in the file CALLS, and answers a check as CHECK says ("fails", "throws").
const fs = require("node:fs");
const { createRequire } = require("node:module");

const sdk = createRequire(`${process.env.WORK}/node_modules/@pulumi/pulumi/package.json`);
const grpc = sdk("@grpc/grpc-js");
const { Empty } = sdk("google-protobuf/google/protobuf/empty_pb.js");
const { Struct } = sdk("google-protobuf/google/protobuf/struct_pb.js");
const messages = sdk("./proto/provider_pb.js");
const { PluginInfo } = sdk("./proto/plugin_pb.js");
const { ResourceProviderService } = sdk("./proto/provider_grpc_pb.js");

const note = (...words) => fs.appendFileSync(process.env.CALLS, `${words.join(" ")}\n`);
const shown = (struct) => (struct ? JSON.stringify(struct.toJavaScript()) : "none");
const nameIn = (request) => request.getUrn().split("::").at(-1);
const answer = (type, members) => {
  const message = new type();
  for (const [name, value] of Object.entries(members)) message[`set${name}`](value);
  return message;
};
const live = () => Struct.fromJavaScript({ value: "live" });

const any = { properties: { value: { $ref: "pulumi.json#/Any" } } };
const schema = {
  ...{ name: "tap", version: "1.0.0" },
  resources: { "tap:index:Thing": { ...any, inputProperties: any.properties } },
};

const methods = {
  getSchema: () => answer(messages.GetSchemaResponse, { Schema: JSON.stringify(schema) }),
  getPluginInfo: () => answer(PluginInfo, { Version: "1.0.0" }),
  checkConfig: (request) => answer(messages.CheckResponse, { Inputs: request.getNews() }),
  diffConfig: () => new messages.DiffResponse(),
  configure: () =>
    answer(messages.ConfigureResponse, { Acceptsecrets: true, Supportspreview: true }),
  check: (request) => {
    note("check", nameIn(request), shown(request.getOlds()));
    if (process.env.CHECK === "throws") throw new Error("refused by the check");
    const failure = answer(messages.CheckFailure, { Reason: "refused by the check" });
    const FailuresList = process.env.CHECK === "fails" ? [failure] : [];
    return answer(messages.CheckResponse, { Inputs: request.getNews(), FailuresList });
  },
  diff: (request) => {
    const same = shown(request.getOldInputs()) === shown(request.getNews());
    return answer(messages.DiffResponse, { Changes: same ? 1 : 2 });
  },
  create: (request) => {
    note("create", nameIn(request), request.getPreview() ? "as a preview" : "");
    if (nameIn(request) === process.env.FAILING) throw new Error("the creation failed");
    const Id = request.getPreview() ? "" : "made";
    return answer(messages.CreateResponse, { Id, Properties: request.getProperties() });
  },
  read: (request) => {
    note("read", nameIn(request), shown(request.getInputs()));
    return answer(messages.ReadResponse, {
      ...{ Id: request.getId(), Properties: live(), Inputs: live() },
    });
  },
  update: (request) => answer(messages.UpdateResponse, { Properties: request.getNews() }),
  delete: (request) => {
    note("delete", nameIn(request), request.getId());
    return new Empty();
  },
  cancel: () => new Empty(),
};

const implemented = (method) => (call, done) => {
  try {
    if (!method) throw Object.assign(new Error("not implemented"), { code: 12 });
    done(undefined, method(call.request));
  } catch (error) {
    done({ code: error.code ?? 2, details: error.message });
  }
};

const server = new grpc.Server();
server.addService(
  ResourceProviderService,
  Object.fromEntries(
    Object.entries(ResourceProviderService).map(([name, { responseStream }]) => [
      name,
      responseStream
        ? (call) => call.emit("error", { code: 12, details: "not implemented" })
        : implemented(methods[name]),
    ]),
  ),
);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, port) =>
  process.stdout.write(`${port}\n`),
);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
