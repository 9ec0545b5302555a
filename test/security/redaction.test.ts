import { expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { fieldViolations } from "../../provider/definition/violations.js";
import { type Lifecycle, lifecycle } from "../../provider/lifecycle/index.js";
import { createRun } from "../../provider/lifecycle/run.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { resources } from "../../provider/resources/index.js";
import { connectService } from "../../provider/service/connect.js";
import type { Settings } from "../../provider/service/settings.js";
import {
  type HttpRequest,
  type HttpResponse,
  TransportFailure,
} from "../../provider/service/transport.js";
import { JumpingClock } from "../service/support/clocks.js";
import { owned } from "../support/emulated.js";
import { formsOf, type Json, marker } from "../support/forms.js";

const clientSecret = "Wz9-client-secret";

const settings: Settings = {
  baseUrl: "https://hub.example.com/conversation/v3",
  tokenUrl: "https://id.example.com/token",
  clientId: "client-1",
  clientSecret,
  scope: "scope-1",
  share: 1,
  platformName: "platform",
  ownershipMark: "description",
};

type Reply = Omit<HttpResponse, "headers"> & Partial<Pick<HttpResponse, "headers">>;
type Answer = (request: HttpRequest) => Reply;

const token = "Wz9.access.token";
const ids = "8a7d0c11-4a5b-4c6d-8e9f-0123456789ab";

/** The life cycle of a kind in front of a service that is no more than a function. */
const before = (definition: Definition, answer: Answer): Lifecycle => {
  const service = connectService(settings, {
    clock: new JumpingClock(),
    pace: waitOutRefusals(),
    retry: { retries: 0 },
    transport: {
      send: async (request) => ({
        headers: {},
        ...(request.url === settings.tokenUrl
          ? { status: 200, text: JSON.stringify({ access_token: token }) }
          : answer(request)),
      }),
      close: async () => {},
    },
  });
  return lifecycle(
    definition,
    createRun(async () => ({ settings, service })),
  );
};

const isList = ({ method, url }: HttpRequest): boolean => method === "GET" && !url.includes(ids);

const emptyList = ({ listKey }: Definition): Reply => ({
  status: 200,
  text: JSON.stringify({ [listKey]: [] }),
});

/** Every secret field of every kind, each with a value of its own. */
const fields = resources.flatMap(formsOf).flatMap(({ definition, name, values }) => {
  const text = JSON.stringify(values).replace(/\$\{\w+\}/g, ids);
  const canaries = [...text.matchAll(new RegExp(`"${marker} ((?:[^"\\\\]|\\\\.)*)"`, "g"))];
  return canaries.map(([canary]) => ({
    name: `${name} ${/[\w.[\]-]+\.[\w.[\]-]+/.exec(canary)?.[0]}`,
    definition,
    valuesWith: (secret: string): Json =>
      owned("it", JSON.parse(text.replace(canary, () => JSON.stringify(secret)))),
  }));
});

const messageOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (error) {
    const { message, stack } = error as Error;
    return `${message}\n${stack}`;
  }
  return "";
};

const password = fields.find(({ name }) => name.endsWith("basicAuth.password"));
if (!password) throw new Error("there is no password");

/** What goes wrong inside a transport, with what it may quote. */
const transportFaults: Readonly<Record<string, (text: string) => Error>> = {
  "a TypeError": (text) => new TypeError(`Headers.append: "${text}" is an invalid header value`),
  "a failure with a strange code": (text) =>
    new TransportFailure(true, Object.assign(new Error(text), { code: text })),
};

test.each(Object.entries(transportFaults))(
  "%s of the transport shows no secret",
  async (_, fail) => {
    for (const secret of [clientSecret, `Bearer ${token}`, "Qz7 a password"]) {
      const { definition, valuesWith } = password;
      const life = before(definition, (request) => {
        if (isList(request)) return emptyList(definition);
        throw fail(secret);
      });
      const message = await messageOf(life.create(valuesWith("Qz7 a password")));
      expect(message).toMatch(/^creating the authentication /);
      expect(message).not.toMatch(/z9|z7/);
    }
  },
);

test("no word of our own is taken for a secret, however common it is", async () => {
  const [definition] = resources.filter(({ kind }) => kind === "ClientApplication");
  if (!definition) throw new Error("none");
  const answer: Answer = (request) =>
    isList(request)
      ? emptyList(definition)
      : { status: 403, text: JSON.stringify({ code: "403-1", developerMessage: "No client." }) };
  const life = before(definition, answer);
  const [form] = formsOf(definition);
  const headers = { "X-Env": "client", "X-A": "application", "X-B": "allowed", "X-C": "creating" };
  const text = JSON.stringify(form?.values).replace(/\$\{\w+\}/g, ids);
  const values = JSON.parse(text, (key, value) => (key === "headers" ? headers : value));
  const message = await messageOf(life.create(owned("it", values)));
  expect(message).toMatch(/^creating the client application "/);
  expect(message).toContain("Could not create client application: POST");
  expect(message).toContain("is not allowed (403, 403-1: No [secret])");
});

test("an unexpected failure is reported without the secrets of inputs and state", async () => {
  const { definition, valuesWith } = password;
  const broken = lifecycle(
    definition,
    createRun(() => Promise.reject(new Error("no room for Qz7-password-1 and Qz7%2Fpassword-2"))),
  );
  const [olds, news] = [valuesWith("Qz7-password-1"), valuesWith("Qz7/password-2")];
  expect(await messageOf(broken.update(ids, olds, news))).toContain(
    "no room for [secret] and [secret] (this is a bug in pulumi-conversation",
  );
});

/** Values that no secret field takes, all made of the secret. */
const wrongShapes = (secret: string): readonly unknown[] => [
  [secret],
  { inner: secret },
  { inner: { deep: [secret] } },
  Object.assign([], [secret, [secret]]),
  secret.repeat(2_000),
];

test("no rule that a value breaks quotes a secret, whatever the value is", async () => {
  for (const { definition, valuesWith } of fields) {
    for (const wrong of wrongShapes("Qz7-hush-hush")) {
      const text = JSON.stringify(valuesWith("Qz7-place"));
      const {
        owner: _,
        __provider: __,
        ...values
      } = JSON.parse(text, (___, value) => (value === "Qz7-place" ? wrong : value));
      expect(JSON.stringify(fieldViolations(definition, values))).not.toContain("Qz7");
      const { failures } = await before(definition, () => ({ status: 500, text: "" })).check(
        {},
        values,
      );
      expect(JSON.stringify(failures)).not.toContain("Qz7");
    }
  }
});
