import { expect, test } from "vitest";
import { running } from "./running.js";

test("GET /health says that it is ready, to anybody and by any name", async () => {
  const own = await running({ plan: "developer", burst: 1, controlSecret: true });
  for (const headers of [{}, { host: "emulator:4010" }, { origin: "https://elsewhere.example" }]) {
    const { status, json } = await own.send("GET", "/health", { headers });
    expect([status, json]).toEqual([200, { status: "ok" }]);
  }
  expect((await own.send("HEAD", "/health")).status).toBe(200);
  expect((await own.emulator.control.stats()).calls).toEqual({});
});
