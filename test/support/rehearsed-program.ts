/**
 * A small setup whose variables say what is changed of it: DESCRIBE one description, WITHOUT one
 * resource, FOREIGN a file that a resource of another package makes, REFER a stack whose output is used,
 * ONLY_OUTPUT nothing but that output, SEEN a file for what the program sees.
 */
export const rehearsedProgram = `
const c = require("pulumi-conversation");
const pulumi = require("@pulumi/pulumi");
const { DESCRIBE, WITHOUT = "", FOREIGN, REFER, ONLY_OUTPUT, SEEN } = process.env;
exports.word = pulumi.secret("canary-word");
if (SEEN) {
  const line = [new pulumi.Config("shop").get("line"), process.env.PULUMI_CONVERSATION_REHEARSAL];
  require("node:fs").writeFileSync(SEEN, line.join(" "));
}
if (ONLY_OUTPUT) return;
const description = REFER ? new pulumi.StackReference(REFER).getOutput("word") : DESCRIBE;
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "canary-password" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
const app = new c.ClientApplication("app", { roles: [{ ...role, authentication: auth }] });
if (WITHOUT !== "bot") new c.Participant("bot", { type: "custom_bot", application: app });
if (WITHOUT !== "channel") new c.Channel("web", { type: "custom.web", displayName: "web", icon: "aVZC" });
if (FOREIGN) {
  const { dynamic } = pulumi;
  const create = async (inputs) => {
    require("node:fs").writeFileSync(inputs.file, "made");
    return { id: "made", outs: inputs };
  };
  const remove = async (id, { file }) => require("node:fs").writeFileSync(file, "removed");
  class Elsewhere extends dynamic.Resource {
    constructor(name, inputs) { super({ create, delete: remove }, name, inputs, { dependsOn: app }); }
  }
  new Elsewhere("elsewhere", { file: FOREIGN });
}
`;
