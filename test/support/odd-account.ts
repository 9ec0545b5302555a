/** Objects of an account by collection, as people and other tools have made them over the years. */
export type OddAccount = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Texts that must be found in no file and in no state in clear. */
export const oddCanary = "canary-8c1f";

/** Names as they are found in old accounts. */
const oddNames = [
  "Größe & Maß",
  "订单机器人",
  "orders-bot",
  "class",
  "007",
  "  padded  ",
  "naïve \"quotes\" 'n' `ticks` ${x}",
  "🛒🛒",
  "عربة التسوق",
  "a\u202eb\u200bc",
  "İstanbul ǅ",
  "__proto__",
];

export const oddId = (kind: number, place: number): string =>
  `${String(kind).repeat(8)}-0000-4000-8000-${String(place).padStart(12, "0")}`;

const times = (place: number) => ({
  created: new Date(Date.UTC(2024, 0, 1, 0, place)).toISOString(),
  modified: new Date(Date.UTC(2025, 0, 1, 0, place)).toISOString(),
});

const named = (place: number): string =>
  place < oddNames.length
    ? (oddNames[place] ?? "")
    : `object ${"abcdefghijklmnopqrstuvwxyz"[place % 26]} ${place}`;

const authentications = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ id: oddId(1, place), ...times(place), name: named(place) },
    ...(place % 2 === 0
      ? {
          type: "basic",
          basicAuth: { username: `hub ${place}`, password: `${oddCanary}-p${place}` },
        }
      : {
          type: "oauth2",
          oauth2: {
            tokenRequestUrl: `https://bot${place}.example.com/oauth/token?x=1&y=${place}`,
            method: "POST",
            headers: [
              { name: "X-Key", value: `${oddCanary}-k${place}` },
              { name: "X_Key", value: `${oddCanary}-l${place}` },
            ],
            payload: JSON.stringify({ clientSecret: `${oddCanary}-c${place}` }),
            accessTokenPath: "$.accessToken",
          },
        }),
    ...(place % 3 === 0 ? { description: `Made by hand\r\non day ${place} \u{1f600}` } : {}),
    ...(place % 4 === 0
      ? {
          ...{ active: false, region: "eu", tags: [place, 2.5, null], later: { a: { b: [] } } },
          // No name and no form tells that it is a secret.
          vendorKey: `${oddCanary}-v${place}`,
        }
      : {}),
  }));

const roles = ["customer", "custom_bot", "platform_bot", "platform_agent", "custom_agent"];

const clientApplications = (count: number, used: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ id: oddId(2, place), ...times(place), name: named(place) },
    roles: roles.slice(0, 1 + (place % roles.length)).map((name, at) => ({
      name,
      version: at % 2 === 0 ? "v3" : "v1",
      callback: `https://App${place}.example.com/ü/${at}`,
      notificationEmail: `Ops+${place}@Example.com`,
      ...(at === 0 ? { authentication: { id: oddId(1, place % used) } } : {}),
      ...(at === 1 ? { headers: [{ name: "x-tenant", value: `${oddCanary}-h${place}` }] } : {}),
      ...(place === 1 ? { queue: "fast" } : {}),
    })),
  }));

const participants = (count: number, used: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ id: oddId(3, place), ...times(place), name: named(place), type: "custom_bot" },
    application: { id: oddId(2, place % used) },
    ...(place % 2 === 0
      ? {
          intents: {
            intent: [
              { value: "a-b", displayValue: "A → B" },
              { value: "return", displayValue: "x".repeat(90) },
            ],
          },
          options: [
            { name: "tier one", value: "gold" },
            { name: "2", value: "silver" },
          ],
        }
      : {}),
  }));

const channels = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ id: oddId(4, place), ...times(place), type: `custom.${named(place)}` },
    ...{ displayName: named(place), icon: "aVZCT1J3MEtHZ28=" },
    ...(place % 2 === 0
      ? {
          restrictions: {
            inbound: {
              maxTextLength: 500,
              features: ["attachments"],
              attachmentPolicy: {
                enabled: true,
                maxSize: 1e6,
                type: "block",
                extensions: ["exe", "bat"],
              },
            },
            outbound: { systemMessages: true, richMessageTypes: ["listpicker"], shade: "blue" },
          },
          l10nProperties: [
            {
              language: "en-US",
              properties: [{ name: "msg_hub_off_hours", value: 'We\'re "closed" {0}.\n' }],
            },
          ],
        }
      : {}),
  }));

const orchestrations = (count: number, apps: number, bots: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ id: oddId(5, place), ...times(place), name: place < 4 ? "Orders" : named(place) },
    applications: {
      customerConfiguration: { customer: { id: oddId(2, place % apps) } },
      ...(place % 2 === 0
        ? {
            botConfiguration: {
              forwardTranscript: true,
              bots: [
                {
                  id: oddId(2, place % apps),
                  participant: { id: oddId(3, place % bots) },
                  onEscalation: { agent: { id: oddId(2, (place + 1) % apps) } },
                },
              ],
            },
          }
        : {}),
      agentConfiguration: { agents: [{ id: oddId(2, place % apps) }] },
    },
  }));

const accounts = (count: number, ways: number, flows: number) =>
  Array.from({ length: count }, (_, place) => ({
    ...{ id: oddId(6, place), ...times(place), name: named(place), address: `+49 30 ${place}` },
    channel: { id: oddId(4, place % ways) },
    chatConfigurations: {
      ...(place % 2 === 0 ? { timeout: 30, defaultLanguage: "de-DE" } : {}),
      orchestration: { id: oddId(5, place % flows) },
      entryPoint: { id: "1007" },
    },
    ...(place % 3 === 0
      ? { attributes: [{ name: "provider key", value: `${oddCanary}-a${place}` }] }
      : {}),
    ...(place % 5 === 0
      ? { caseManagement: { sameCaseDuration: 60, copyCustomAttributes: true } }
      : {}),
  }));

/** So many objects of each kind, all of them in use by the next kinds. */
export const oddAccount = (each = 10): OddAccount => ({
  authentications: authentications(each),
  clientapplications: clientApplications(each, each),
  participants: participants(each, each),
  channels: channels(each),
  orchestrations: orchestrations(each, each, each),
  accounts: accounts(each, each, each),
});
