import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { z } from "zod";
import { CommandFailure } from "../command.js";
import type { ImportEntry } from "./import-entries.js";
import { importEntrySchema } from "./import-schema.js";

/** Names the address at which the converter gets the entries of the command that started it. */
export const entriesVariable = "PULUMI_CONVERSATION_ENTRIES";

const entriesSchema = z.array(importEntrySchema);

/**
 * Hands entries to a converter on this machine, from memory to memory: they may hold secrets. The address
 * cannot be guessed and answers once.
 */
export const handOver = async (entries: readonly ImportEntry[]) => {
  const path = `/${randomBytes(24).toString("hex")}`;
  let text: string | undefined = JSON.stringify(entries);
  const server = createServer((request, response) => {
    const isIt = request.url === path && text !== undefined;
    response.writeHead(isIt ? 200 : 404, { "content-type": "application/json" });
    response.end(isIt ? text : "null");
    if (isIt) text = undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Gets the entries that a command has handed over. @throws CommandFailure where they cannot be had */
export const handedOver = async (url: string): Promise<readonly ImportEntry[]> => {
  const answer: unknown = await fetch(url).then(
    (response) => response.json(),
    () => undefined,
  );
  const { data } = entriesSchema.safeParse(answer);
  if (data) return data;
  throw new CommandFailure("The command that started this import has ended. Start it again.");
};
