import { join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { switchTable } from "../../emulator/service/switches.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { order } from "../emulator-runtime/asset-calls.js";
import { address, conversationIn } from "../emulator-runtime/hub.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { kindOf, Running } from "./running.js";

/** `npm run test:long` makes 60 times as many histories. */
const scale = Number(process.env.FUZZ_SCALE ?? 1);
vi.setConfig({ testTimeout: 180_000 * scale });

const life = async (options: EmulatorOptions) =>
  new Running(
    // Nothing leaves this machine: nobody listens there.
    await startEmulator({
      clock: "manual",
      callbackRoute: () => "http://127.0.0.1:9/",
      ...options,
    }),
  );

const shownBy = async (service: Running): Promise<JsonObject> =>
  (await service.control("GET", "/snapshot")).json;

const oneOf = <T>(all: readonly T[], place: number): T | undefined => all[place % all.length];

const starting = { account: address, customer: { name: "Zoë 🛒" } };

/** What changes something; what only reads is in other tests. */
const kindsOfSteps = [
  ...["create", "create odd", "put", "delete", "start", "send odd", "say", "attach"],
  ...["asset", "delete asset", "switch", "wait"],
];

/** One step: what is done, and numbers and a value that decide how. */
interface Step {
  readonly what: string;
  readonly at: number;
  readonly which: number;
  readonly odd: unknown;
}

const randomStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(...kindsOfSteps),
  at: fc.nat({ max: 1000 }),
  which: fc.nat({ max: 1000 }),
  odd: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: "binary", maxLength: 300 })),
});

/** What is done to an emulator, and what is remembered of that. */
class History {
  readonly #conversations: string[] = [];
  readonly #assets: string[] = [];

  constructor(
    private readonly service: Running,
    private readonly seen: Set<string>,
  ) {}

  async carryOut({ what, at, which, odd }: Step) {
    const definition = oneOf(resources, at) ?? kindOf("Channel");
    const { collection } = definition;
    const body = await this.service.body(definition);
    switch (what) {
      case "create":
        return this.#call("POST", collection, body);
      case "create odd":
        return this.#call(
          "POST",
          collection,
          changedAt(body, oneOf(placesIn(body), which) ?? [], odd),
        );
      case "put":
        return this.#call("PUT", `${collection}/${await this.#idIn(collection, which)}`, body);
      case "delete":
        return this.#call("DELETE", `${collection}/${await this.#idIn(collection, which)}`);
      case "start":
        return this.#send({ conversation: starting });
      case "send odd":
        return this.#send({ conversation: starting, content: odd, messageId: odd });
      case "say": {
        const type = oneOf(["text", "conversation.end", "typing.start", "undo", "made.up"], at);
        const conversation = { id: oneOf(this.#conversations, which) ?? "none" };
        return this.#send({ type: { value: type }, conversation });
      }
      case "attach": {
        const attachment = [{ id: oneOf(this.#assets, which) ?? "none" }];
        return this.#send({ conversation: starting, attachments: { attachment } });
      }
      case "asset":
        return this.#asset(oneOf(["a.png", "b.bin", "none", "c.txt"], which));
      case "delete asset":
        return this.#call("DELETE", `assets/${oneOf(this.#assets, which) ?? "none"}`);
      case "switch":
        return this.#turn(at, which);
      default:
        this.service.emulator.advance(which * 1000);
        this.service.forgetToken();
    }
  }

  async #call(method: string, path: string, body?: unknown) {
    const reply = await this.service.call(method, `/${path}`, body);
    this.seen.add(`${method} ${path.replace(/\/\S{9,}/, "")} ${reply.status}`);
    return reply;
  }

  async #send(changes: JsonObject) {
    const common = { type: { value: "text" }, content: { text: "Hello" } };
    const message = { ...common, sender: { type: "customer" }, ...changes };
    const reply = await this.#call("POST", "conversations/messages", {
      messages: { message: [message] },
    });
    if (reply.status === 202) this.#conversations.push(conversationIn(reply));
  }

  async #asset(name = "") {
    const { json } = await this.#call("POST", "assets", order({ name, size: 3 }));
    if (typeof json.id !== "string") return;
    this.#assets.push(json.id);
    const type = { "a.png": "image/png", "b.bin": "application/octet-stream" }[name];
    const upload = { raw: "abc", headers: { "content-type": type ?? "text/html" } };
    await this.service.send("POST", String(json.contentUrl), upload);
  }

  /** The vendor's word stays: what was stored with another is shown with that. */
  async #turn(at: number, which: number) {
    const switches = [
      { secrets: oneOf(switchTable.secrets.values, which) },
      { put: oneOf(switchTable.put.values, which) },
      { unknownReference: oneOf(switchTable.unknownReference.values, which) },
    ];
    await this.service.control("PUT", "/switches", oneOf(switches, at));
  }

  async #idIn(collection: string, which: number): Promise<string> {
    const { objects } = await this.service.emulator.control.snapshot();
    return oneOf(objects[collection] ?? [], which)?.id ?? "constructor";
  }
}

test("whatever happened, data file and snapshot hold all of it", async () => {
  const seen = new Set<string>();
  const steps = fc.array(randomStep, { minLength: 50, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const data = join(temporaryFolder(), "emulator.json");
      let kept: JsonObject;
      {
        await using service = await life({ data });
        const channel = { id: await service.make(kindOf("Channel"), address.channel) };
        await service.make(kindOf("Account"), { address: address.address, channel });
        const history = new History(service, seen);
        for (const step of all) await history.carryOut(step);
        kept = await shownBy(service);
      }
      await using again = await life({ data });
      expect(await shownBy(again)).toEqual(kept);
      await using other = await life({});
      expect((await other.control("PUT", "/snapshot", kept)).text).toBe("");
      expect(await shownBy(other)).toEqual(kept);
    }),
    // A few histories show everything that is looked for below only where they are chosen.
    { numRuns: 4 * scale, endOnFailure: true, ...(scale === 1 ? { seed: 20_261_124 } : {}) },
  );
  // A history that is refused everything would prove nothing.
  for (const some of ["POST conversations/messages 202", "POST assets 200"])
    expect([...seen]).toContain(some);
  expect(new Set([...seen].map((each) => each.split(" ").at(-1))).size).toBeGreaterThan(5);
});
