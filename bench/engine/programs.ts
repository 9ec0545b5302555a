import { join } from "node:path";
import { pointerTo, typeToken } from "../../provider/pointer.js";
import { kind } from "../pacing/session.js";

/** Resources of every program. */
export const resourceCount = 200;

const each = (statement: string): string =>
  `for (let n = 0; n < ${resourceCount}; n++) ${statement};\n`;

/** A provider that does nothing: it answers at once with what it was given. */
const idle = (values: string): string => `
const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: inputs.name, outs: inputs }) };
class Small extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props); }
}
${each(`new Small("small-" + n, ${values})`)}`;

/** The values of our resources, as the engine sees them. */
const values = `{
  name: "bench-" + n, type: "basic", active: true, owner: "sameValues/bench/0123456789abcdef/small-" + n,
  basicAuth: { username: "hub", password: pulumi.secret("no-real-secret") },
}`;

/** What stands in the state for the provider: a path into this build, as long as the pointer of ours. */
const sameCallsPointer = (): string => {
  const path = JSON.stringify(join(__dirname, "same-calls.js"));
  const text = `exports.handler=()=>require(${path}).sameCalls(${JSON.stringify(kind.collection)});`;
  return `${text}//`.padEnd(pointerTo(kind.kind).length, "-");
};

const sameCalls = (): string => `
const pulumi = require("@pulumi/pulumi");
const empty = { created: undefined, modified: undefined };
const __provider = ${JSON.stringify(sameCallsPointer())};
class Small extends pulumi.CustomResource {
  constructor(name, props) { super("${typeToken(kind.kind)}", name, { ...empty, ...props, __provider }); }
}
${each(`new Small("small-" + n, ${values})`)}`;

const ours = `
const { ${kind.kind} } = require("pulumi-conversation");
${each(`new ${kind.kind}("small-" + n, {
  name: "bench-" + n, basicAuth: { username: "hub", password: "no-real-secret" } })`)}`;

/** The programs that are compared, in this order. */
export const programNames = ["floor", "sameValues", "sameCalls", "ours"] as const;

export type ProgramName = (typeof programNames)[number];

/** Those whose provider talks to a service. */
export const callers: readonly ProgramName[] = ["sameCalls", "ours"];

/**
 * The text of a program: the smallest one with dynamic resources, one whose resources have the same
 * values as ours, the secret among them, one whose provider makes the same calls besides, and ours.
 */
export const programText = (name: ProgramName): string => {
  switch (name) {
    case "floor":
      return idle(
        '{ name: "bench-" + n, type: "basic", username: "hub", password: "no-real-secret" }',
      );
    case "sameValues":
      return idle(values);
    case "sameCalls":
      return sameCalls();
    case "ours":
      return ours;
  }
};
