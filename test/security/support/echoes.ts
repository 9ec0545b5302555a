import type { HttpResponse } from "../../../provider/service/http/transport.js";

/** How a service may spell what it was told. */
export const spellings: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in JSON": (secret) => JSON.stringify(secret).slice(1, -1),
  "in an address": (secret) => encodeURIComponent(secret.toWellFormed()),
  "in a form": (secret) => new URLSearchParams([["", secret]]).toString().slice(1),
  "in base64": (secret) => Buffer.from(secret).toString("base64"),
  "in base64 for addresses": (secret) => Buffer.from(secret).toString("base64url"),
};

type Place = (text: string) => Pick<HttpResponse, "status" | "text"> & {
  readonly headers?: Readonly<Record<string, string>>;
};

const error = (more: object): string =>
  JSON.stringify({ code: "400-152", developerMessage: "It is wrong.", ...more });

/** Where a refusal may quote what the service was told. */
export const places: Readonly<Record<string, Place>> = {
  "the message": (text) => ({ status: 400, text: error({ developerMessage: `bad: ${text}!` }) }),
  "the message alone": (text) => ({ status: 400, text: error({ developerMessage: text }) }),
  "a message that is cut": (text) => ({
    status: 409,
    text: error({ developerMessage: `the value is ${text}`.slice(0, -3) }),
  }),
  "a message that is cut before its end": (text) => ({
    status: 400,
    text: error({ developerMessage: `the value "${text.slice(0, -2)}..." is wrong` }),
  }),
  "a long message": (text) => ({
    status: 400,
    text: error({ developerMessage: `${"x".repeat(280)} ${text} ${"y".repeat(280)}` }),
  }),
  "the key of a note": (text) => ({
    status: 400,
    text: error({ details: [{ key: text, value: "wrong" }] }),
  }),
  "the value of a note": (text) => ({
    status: 403,
    text: error({ details: [{ key: "attributes[0].value", value: `not ${text}` }] }),
  }),
  "the code": (text) => ({ status: 400, text: error({ code: text }) }),
  "a page": (text) => ({ status: 400, text: `<html><body>${text}</body></html>` }),
  "a page of a failure": (text) => ({ status: 503, text: `<html><body>${text}</body></html>` }),
  "a header": (text) => ({
    status: 302,
    text: "",
    headers: { location: `https://example.com/?${text}`, "www-authenticate": text },
  }),
  "an answer that is no JSON": (text) => ({ status: 200, text: `{"id": ${text}` }),
};
