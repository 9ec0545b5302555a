import { savedSwitches } from "../emulator/control/switches.js";
import { paths } from "../emulator/http/request-listener.js";
import { noJournal } from "../emulator/journal.js";
import { openApiDocument } from "../emulator/openapi/openapi-document.js";
import type { EmulatorArguments } from "./serve-emulator.js";

/** The API of an emulator with these options as an OpenAPI document: what it would serve at `/openapi.json`. */
export const openApiText = ({ host, port, tls, switch: switches }: EmulatorArguments): string => {
  const origin = `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const addresses = { baseUrl: origin + paths.base, tokenUrl: origin + paths.token };
  const document = openApiDocument(addresses, savedSwitches(noJournal, switches));
  return `${JSON.stringify(document, undefined, 2)}\n`;
};
