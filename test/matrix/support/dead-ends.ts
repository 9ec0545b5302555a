import { createServer, type Server, type Socket } from "node:net";
import type { Stage } from "./stage.js";

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
};

const listening = async (stage: Stage, onSocket: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stage.closeWith({
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  });
  return portOf(server);
};

/** Origins that no call gets through to, each in its own way. */
export const deadEnds = {
  /** A name that does not resolve. */
  unknownName: async () => "https://no-such-host.invalid",
  /** A port that nobody listens on. */
  refusing: async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const port = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    return `http://127.0.0.1:${port}`;
  },
  /** Takes the connection and says nothing, so that it never becomes a TLS connection; then the time is over. */
  silent: async (stage: Stage) =>
    `https://127.0.0.1:${await listening(stage, () => setImmediate(stage.deadlines.pass))}`,
  /** Speaks no TLS where TLS is expected. */
  plain: async (stage: Stage) => {
    const answer = (socket: Socket): void =>
      void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    return `https://127.0.0.1:${await listening(stage, answer)}`;
  },
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<string>>>;
