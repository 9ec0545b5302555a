import { rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { shellScript } from "../support/temporary-folder.js";
import { pending, stackSandbox } from "./inventory/stack-sandbox.js";
import { run } from "./session.js";

/** A stack that holds the whole account, in whose folder and environment commands run. */
const inStack = async () => {
  const box = await stackSandbox();
  await box.up("Channel", "web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
  await box.up("Authentication", "auth", {
    ...{ name: "auth", basicAuth: { username: "hub", password: "first-secret" } },
  });
  box.write();
  const { folder, env } = box.options;
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const here = vi.spyOn(process, "cwd").mockReturnValue(folder);
  onTestFinished(() => {
    here.mockRestore();
    vi.unstubAllEnvs();
  });
  return {
    box,
    /** From now on a channel is another one in each reading, in no field that a program declares. */
    keepChanging: async () => {
      const [channel] = await box.control.objects("channels");
      const changed = (year: number) => ({
        channel: [{ ...channel, modified: `${year}-01-01T00:00:00.000Z` }],
        paginationInfo: { count: 1, pagenum: 1, pagesize: 10 },
      });
      const answer = { on: "GET /channels", kind: "status", status: 200, times: 1 };
      const years = Array.from({ length: 12 }, (_, count) => 2100 + count);
      await box.control.faults(...years.map((year) => ({ ...answer, body: changed(year) })));
    },
    /** From now on the list of channels is refused, or has fewer objects than it counts. */
    spoil: (status: number) => {
      const body = { channel: [], paginationInfo: { count: 1, pagenum: 1, pagesize: 10 } };
      const answer = { on: "GET /channels", kind: "status", status, times: 1000 };
      return box.control.faults(status === 200 ? { ...answer, body } : answer);
    },
  };
};

/** Every command that goes on after a list that cannot be read. */
const commands = [
  ["export", "--out", "made"],
  ["compare", "stack:prod", "live"],
  ["import"],
  ["import", "--include", "Channel"],
  ["drift"],
  ["repair"],
  ["orphans"],
];

test.each(commands)("what %s %s could not read is named, and no success", async (...words) => {
  const { spoil, box } = await inStack();
  const made = (at: string) => words.map((word) => word.replace("made", join(box.folder, at)));
  expect(await run(...made("whole"))).toMatchObject({ code: 0 });
  // Without a whole list nothing is an orphan for certain, so a refused one ends the command.
  for (const status of words[0] === "orphans" ? [200] : [200, 403, 404]) {
    await spoil(status);
    for (const json of [[], ["--json"]]) {
      const { code, out, err } = await run(...made(`part-${status}${json}`), ...json);
      const names = (words[0] === "orphans" ? err : out).toLowerCase().includes("channel");
      expect({ status, json, code, names }).toEqual({ status, json, code: 6, names: true });
    }
    await box.control.control("DELETE", "/faults");
  }
});

test.each([...commands, ["explain"]])(
  "no success of %s %s if the account changes all the time",
  async (...words) => {
    const { keepChanging, box } = await inStack();
    await keepChanging();
    const made = words.map((word) => word.replace("made", join(box.folder, "made")));
    const { code, out, err } = await run(...made);
    expect({ code, text: out + err }).toEqual({
      code: 6,
      text: expect.stringMatching(/The account changed\s+while the command was reading it/),
    });
  },
);

test.each([
  ["repair", "repair --apply --stack prod --profile eu"],
  ["drift", "repair --stack prod --profile eu"],
  ["orphans", "orphans --delete --stack prod --profile eu"],
  ["import", "repair --stack prod --profile eu"],
])("the next step that %s names is about the same stack and profile", async (name, step) => {
  const { box } = await inStack();
  await box.up("Channel", "begun", { type: "custom.begun", displayName: "Web", icon: "aVZC" });
  box.write(pending("creating", box.popped()));
  for (const [variable, value] of Object.entries(box.options.env))
    vi.stubEnv(variable.replace("CONVERSATION", "CONVERSATION_EU"), value);
  const { out } = await run(name, "--stack", "prod", "--profile", "eu");
  expect(out.replaceAll(/\s+/g, " ")).toContain(`npx pulumi-conversation ${step}`);
});

test.each([[["explain"]], [["export", "--out", "made"]], [["compare", "live", "live"]]])(
  "%j does not take the environment alone for the settings of a stack that is named",
  async (words) => {
    const { box } = await inStack();
    const made = (at: string) => words.map((word) => word.replace("made", join(box.folder, at)));
    expect(await run(...made("a"), "--stack", "prod")).toMatchObject({ code: 0 });
    writeFileSync(join(box.folder, "config.json"), "torn");
    const refused = async () => (await run(...made("b"), "--stack", "prod")).err;
    expect(await refused()).toContain(
      "configuration, so nothing was done: pulumi config printed no",
    );
    rmSync(join(box.folder, "Pulumi.yaml"));
    expect(await refused()).toMatch(/done: no Pulumi project .*\n.*in a Pulumi project folder/);
    expect(await run(...made("c"))).toMatchObject({ code: 0 });
  },
);

test.each([["explain"], ["drift"], ["doctor"]])(
  "%s advises to set what is missing in the stack that is named",
  async (name) => {
    await inStack();
    vi.stubEnv("CONVERSATION_CLIENT_ID", "");
    const { out, err } = await run(name, "--stack", "prod");
    expect((out + err).replaceAll(/\s+/g, " ")).toContain(
      "pulumi config set conversation:clientId <value> --stack prod",
    );
  },
);

// `compare` names a stack here, and without an interrupted creation `repair` needs no settings.
test.each([...commands, ["explain"]].filter(([name]) => !/compare|repair/.test(`${name}`)))(
  "%s %s says why the configuration with a missing setting could not be read",
  async (...words) => {
    const { box } = await inStack();
    const pulumi = shellScript(
      join(box.folder, "bin", "pulumi"),
      `case "$*" in config*) echo "error: incorrect passphrase" >&2; exit 255;; esac`,
      `exec "${join(box.folder, "pulumi")}" "$@"`,
    );
    vi.stubEnv("PATH", [dirname(pulumi), process.env.PATH].join(delimiter));
    vi.stubEnv("CONVERSATION_CLIENT_SECRET", "");
    const made = words.map((word) => word.replace("made", join(box.folder, "made")));
    const { code, err } = await run(...made);
    expect(code).toBe(1);
    expect(err).toMatch(/clientSecret is missing/);
    expect(err).toMatch(
      /configuration could not be read: incorrect passphrase\s+Set PULUMI_CONFIG_PASSPHRASE/,
    );
  },
);
