import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { commands } from "../../cli/program.js";
import { addressesVariable } from "../../provider/service/emulated-settings.js";
import { run } from "./session.js";

/* Beside an emulator no command calls the account of a profile that is not one of an emulator. */

beforeEach(() => {
  vi.stubEnv(addressesVariable, JSON.stringify({ starts: [], alsoLocal: true }));
  const settings = {
    ...{ BASE_URL: "https://hub.invalid/conversation/v3", TOKEN_URL: "https://hub.invalid/token" },
    ...{ CLIENT_ID: "client", CLIENT_SECRET: "canary" },
  };
  for (const [name, value] of Object.entries(settings))
    vi.stubEnv(`CONVERSATION_EU_${name}`, value);
});

afterEach(() => vi.unstubAllEnvs());

/** Needs a stack: `test/built/plugin-accounts.test.ts`. */
const withStack = ["drift", "import", "orphans", "repair"];

const more: Readonly<Record<string, readonly string[]>> = {
  export: ["--out", "never"],
};

const withProfile = commands
  .filter(({ name, options }) => "profile" in options && !withStack.includes(name))
  .map(({ name }) => [name, "--profile", "eu", ...(more[name] ?? [])]);

test.each([...withProfile, ["compare", "profile:eu", "profile:eu"]])(
  "%s %s %s is refused before it sends anything",
  async (...args) => {
    const { code, out, err } = await run(...args);
    expect(code).not.toBe(0);
    expect((out + err).replaceAll(/\s+/g, " ")).toContain("baseUrl and tokenUrl of the profile eu");
    expect(out + err).not.toContain("canary");
  },
);
