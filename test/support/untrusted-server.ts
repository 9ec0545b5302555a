import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:tls";
import { onTestFinished, vi } from "vitest";
import { closeServer, listenHere, portOf } from "./loopback-server.js";

const pemOf = (name: string): string =>
  readFileSync(join(__dirname, "..", "pacing", "support", `${name}.pem`), "utf8");

/**
 * Until the test ends, a TLS server whose certificate nobody trusts, while the environment asks Node
 * to trust all.
 *
 * @returns its port, and what it receives
 */
export const startUntrustedServer = async () => {
  const received: string[] = [];
  const own = { cert: pemOf("certificate"), key: pemOf("key") };
  const server = createServer(own, (socket) => {
    socket.on("error", () => {});
    socket.once("data", (piece) => {
      received.push(String(piece));
      socket.destroy();
    });
  });
  await listenHere(server);
  onTestFinished(() => closeServer(server));
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  return { port: portOf(server), received };
};
