import { paths } from "../emulator/http/listener.js";
import { openApiDocument } from "../emulator/http/openapi.js";
import { noJournal } from "../emulator/service/journal.js";
import { savedSwitches } from "../emulator/service/switches.js";
import type { EmulatorArguments } from "./serve-emulator.js";

/** The API of an emulator with these options as an OpenAPI document: what it would serve at `/openapi.json`. */
export const openApiText = ({
  host,
  port,
  tlsCert,
  switch: switches,
}: EmulatorArguments): string => {
  const origin = `${tlsCert ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const addresses = { baseUrl: origin + paths.base, tokenUrl: origin + paths.token };
  const document = openApiDocument(addresses, savedSwitches(noJournal, switches));
  return `${JSON.stringify(document, undefined, 2)}\n`;
};
