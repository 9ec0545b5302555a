import { connect } from "node:net";

const lookEveryMs = 1000;

/**
 * Ends this process when the engine that it serves is gone: an engine that was killed sends no
 * signal, and nothing more may be sent for it.
 *
 * @param address where the engine listens, the last argument of a provider's process
 */
export const endWithEngine = (address = ""): void => {
  const [, host, port] = /^(127\.0\.0\.1):(\d+)$/.exec(address) ?? [];
  if (host === undefined) return;
  const look = (): void => {
    const socket = connect(Number(port), host).unref();
    socket.once("connect", () => socket.destroy());
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") process.exit(1);
    });
  };
  setInterval(look, lookEveryMs).unref();
};
