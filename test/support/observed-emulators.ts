import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Outgoing } from "../../emulator/conversations/outgoing.js";
import type { Store } from "../../emulator/objects/objects.js";
import type { CallLog } from "../../emulator/service/calls.js";
import type { Check } from "./wire-checks.js";
import { refusalStatuses, wireCallbacks, wireError, wireOperations } from "./wire-table.js";

/** What a server of this process was sent and has answered, byte for byte. */
interface Exchange {
  readonly sent: Buffer[];
  readonly answered: Buffer[];
}

const exchanges = new AsyncLocalStorage<Exchange>();

const copyBytes = (to: Buffer[], chunk: unknown): void => {
  if (typeof chunk === "string" || chunk instanceof Uint8Array) to.push(Buffer.from(chunk));
};

/** Copies what goes through a request and its response, and takes nothing away. */
const copyExchange = (request: IncomingMessage, response: ServerResponse): Exchange => {
  const exchange: Exchange = { sent: [], answered: [] };
  const { push } = request;
  request.push = (...chunk) => {
    copyBytes(exchange.sent, chunk[0]);
    return push.apply(request, chunk);
  };
  for (const name of ["write", "end"] as const) {
    const send: (...chunk: never[]) => unknown = response[name];
    Object.assign(response, {
      [name]: (...chunk: never[]) => {
        copyBytes(exchange.answered, chunk[0]);
        return send.apply(response, chunk);
      },
    });
  }
  return exchange;
};

subscribe("http.server.request.start", (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  exchanges.enterWith(copyExchange(request, response));
});

const bodyIn = (chunks: readonly Buffer[]): unknown => {
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : JSON.parse(text);
};

const wrongIn = (body: unknown, check: Check | undefined): readonly string[] => {
  if (check) return check(body, "");
  return body === undefined ? [] : ["there must be no body"];
};

/** IDs of objects that a snapshot brought: those of before may break the description. */
const brought = new Set<unknown>();

/** Whether something is wrong with an object that a snapshot brought, alone or in a list. */
const isOfBrought = (body: unknown, wrong: string): boolean => {
  const [, key = "", place = ""] = /^\.(\w+)\[(\d+)\]/.exec(wrong) ?? [];
  const whole = Object(body);
  return brought.has(Object(key === "" ? whole : whole[key][place]).id);
};

/** Which secrets a response shows is not known. */
const isSecretGone = (wrong: string): boolean =>
  /\.(password|payload|value) is missing$/.test(wrong);

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

const wrongInAnswer = (name: string, status: number, body: unknown): readonly string[] => {
  const operation = wireOperations.get(name);
  const [known, check] = isSuccess(status)
    ? [[operation?.status], operation?.answered]
    : [refusalStatuses, wireError];
  const wrong = wrongIn(body, check);
  return [
    ...(known.includes(status) ? [] : ["the status is undocumented"]),
    ...wrong.filter((each) => !isSecretGone(each) && !isOfBrought(body, each)),
  ];
};

const wrongInCallback = (body: string): readonly string[] => {
  const version = /"(content":\{"type|mimeType)":/.test(body) ? "v1" : "v3";
  const wrong = wrongIn(JSON.parse(body), wireCallbacks[version]);
  return wrong.map((each) => `A callback of version ${version} got: ${each}`);
};

/** The parts of an emulator through which its calls, its deliveries and its snapshots go. */
interface Observed {
  readonly CallLog: typeof CallLog;
  readonly Outgoing: typeof Outgoing;
  readonly Store: typeof Store;
}

/**
 * Holds every call that emulators of this process serve, and every message that they deliver, against
 * the vendor's description. Only what is accepted must fit; what a fault answers need not.
 *
 * @param report gets what is wrong
 */
export const observeEmulators = (
  { CallLog, Outgoing, Store }: Observed,
  report: (wrong: readonly string[]) => void,
): void => {
  const { add } = CallLog.prototype;
  CallLog.prototype.add = function (entry, content) {
    const { sent, answered } = exchanges.getStore() ?? {};
    const { method, template, status } = entry;
    const name = `${method} ${template}`;
    const operation = wireOperations.get(name);
    if (operation && sent && isSuccess(status)) {
      const wrong = wrongIn(bodyIn(sent), operation.sent);
      report(wrong.map((each) => `${name} was sent: ${each}`));
    }
    if (operation && answered && status > 0 && content.fault === undefined) {
      const wrong = wrongInAnswer(name, status, bodyIn(answered));
      report(wrong.map((each) => `${name} answered ${status}: ${each}`));
    }
    return add.call(this, entry, content);
  };
  const { call } = Outgoing.prototype;
  Outgoing.prototype.call = function (outgoing) {
    // A call that wants a body fetches a token; one without a body is a test's own.
    const { body, wantsBody = false } = outgoing;
    if (body !== undefined && !wantsBody) report(wrongInCallback(body));
    return call.call(this, outgoing);
  };
  const { replaceAll } = Store.prototype;
  Store.prototype.replaceAll = function (objects) {
    for (const { id } of Object.values(objects).flat()) brought.add(id);
    replaceAll.call(this, objects);
  };
};
