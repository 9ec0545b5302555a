import { afterEach, expect, test, vi } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { addressesVariable } from "../../provider/service/emulated-settings.js";
import { findObject } from "../../sdk/find-object.js";

afterEach(() => vi.unstubAllEnvs());

test("beside an emulator, nothing is looked up in the real account of a profile", async () => {
  const starts = ["http://127.0.0.1:4010"];
  vi.stubEnv(addressesVariable, JSON.stringify({ starts, alsoLocal: true }));
  vi.stubEnv("CONVERSATION_EU_BASE_URL", "https://hub.invalid/conversation/v3");
  vi.stubEnv("CONVERSATION_EU_TOKEN_URL", "https://hub.invalid/token");
  vi.stubEnv("CONVERSATION_EU_CLIENT_ID", "client");
  vi.stubEnv("CONVERSATION_EU_CLIENT_SECRET", "canary");
  const looked = findObject(channel, { type: "custom.web" }, "eu");
  await expect(looked).rejects.toThrow(
    "baseUrl and tokenUrl of the profile eu would point to a real account",
  );
});
