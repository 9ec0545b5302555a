import { startEmulator } from "pulumi-conversation/emulator";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { EmulatorControl } from "../support/emulator-control.js";

/* A program may give a provider the address of an account: commands that only look leave it alone. */

let project: EmulatedProject;
let real: Awaited<ReturnType<typeof startEmulator>>;
let account: EmulatorControl;

beforeEach(async () => {
  real = await startEmulator();
  account = new EmulatorControl(real);
  const { baseUrl, tokenUrl, clientId, clientSecret } = real;
  project = await emulatedProject(
    `const c = require("pulumi-conversation");
    const pulumi = require("@pulumi/pulumi");
    const us = JSON.parse(process.env.US);
    const provider = new c.Provider("us", { ...us, clientSecret: pulumi.secret(us.clientSecret) });
    new c.Channel("far", { type: "custom.far", displayName: process.env.NAME ?? "Far", icon: "aVZC" }, { provider });`,
    {},
    { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }) },
    "plugin",
  );
});

afterEach(async () => {
  await project?.close();
  await real.close();
});

test.each([["rehearse"], ["rehearse", "--from-empty"], ["forecast"], ["drift", "--preview"]])(
  "%s %s writes nothing to the account of an explicit provider before the first up",
  async (...args) => {
    const { output, errors } = await project.tool(args.filter(Boolean));
    expect(output + errors).not.toContain(real.clientSecret);
    expect(await account.objects()).toEqual([]);
  },
);

test.each([["rehearse"], ["rehearse", "--destroy"], ["rehearse", "--from-empty"]])(
  "%s %s leaves what a provider of the state has made there, and says why nothing was sent",
  async (...args) => {
    await project.succeed(["up", "--yes", "--skip-preview"]);
    const before = await account.objects();
    const { output, errors } = await project.tool(args.filter(Boolean), { NAME: "New" });
    expect(output + errors).toContain("baseUrl and tokenUrl");
    expect(output + errors).not.toContain(real.clientSecret);
    expect(await account.objects()).toEqual(before);
  },
);
