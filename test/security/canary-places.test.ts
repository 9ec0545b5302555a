import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { authentication } from "../../provider/resources/authentication.js";
import { someId } from "../matrix/support/resource.js";
import type { BentAnswer, BentCall, Ways } from "../matrix/support/wire.js";
import { type Bent, bent } from "../support/bent.js";
import { handedBack } from "../support/door.js";
import { owned } from "../support/emulated.js";
import type { Json } from "../support/forms.js";
import { withoutSealed } from "./support/search.js";

const variable = "CANARY_OF_THE_ENVIRONMENT";
const fromVariable = `\${fromEnv ${variable} 1}`;

let hub: Bent;
let reference: string;

beforeAll(async () => {
  hub = await bent({}, { switches: { unknownReference: "accept" } });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await hub?.stop();
});

/** Where a program can put a value that is nobody's business, and how the service would name the place. */
interface Place {
  readonly kind: string;
  readonly collection: string;
  readonly path: string;
  readonly values: (secret: string) => Json;
  /** Whether the definition, the program's mark or `fromEnv` says that the state must not show it. */
  readonly isSealed: boolean;
  /** Whether it is public by the definition, so that the program alone makes a secret of it. */
  readonly isPublic?: true;
}

const channel = { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" };

const role = { name: "custom_bot", version: "v3", notificationEmail: "bot@example.com" };

const documented: readonly Omit<Place, "isSealed">[] = [
  {
    ...{ kind: "Authentication", collection: "authentications" },
    path: "basicAuth.password",
    values: (secret) => ({ name: "web", basicAuth: { username: "hub", password: secret } }),
  },
  {
    ...{ kind: "Authentication", collection: "authentications" },
    path: "oauth2.payload",
    values: (secret) => oauth2({ payload: { grant: "x", inner: { key: secret } } }),
  },
  {
    ...{ kind: "Authentication", collection: "authentications" },
    path: "oauth2.headers[0].value",
    values: (secret) => oauth2({ payload: "a=b", headers: { "X-Key": `Bearer ${secret}` } }),
  },
  {
    ...{ kind: "ClientApplication", collection: "clientapplications" },
    path: "roles[0].headers[0].value",
    values: (secret) => ({
      name: "bot",
      roles: [
        {
          ...{ ...role, authentication: reference, callback: "https://bot.example.com/in" },
          headers: { "X-Key": secret },
        },
      ],
    }),
  },
  {
    ...{ kind: "Account", collection: "accounts", path: "attributes[0].value" },
    values: (secret) => ({
      ...{ name: "shop", address: "shop-1", channel: someId },
      chatConfigurations: { orchestration: someId, entryPoint: "1007" },
      attributes: { "X-Key": secret },
    }),
  },
];

const oauth2 = (more: Json): Json => ({
  name: "web",
  oauth2: {
    tokenRequestUrl: "https://id.example.com/token",
    method: "POST",
    headers: { Accept: "application/json" },
    accessTokenPath: "$.token",
    ...more,
  },
});

/** Of public fields, what the program marks; the engine seals them in the state. */
const marked: readonly Omit<Place, "isSealed">[] = [
  {
    ...{ kind: "Authentication", collection: "authentications" },
    path: "oauth2.tokenRequestUrl",
    values: (secret) => ({
      ...oauth2({ tokenRequestUrl: addressWith(secret), payload: "a=b" }),
      markedSecrets: ["oauth2.tokenRequestUrl"],
    }),
  },
  {
    ...{ kind: "ClientApplication", collection: "clientapplications" },
    path: "roles[0].callback",
    values: (secret) => ({
      name: "bot",
      roles: [{ ...role, authentication: reference, callback: addressWith(secret) }],
      markedSecrets: ["roles"],
    }),
  },
  {
    ...{ kind: "Channel", collection: "channels", path: "type" },
    values: (secret) => ({ ...channel, type: `custom.${secret}`, markedSecrets: ["type"] }),
  },
  {
    ...{ kind: "Channel", collection: "channels", path: "displayName" },
    values: (secret) => ({ ...channel, displayName: secret, markedSecrets: ["displayName"] }),
  },
];

const addressWith = (secret: string): string => `https://bot.example.com/in?key=${secret}`;

const places: readonly Place[] = [
  ...documented.map((place) => ({ ...place, isSealed: true })),
  ...marked.map((place) => ({ ...place, isSealed: false, isPublic: true as const })),
];

/** How a service may name what it was sent. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in JSON": (secret) => JSON.stringify({ a: secret }),
  "in an address": (secret) => `https://x.example.com/?q=${encodeURIComponent(secret)}`,
  "in a form": (secret) => `${new URLSearchParams({ q: secret })}`,
  ...Object.fromEntries(
    [0, 1, 2].map((before) => [
      `in base64 behind ${before} bytes`,
      (secret: string) => Buffer.from("x".repeat(before) + secret).toString("base64"),
    ]),
  ),
  "its beginning before dots": (secret) => `${secret.slice(0, 9)}...`,
  "its beginning in quotes": (secret) => `"${secret.slice(0, 11)}" of ${secret.length}`,
  "its end": (secret) => `***${secret.slice(-9)}`,
  "a window of it": (secret) => `...${secret.slice(3, 14)}...`,
};

const refusal = (more: Json) => ({
  body: { code: "400-196", developerMessage: "It is wrong.", ...more },
});
const says = (developerMessage: string) => refusal({ developerMessage });
const notes = (key: string, value: string) => refusal({ details: [{ key, value }] });

type Part = (text: string, path: string) => Partial<BentAnswer> & Pick<BentAnswer, "body">;

/** In which part of an answer. */
const parts: Readonly<Record<string, Part>> = {
  "the message": (text) => says(`The value ${text} is wrong.`),
  "the message alone": says,
  "a message that is cut": (text) => says(`The value is ${text}`.slice(0, -3)),
  "a message that is cut before its end": (text) => says(`"${text.slice(0, -2)}..." is wrong.`),
  "a long message": (text) => says(`${"x".repeat(280)} ${text} ${"y".repeat(280)}`),
  "a note on the place": (text, path) => notes(path, `not ${text}`),
  "a note that only names the place": (_, path) => notes(path, "wrong"),
  "the key of a note": (text) => notes(text, "wrong"),
  "the code": (text) => refusal({ code: text }),
  "a page": (text) => ({ body: undefined, text: `<html><body>${text}</body></html>` }),
  "an answer that is no JSON": (text) => ({ body: undefined, status: 200, text: `{"id": ${text}` }),
  "a header": (text) => ({
    ...{ body: undefined, status: 302 },
    headers: { location: `https://x.example.com/?${encodeURI(text)}`, "x-said": encodeURI(text) },
  }),
};

/** What a service shows of what it stores. */
const shows: Readonly<Record<string, (text: string) => unknown>> = {
  echo: (text) => text,
  mask: () => "********",
  omit: () => undefined,
  "another one": () => "somebody's own",
};

const everywhere = (object: Json, secret: string, way: (text: string) => unknown): Json =>
  JSON.parse(JSON.stringify(object), (_, value) =>
    typeof value === "string" && value.includes(secret) ? way(value) : value,
  );

const shortest = 8;

/** Whether a text shows eight characters of a secret side by side, in any way in which it can be read. */
const isShown = (text: string, secret: string): boolean => {
  const decoders: readonly ((given: string) => string)[] = [
    (given) =>
      given.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
    (given) => given.replaceAll("\\", ""),
  ];
  const plain = decoders.reduce((given, decode) => decode(given), text);
  const runs = (text.match(/[\w+/-]{8,}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((skipped) => Buffer.from(run.slice(skipped), "base64").toString("latin1")),
  );
  const [looked, wanted] = [[text, plain, ...runs].join("\n").toLowerCase(), secret.toLowerCase()];
  for (let at = 0; at + shortest <= wanted.length; at++)
    if (looked.includes(wanted.slice(at, at + shortest))) return true;
  return false;
};

/** Everything that an operation gave or said. */
interface Outcome {
  readonly answers: readonly unknown[];
  readonly said: readonly string[];
}

const saidBy = (error: unknown): string =>
  error instanceof Error ? `${error.message}\n${error.stack}\n${JSON.stringify(error.cause)}` : "";

type Operation = (values: Json, change: Json, place: Place, ways: Ways) => Promise<Outcome>;

const inputsOf = (values: Json): Json => owned("it", values);

/** Runs steps one after the other, and takes what each gives or says; the ways are those of the last ones. */
const played = async (
  ways: Ways,
  before: readonly (() => Promise<unknown>)[],
  steps: readonly (() => Promise<unknown>)[],
): Promise<Outcome> => {
  const answers: unknown[] = [];
  const said: string[] = [];
  const play = async (step: () => Promise<unknown>, mayFail: boolean): Promise<void> => {
    try {
      answers.push(await step());
    } catch (error) {
      if (!mayFail) throw error;
      said.push(saidBy(error));
      const { properties } = error as { properties?: unknown };
      if (properties !== undefined) answers.push(properties);
    }
    said.push(...hub.reported);
  };
  for (const step of before) await play(step, false);
  hub.nextRun([]);
  hub.bend.ways = ways;
  for (const step of steps) await play(step, true);
  return { answers, said };
};

/** A resource whose object exists. */
const made = ({ kind }: Place, values: Json) => {
  const entry = { id: "", state: {} as Json, inputs: {} as Json };
  const create = async () => {
    const checked = await hub.of(kind).check({}, inputsOf(values));
    expect(checked.failures).toEqual([]);
    const result = await hub.of(kind).create(handedBack(checked.inputs));
    Object.assign(entry, { id: result.id, state: handedBack(result.outs) });
    entry.inputs = handedBack(checked.inputs);
    return [checked, result];
  };
  return { entry, create };
};

const operations: Readonly<Record<string, Operation>> = {
  create: (values, _, { kind }, ways) => {
    const inputs = inputsOf(values);
    return played(
      ways,
      [],
      [() => hub.of(kind).check({}, inputs), () => hub.of(kind).create(inputs)],
    );
  },
  "refresh, preview and update": (values, change, place, ways) => {
    const { entry, create } = made(place, values);
    const news = inputsOf({ ...values, ...change });
    const of = () => hub.of(place.kind);
    const refresh = async () => {
      const { props, inputs, ...read } = await of().read(entry.id, entry.state);
      entry.state = handedBack(props);
      entry.inputs = inputs ? handedBack(inputs) : entry.inputs;
      return { ...read, props, inputs };
    };
    return played(
      ways,
      [create],
      [
        refresh,
        () => of().check(entry.inputs, news),
        () => of().diff(entry.id, entry.state, news),
        () => of().update(entry.id, entry.state, news),
      ],
    );
  },
};

const isWanted = (call: BentCall, method: string, collection: string): boolean =>
  call.collection === collection && (method === "LIST" ? !call.id : call.method === method);

/** Letters of no word, some signs that are spelt otherwise elsewhere, never too short to be cut. */
const canary = fc
  .string({
    unit: fc.constantFrom(..."ABCDEFGHJKLMNPQRSTUVWXYZ0123456789&é/%"),
    minLength: 16,
    maxLength: 30,
  })
  .map((text) => `Q7z${text}`);

test("no operation shows a secret in an answer or a message, wherever it stands and whatever the service does", async () => {
  const arbitrary = fc.record({
    secret: canary,
    place: fc.constantFrom(...places),
    isFromEnvironment: fc.boolean(),
    operation: fc.constantFrom(...Object.keys(operations)),
    show: fc.constantFrom(...Object.keys(shows)),
    method: fc.constantFrom("POST", "PUT", "GET", "LIST", "DELETE", "none"),
    status: fc.constantFrom(400, 403, 409, 422, 500),
    spelling: fc.constantFrom(...Object.keys(spellings)),
    part: fc.constantFrom(...Object.keys(parts)),
  });
  const property = fc.asyncProperty(arbitrary, async (round) => {
    const { place } = round;
    // The environment is for what the definition keeps secret, and an address spells other signs in its own way.
    const isFromEnvironment = round.isFromEnvironment && !place.isPublic;
    const secret = place.isPublic ? `${round.secret.replace(/\W/g, "")}Q9QQ8Q7` : round.secret;
    hub.bend.ways = {};
    await hub.control("POST", "/reset");
    hub.nextRun([]);
    ({ id: reference } = await hub.service.create(authentication, {
      ...{ name: "hub", type: "basic" },
      basicAuth: { username: "hub", password: "a-password" },
    }));
    vi.stubEnv(variable, isFromEnvironment ? secret : undefined);
    const values = place.values(isFromEnvironment ? fromVariable : secret);
    const named = spellings[round.spelling]?.(secret) ?? secret;
    const refused = { status: round.status, body: {}, ...parts[round.part]?.(named, place.path) };
    const outcome = await operations[round.operation]?.(values, { description: "changed" }, place, {
      shown: (object) => everywhere(object, secret, shows[round.show] ?? String),
      answer: (given, call) => (isWanted(call, round.method, place.collection) ? refused : given),
    });
    const { answers = [], said = [] } = outcome ?? {};
    expect(answers.length + said.length).toBeGreaterThan(0);
    for (const text of said) expect(isShown(text, secret), text).toBe(false);
    if (isFromEnvironment) expect(isShown(JSON.stringify(answers), secret)).toBe(false);
    else if (place.isSealed)
      expect(isShown(JSON.stringify(withoutSealed(answers)), secret)).toBe(false);
  });
  await fc.assert(property, { numRuns: 300, seed: 21 });
});
