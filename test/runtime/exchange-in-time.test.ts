import { expect, test, vi } from "vitest";
import { type CodeExchange, exchangeCode } from "../../sdk/runtime/pkce.js";

const exchange: CodeExchange = {
  tokenUrl: "https://login.example.com/users/token",
  clientId: "spa-1",
  redirectUri: "https://app.example.com/back",
  code: "c-1",
  verifier: "v".repeat(43),
};

const silent: Readonly<Record<string, CodeExchange["fetch"]>> = {
  "never answers": () => new Promise(() => {}),
  "never ends its answer": async () => ({ status: 200, text: () => new Promise(() => {}) }),
};

test.each(Object.keys(silent))("a token address that %s is given up in time", async (name) => {
  vi.useFakeTimers();
  try {
    const { [name]: fetch } = silent;
    for (const [timeoutMs, waited] of [
      [undefined, 60_000],
      [50, 50],
    ] as const) {
      const limit = timeoutMs === undefined ? {} : { timeoutMs };
      let failure: unknown;
      const ended = exchangeCode({ ...exchange, ...(fetch ? { fetch } : {}), ...limit }).catch(
        (error) => {
          failure = error;
        },
      );
      await vi.advanceTimersByTimeAsync(waited - 1);
      expect(failure).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      await ended;
      expect(failure).toMatchObject({ code: "TIMED_OUT", effect: "unknown" });
      expect(vi.getTimerCount()).toBe(0);
    }
  } finally {
    vi.useRealTimers();
  }
});

test("an exchange that is given up says so at once", async () => {
  const controller = new AbortController();
  const { "never answers": fetch } = silent;
  const options = { ...exchange, ...(fetch ? { fetch } : {}), signal: controller.signal };
  const ended = exchangeCode(options);
  controller.abort();
  await expect(ended).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(exchangeCode(options)).rejects.toMatchObject({ code: "CANCELLED" });
});
