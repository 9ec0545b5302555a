import fc from "fast-check";
import { newSerial } from "../../provider/lifecycle/ownership.js";
import { markFor, markOf, markText } from "../../provider/lifecycle/resource.js";
import { oddCanary, oddId } from "./odd-account.js";

/** An object as a service sends it, or might. */
type RandomObject = Readonly<Record<string, unknown>>;

/** Objects of each collection, as people, tools and other services have left them. */
export type RandomAccount = Readonly<Record<string, readonly RandomObject[]>>;

/** Texts that would break out of a source, a name or a table, were they taken as they are. */
const harmfulTexts = [
  '"); process.exit(1); new Channel("',
  "`${process.exit(1)}`",
  "*/ process.exit(1); /*",
  "// \u2028process.exit(1)",
  "a\nb\r\nc\\",
  "'\"`\\",
  "| a | `b` |",
  "__proto__",
  "constructor",
  "toString",
] as const;

const names = [
  ...["class", "await", "default", "secrets", "config", "pulumi", "Channel", "undefined"],
  ...["Orders Bot", "orders-bot", "orders_bot", "ORDERS BOT", "e\u0301t\u00e9", "\u00e9te\u0301"],
  ...["1007", "007 James", "\u{1f600}\u{1f600}", "\u202eabc", "x".repeat(300), " padded ", "中文"],
];

const text = fc.oneof(
  fc.constantFrom(...names),
  fc.constantFrom(...harmfulTexts),
  fc.string({ unit: "grapheme", maxLength: 24 }),
  fc.string({ unit: "binary", maxLength: 12 }),
);

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const unknown = some(
  fc.dictionary(
    fc.oneof(text, fc.constantFrom("apiKey", "later", "token")),
    fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.constant(`Bearer ${oddCanary}`)),
    { maxKeys: 3 },
  ),
);

const entries = (value: fc.Arbitrary<unknown>) =>
  fc.uniqueArray(
    fc.record({ name: text, value, further: some(text) }, { requiredKeys: ["name"] }),
    {
      selector: ({ name }) => name,
      maxLength: 4,
    },
  );

const secret = fc.constantFrom(`${oddCanary}-1`, "••••••", "********", undefined);

const most = 5;
const place = fc.nat({ max: most });

/** Mostly an object of the kind; now and then one that is not there. */
const to = (kind: number) => place.map((at) => ({ id: oddId(kind, at) }));

const bodies: readonly (readonly [string, fc.Arbitrary<RandomObject>])[] = [
  [
    "authentications",
    fc.oneof(
      fc.record({
        type: fc.constant("basic"),
        basicAuth: fc.record({ username: text, password: secret }),
      }),
      fc.record({
        type: fc.constant("oauth2"),
        oauth2: fc.record({ payload: secret, headers: some(entries(secret)), later: text }),
      }),
    ),
  ],
  [
    "clientapplications",
    fc.record({
      roles: fc.uniqueArray(
        fc.record({
          name: fc.constantFrom("customer", "custom_bot", "acme_bot", "custom_agent", "robot"),
          version: fc.constantFrom("v1", "v3"),
          callback: fc.constantFrom("https://a.example.com/ü?x=${y}", "http://b.example.com/'"),
          notificationEmail: fc.constant("Ops@Example.com"),
          authentication: some(to(1)),
          headers: some(entries(secret)),
          queue: some(text),
        }),
        { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
      ),
    }),
  ],
  [
    "participants",
    fc.record({
      type: fc.constantFrom("custom_bot", "acme_bot"),
      application: to(2),
      options: some(entries(text)),
      intents: some(
        fc.record({ intent: fc.array(fc.record({ value: text, displayValue: text })) }),
      ),
    }),
  ],
  [
    "channels",
    fc.record({
      displayName: text,
      icon: fc.constant("aVZC"),
      restrictions: some(
        fc.record({ inbound: fc.record({ shade: text, maxTextLength: some(fc.nat()) }) }),
      ),
      l10nProperties: some(
        fc.constant([
          { language: "en-US", properties: [{ name: "msg_hub_x", value: "`${1}`\n" }] },
        ]),
      ),
    }),
  ],
  [
    "orchestrations",
    fc.record({
      applications: fc.record({
        customerConfiguration: some(fc.record({ customer: to(2) })),
        agentConfiguration: fc.record({ agents: fc.array(to(2), { minLength: 1, maxLength: 3 }) }),
        botConfiguration: some(
          fc.record({
            bots: fc.array(
              fc
                .record({ app: to(2), participant: to(3), weight: some(fc.nat()) })
                .map(({ app, ...rest }) => ({ ...app, ...rest })),
              { minLength: 1, maxLength: 2 },
            ),
          }),
        ),
      }),
    }),
  ],
  [
    "accounts",
    fc.record({
      address: text,
      channel: to(4),
      chatConfigurations: fc.record({ orchestration: some(to(5)), timeout: some(fc.nat()) }),
      attributes: some(entries(secret)),
    }),
  ],
];

const logical = fc.constantFrom("web", "orders-bot", "Web_1", "a b");

const described = (kind: string, object: RandomObject, owner: string | undefined): RandomObject => {
  if (owner === undefined) return object;
  const mark = markOf(kind, `other/prod/0123456789abcdef/${owner}`);
  const name = object.name ?? object.type;
  const created = "1970-01-01T00:00:00.000Z";
  return {
    ...object,
    created,
    description: `Shop ${markText(markFor(mark, newSerial({ now: () => 0 }), name))}`,
  };
};

const objects = (collection: string, at: number, body: fc.Arbitrary<RandomObject>) =>
  fc
    .uniqueArray(
      fc.record({
        body,
        name: text,
        description: some(text),
        owner: fc.option(logical, { nil: undefined, freq: 4 }),
        unknown,
        active: some(fc.boolean()),
        day: fc.integer({ min: 1, max: 4 }),
      }),
      // Only orchestrations may share a name.
      { maxLength: most, selector: ({ name, day }) => (at === 4 ? `${name} ${day}` : name) },
    )
    .map(
      (list) =>
        [
          collection,
          list.map(({ body, name, owner, unknown: more, day, ...rest }, index) =>
            described(
              collection,
              {
                ...more,
                ...rest,
                ...(at === 3 ? { type: `custom.${name}` } : { name }),
                ...body,
                ...{ id: oddId(at + 1, index), created: `2024-01-0${day}T00:00:00.000Z` },
              },
              owner,
            ),
          ),
        ] as const,
    );

/** Accounts of up to five objects of each kind, with secrets shown, masked and left out. */
export const randomAccount: fc.Arbitrary<RandomAccount> = fc
  .tuple(...bodies.map(([collection, body], at) => objects(collection, at, body)))
  .map((all) => Object.fromEntries(all));

const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      "Channel",
      "client-application",
      "accounts",
      "*",
      "Account:*",
      "*a*",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 6 }), place).map(([kind, at]) => oddId(kind, at)),
  },
  { weight: 1, arbitrary: text },
);

const words = fc.option(fc.array(word, { minLength: 1, maxLength: 3 }), {
  nil: undefined,
  freq: 1,
});

/** What a person may say to `export` and `import`. */
export const randomSelection = fc
  .record({ include: words, exclude: words, withDependencies: fc.boolean(), managed: fc.boolean() })
  .map(({ include, exclude, ...rest }) => ({
    ...rest,
    ...(include ? { include } : {}),
    ...(exclude ? { exclude } : {}),
  }));
