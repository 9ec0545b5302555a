import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const listening = "0A";

const readable = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

/** Inode and port of every socket of this machine that waits for connections. */
const sockets = (): ReadonlyMap<string, number> =>
  new Map(
    ["tcp", "tcp6"].flatMap((table) =>
      readable(() => readFileSync(`/proc/net/${table}`, "utf8"), "")
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , , state]) => state === listening)
        .map((row) => [row[9] ?? "", Number.parseInt(row[1]?.split(":")[1] ?? "", 16)] as const),
    ),
  );

/** The ports on which a process waits for connections, as `/proc` shows them (Linux). */
export const listeningPorts = (pid: number): readonly number[] => {
  const folder = `/proc/${pid}/fd`;
  const own = readable(() => readdirSync(folder), []).map((name) =>
    readable(() => readlinkSync(`${folder}/${name}`), ""),
  );
  return [...sockets()].flatMap(([inode, port]) => (own.includes(`socket:[${inode}]`) ? port : []));
};
