import { afterEach, expect, test, vi } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { channel } from "../../provider/resources/channel.js";
import { addressesVariable } from "../../provider/service/emulated-settings.js";
import { findObject } from "../../sdk/find-object.js";
import { emulated } from "../support/emulated.js";

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

test("look-ups at once, by programs for different accounts, each find what their own account has", async () => {
  const hubs = [await emulated(), await emulated()];
  const kiosk = { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" };
  const made = await Promise.all(hubs.map(({ service }) => service.create(channel, kiosk)));
  const found = hubs.map(({ emulator }) => {
    for (const [name, value] of Object.entries(emulatorEnvironment(emulator)))
      vi.stubEnv(name, value);
    return findObject(channel, { type: kiosk.type }, undefined);
  });
  expect(await Promise.all(found)).toEqual(made.map(({ id }) => id));
  await Promise.all(hubs.map((hub) => hub.stop()));
});
