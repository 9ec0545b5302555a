// What the vendor's description of 2026-02-19 says of the bodies of the six kinds, by hand, on
// purpose a second time: nothing here comes from the definitions.

/** What the vendor says of one value. */
export type Fact =
  | { readonly is: "text"; readonly min: number; readonly max: number; readonly start: string }
  | { readonly is: "words"; readonly words: readonly string[] }
  | { readonly is: "number"; readonly min: number; readonly max: number; readonly whole: boolean }
  | { readonly is: "flag" }
  /** An ID of 36 characters, alone or as `{ id }`. */
  | { readonly is: "id" | "reference" }
  /** `names`: those that its items have, each once. */
  | { readonly is: "list"; readonly most: number; readonly of: Fact; readonly names?: string[] }
  | { readonly is: "pairs"; readonly most: number; readonly of: Fact; readonly keys: Keys }
  | { readonly is: "object"; readonly members: Members }
  /** An object with this one member, which a program writes without the object. */
  | { readonly is: "boxed"; readonly in: string; readonly of: Fact };

/** The two members of an entry, and the keys that are allowed; none: any of 1 to 255 characters. */
interface Keys {
  readonly names: readonly [key: string, value: string];
  readonly words?: readonly string[];
}

/**
 * Facts by member. After the name: `!`, required; `+`, required, but a program need not say it; `~`,
 * always there here, because of the specification; `=` and another name, so a program calls it.
 */
export type Members = Readonly<Record<string, Fact>>;

/** Up to so many characters; `start` is what formats that the vendor does not state begin with. */
const text = (max: number, start = ""): Fact => ({
  is: "text",
  min: Math.max(1, start.length),
  max,
  start,
});
const free: Fact = { is: "text", min: 0, max: Number.POSITIVE_INFINITY, start: "" };
const words = (...all: string[]): Fact => ({ is: "words", words: all });
const number = (min: number, max: number): Fact => ({ is: "number", min, max, whole: false });
const whole = (min: number, max: number): Fact => ({ is: "number", min, max, whole: true });
const flag: Fact = { is: "flag" };
const reference: Fact = { is: "reference" };
const object = (members: Members): Fact => ({ is: "object", members });
const list = (most: number, of: Fact): Fact => ({ is: "list", most, of });
const boxed = (name: string, of: Fact): Fact => ({ is: "boxed", in: name, of });
const pairs = (most: number): Fact => {
  return { is: "pairs", most, of: text(1023), keys: { names: ["name", "value"] } };
};

const week = 10_080;
const url = "https://x.example.com/";
const common: Members = { description: text(1023), active: flag };
const named: Members = { "name!": text(255), ...common };

const basicAuth = object({ "username!": text(255), "password!": text(255) });
const oauth2 = object({
  "tokenRequestUrl!": text(255, url),
  "method!": words("POST", "GET"),
  "headers!": pairs(25),
  "payload!": text(1024),
  "accessTokenPath!": text(1024),
});

const roleWords =
  "customer custom_bot platform_bot platform_agent custom_agent business_notification".split(" ");
const role = object({
  "name!": words(...roleWords),
  "version!": words("v1", "v3"),
  "callback!": text(1023, url),
  "notificationEmail!": text(255, "a@b.example"),
  headers: pairs(25),
  authentication: reference,
});

const features = ["typing_events", "attachments", "richText", "delivery_receipts"];
const richWords =
  "listpicker timepicker richlink quickreply template form authentication payment app".split(" ");
const languages =
  "en-US es-ES fr-FR it-IT de-DE nl-NL pt-BR pt-PT da-DK ru-RU fr-CA zh-CN ja-JP ko-KR sv-SE";
const attachmentPolicy = object({
  enabled: flag,
  maxSize: whole(1, 10_485_760),
  type: words("allow", "block"),
  extensions: list(75, text(255)),
});
const inbound = object({
  maxTextLength: whole(1, 10_000),
  attachmentPolicy,
  features: list(4, words(...features)),
});
const outbound = object({
  maxTextLength: whole(1, 10_000),
  systemMessages: flag,
  midChatAuth: flag,
  attachmentPolicy,
  features: list(3, words(...features)),
  customerServiceWindow: object({
    "durationMinutes!": whole(1, week),
    continueMessageTypes: list(Number.POSITIVE_INFINITY, words(...richWords)),
  }),
  richMessageTypes: list(9, words(...richWords)),
});

const bot = object({
  "id!=application": { is: "id" },
  "participant!": reference,
  onEscalation: object({ "agent!": reference }),
});

/** The bodies of each kind; an authentication has two forms, told apart by `type`. */
export const bodies: readonly (readonly [kind: string, body: Members])[] = [
  ["Authentication", { ...named, "type+": words("oauth2"), "oauth2+": oauth2 }],
  ["Authentication", { ...named, "type+": words("basic"), "basicAuth+": basicAuth }],
  // Of the most roles, 7, one would have to be there twice.
  [
    "ClientApplication",
    { ...named, "roles!": { is: "list", most: 7, of: role, names: roleWords } },
  ],
  [
    "Participant",
    {
      ...named,
      "type!": words("custom_bot", "platform_bot"),
      "application!": reference,
      intents: boxed(
        "intent",
        list(500, object({ "value!": text(255), "displayValue!": text(255) })),
      ),
      options: pairs(25),
    },
  ],
  [
    "Channel",
    {
      "type!": text(255),
      "displayName!": text(255),
      "icon!": text(512_000, "AAAA"),
      ...common,
      restrictions: object({ inbound, outbound }),
      l10nProperties: {
        is: "pairs",
        most: 25,
        of: pairs(75),
        keys: { names: ["language", "properties"], words: languages.split(" ") },
      },
    },
  ],
  [
    "Orchestration",
    {
      "name!": free,
      ...common,
      "applications!": object({
        "botConfiguration~": object({
          forwardTranscript: flag,
          bypassVaDuration: number(1, week),
          "bots!": list(1, bot),
        }),
        customerConfiguration: object({ "customer!": reference }),
        agentConfiguration: object({ "agents!": list(1, reference) }),
      }),
    },
  ],
  [
    "Account",
    {
      ...named,
      "address!": text(255),
      "channel!": reference,
      caseManagement: object({ sameCaseDuration: number(1, week), copyCustomAttributes: flag }),
      "chatConfigurations!": object({
        timeout: number(3, week),
        defaultLanguage: free,
        onAgentUnavailability: words("off_hours", "retain_and_retry"),
        allowLogoutWithOpenChats: flag,
        allowQueueTransferOnAgentUnavailability: flag,
        "orchestration!": reference,
        "entryPoint!": boxed("id", text(255)),
      }),
      attributes: pairs(10),
    },
  ],
];
