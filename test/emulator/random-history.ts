import fc from "fast-check";
import { switchTable } from "../../emulator/service/switches.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { scopes } from "../support/specification.js";
import { kindOf, type Reply, type Running } from "./running.js";

/** One step: what is done, and numbers and a value that decide how. */
export interface Step {
  readonly what: string;
  readonly at: number;
  readonly which: number;
  readonly odd: unknown;
}

/** A call of an operation, and its answer. */
export interface Answered {
  readonly operation: string;
  readonly reply: Reply;
}

const oneOf = <T>(all: readonly T[], place: number): T | undefined => all[place % all.length];

const textAt = (value: unknown, ...steps: readonly (string | number)[]): string => {
  let here: unknown = value;
  for (const step of steps)
    here = Array.isArray(here) ? here[Number(step)] : isObject(here) ? here[step] : undefined;
  return typeof here === "string" ? here : "unknown";
};

const address = { channel: { type: "custom.history" }, address: "kiosk-1" };

/** An account that conversations can be started on. */
export const prepare = async (service: Running): Promise<void> => {
  const channel = { id: await service.make(kindOf("Channel"), { type: address.channel.type }) };
  await service.make(kindOf("Account"), { address: address.address, channel });
};

const message = (changes: JsonObject): JsonObject => ({
  messages: {
    message: [
      {
        type: { value: "text" },
        content: { text: "Hello" },
        sender: { type: "customer" },
        ...changes,
      },
    ],
  },
});

const starting = { account: address, customer: { name: "Zoë 🛒" } };

/** What is done to an emulator, and what it remembers of that. */
class History {
  readonly #conversations: string[] = [];
  readonly #assets: string[] = [];
  readonly #tokens: string[] = [];

  constructor(private readonly service: Running) {}

  async carryOut({ what, at, which, odd }: Step): Promise<readonly Answered[]> {
    const definition = oneOf(resources, at) ?? kindOf("Channel");
    const path = `/${definition.collection}`;
    const id = await this.#idIn(definition.collection, which);
    const item = `${path}/{id}`;
    switch (what) {
      case "create":
        return [await this.#call("POST", path, path, await this.service.body(definition))];
      case "create odd": {
        const body = await this.service.body(definition);
        const place = oneOf(placesIn(body), which) ?? [];
        return [await this.#call("POST", path, path, changedAt(body, place, odd))];
      }
      case "list": {
        const query = ["", "?$pagesize=2", "?$pagenum=2", "?$pagesize=0", "?name=a"];
        return [await this.#call("GET", path, path + (oneOf(query, which) ?? ""))];
      }
      case "get":
        return [await this.#call("GET", item, `${path}/${id}`)];
      case "put":
        return [
          await this.#call("PUT", item, `${path}/${id}`, await this.service.body(definition)),
        ];
      case "put back": {
        const { json } = await this.service.call("GET", `${path}/${id}`);
        return [await this.#call("PUT", item, `${path}/${id}`, json)];
      }
      case "delete":
        return [await this.#call("DELETE", item, `${path}/${id}`)];
      case "start":
        return [await this.#send({ conversation: starting })];
      case "send odd":
        return [await this.#send({ conversation: starting, content: odd, messageId: odd })];
      case "say": {
        const type = oneOf(["text", "conversation.end", "typing.start", "undo", "made.up"], at);
        const conversation = { id: oneOf(this.#conversations, which) ?? "none" };
        return [await this.#send({ type: { value: type }, conversation })];
      }
      case "attach": {
        const attachment = [{ id: oneOf(this.#assets, which) ?? "none" }];
        return [await this.#send({ conversation: starting, attachments: { attachment } })];
      }
      case "conversation": {
        const known = oneOf(this.#conversations, which) ?? "none";
        return [await this.#call("GET", "/conversations/{id}", `/conversations/${known}`)];
      }
      case "asset":
        return this.#asset(oneOf(["a.png", "b.bin", "none", "c.txt"], which));
      case "get asset": {
        const known = oneOf(this.#assets, which) ?? "none";
        return [await this.#call("GET", "/assets/{id}", `/assets/${known}`)];
      }
      case "delete asset": {
        const known = oneOf(this.#assets, which) ?? "none";
        return [await this.#call("DELETE", "/assets/{id}", `/assets/${known}`)];
      }
      case "sign in":
        this.#tokens.push(await this.service.tokenFor(oneOf(Object.values(scopes), at) ?? ""));
        return [await this.#call("GET", path, path, undefined, this.#tokens.at(-1))];
      case "no token":
        return [await this.#call("PUT", item, `${path}/${id}`, {}, "nobody's")];
      case "switch":
        await this.#turn(at, which);
        return [];
      default:
        this.service.emulator.advance(which * 1000);
        this.service.forgetToken();
        return [];
    }
  }

  async #call(method: string, template: string, path: string, body?: unknown, token?: string) {
    const options = token === undefined ? {} : { token };
    const headers = { "x-platform-error-message": "yes" };
    const reply = await this.service.call(method, path, body, { ...options, headers });
    return { operation: `${method} ${template}`, reply };
  }

  async #send(changes: JsonObject): Promise<Answered> {
    const path = "/conversations/messages";
    const answered = await this.#call("POST", path, path, message(changes));
    const { status, json } = answered.reply;
    if (status === 202)
      this.#conversations.push(textAt(json, "messages", "message", 0, "conversation", "id"));
    return answered;
  }

  async #asset(name: unknown): Promise<readonly Answered[]> {
    const body = { channel: address.channel, sender: { type: "customer" }, name, size: 3 };
    const created = await this.#call("POST", "/assets", "/assets", body);
    const { id, contentUrl } = created.reply.json;
    if (typeof id !== "string") return [created];
    this.#assets.push(id);
    const type = { "a.png": "image/png", "b.bin": "application/octet-stream" }[String(name)];
    if (type)
      await this.service.send("POST", String(contentUrl), {
        raw: "abc",
        headers: { "content-type": type },
      });
    return [created];
  }

  /** The vendor's word stays: what was stored with another is shown with that. */
  async #turn(at: number, which: number): Promise<void> {
    const [name, { values }] = oneOf(
      Object.entries(switchTable).filter(([each]) => each !== "platformName"),
      at,
    ) ?? ["put", { values: ["keep"] }];
    const value = "min" in values ? Math.max(values.min, 5) : oneOf(values, which);
    await this.service.control("PUT", "/switches", { [name]: value });
  }

  async #idIn(collection: string, which: number): Promise<string> {
    const { objects } = await this.service.emulator.control.snapshot();
    return which % 7 === 0
      ? "__proto__"
      : (oneOf(objects[collection] ?? [], which)?.id ?? "constructor");
  }
}

/** What a random history may hold; reading and writing setup objects more often than the rest. */
export const randomSteps = (length: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(
    fc.record({
      what: fc.constantFrom(
        ...["create", "create", "create odd", "create odd", "list", "list", "get", "get", "put"],
        ...["put", "put back", "delete", "delete", "start", "send odd", "say", "say", "attach"],
        ...["conversation", "conversation", "asset", "get asset", "delete asset", "sign in"],
        ...["no token", "switch", "switch", "wait"],
      ),
      at: fc.nat({ max: 1000 }),
      which: fc.nat({ max: 1000 }),
      odd: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: "binary", maxLength: 300 })),
    }),
    { minLength: length, maxLength: length },
  );

/** Carries a history out, and hands each answer over. */
export const carryOut = async (
  service: Running,
  steps: readonly Step[],
  note: (answered: Answered) => void,
): Promise<void> => {
  const history = new History(service);
  for (const step of steps) for (const answered of await history.carryOut(step)) note(answered);
};
