import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { channel } from "../../provider/resources/channel.js";
import { type Bent, bent } from "../support/bent.js";
import { handedBack } from "../support/door.js";
import { owned } from "../support/emulated.js";
import { oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Bent;
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);

test.each([
  ["in lower case", (name: string) => name.toLowerCase()],
  ["without blanks inside", (name: string) => name.replaceAll(" ", "-")],
  ["cut", (name: string) => name.slice(0, 6)],
])("a lost POST makes no second object where the service keeps names %s", async (_, kept) => {
  let lost = 1;
  hub = await bent({
    stored: (body) => ({ ...body, ...(body.name ? { name: kept(String(body.name)) } : {}) }),
    answer: (answer, { method, collection }) =>
      method === "POST" && collection === "orchestrations" && lost-- > 0 ? "lost" : answer,
  });
  const all = await oneOfEach(steps, (kind, inputs) =>
    kind === "Orchestration" ? { ...inputs, name: "All Orders" } : inputs,
  );
  const made = await hub.objects("orchestrations");
  expect(made.map(({ id }) => id)).toEqual([all.get("Orchestration")?.id]);
});

test("the id in half an answer is enough, though the list cannot be read", async () => {
  hub = await bent({
    answer: (answer, { method }) =>
      method === "POST"
        ? { ...answer, text: `${JSON.stringify(answer.body).slice(0, -1)},"na` }
        : answer,
  });
  await hub.faults({ on: "GET /channels", kind: "status", status: 400, after: 1 });
  const { id } = await steps.make("Channel", kiosk());
  expect((await hub.objects("channels")).map((each) => each.id)).toEqual([id]);
});

test("an object of ours is known by its mark where lists leave names out and no state can be seen", async () => {
  hub = await bent({
    shown: ({ type, ...object }, { id }) => (id === undefined ? object : { type, ...object }),
  });
  const { id } = await steps.make("Channel", kiosk());
  hub.nextRun();
  expect((await steps.make("Channel", kiosk())).id).toBe(id);
});

test("a name is found in the form in which the service shows it", async () => {
  hub = await bent({
    shown: ({ type, ...object }) => ({ ...object, type: String(type).normalize("NFD") }),
  });
  const theirs = { type: "custom.größe", displayName: "K", icon: "aVZC" };
  const { id } = await hub.service.create(channel, theirs);
  hub.nextRun([]);
  await expect(steps.make("Channel", kiosk({ type: theirs.type }))).rejects.toThrow(id);
  expect((await steps.make("Channel", kiosk({ type: theirs.type, adopt: true }))).id).toBe(id);
});

test("times without a zone are GMT, whatever the zone of this machine: ours is no copy", async () => {
  const zone = process.env.TZ;
  process.env.TZ = "America/Los_Angeles";
  try {
    hub = await bent({
      shown: (object) => ({ ...object, created: String(object.created).replace("Z", "") }),
    });
    const { id, state } = await steps.make("Channel", kiosk());
    hub.nextRun();
    const { props } = await hub.of("Channel").read(id, state);
    expect(props.created).toBe(state.created);
    expect((await steps.make("Channel", kiosk())).id).toBe(id);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test.each([
  ["lists leave descriptions out", ({ description: _, ...object }: Json) => object, 1],
  ["ids cannot be used", (object: Json) => ({ ...object, id: `a.${object.id}` }), 1],
])("a POST is not sent twice where %s", async (_, shown, count) => {
  let lost = 1;
  hub = await bent({
    shown: (object, { id, collection }) =>
      id === undefined && collection === "orchestrations" ? shown(object) : object,
    answer: (answer, { method, collection }) =>
      method === "POST" && collection === "orchestrations" && lost-- > 0 ? "lost" : answer,
  });
  await oneOfEach(steps).catch(() => undefined);
  expect(await hub.objects("orchestrations")).toHaveLength(count);
});

test.each([
  [0, "returns only part of the list"],
  [1, "the list of orchestrations is inconclusive"],
])(
  "after %i POSTs, none is sent where only a part of the list shows no object of it",
  async (before, said) => {
    let posts = 0;
    hub = await bent({
      answer: (answer, { method, collection }) => {
        if (collection !== "orchestrations") return answer;
        posts += method === "POST" ? 1 : 0;
        const part = { paginationInfo: { count: 9 }, orchestration: [] };
        return method === "POST"
          ? "lost"
          : { ...answer, ...(posts >= before ? { body: part } : {}) };
      },
    });
    await expect(oneOfEach(steps)).rejects.toThrow(said);
    expect(posts).toBe(before);
  },
);

test.each([78, 79, 80])(
  "a name of %i letters and an emoji is cut between characters",
  async (n) => {
    hub = await bent();
    const type = `${"a".repeat(n)}😀b`;
    const { id } = await hub.service.create(channel, { type, displayName: "K", icon: "aVZC" });
    hub.nextRun([]);
    const failure = await steps.make("Channel", kiosk({ type })).catch((error: Error) => error);
    expect(String(failure)).toBe("pulumi-conversation");
    expect((failure as Error).message).toContain(id);
    expect((failure as Error).message).not.toMatch(/\\ud83d/i);
  },
);

const mapped = (change: (value: unknown, key: string) => unknown) => (object: Json) =>
  JSON.parse(JSON.stringify(object), (key, value) => change(value, key)) as Json;

/** Ways of a service that change no meaning. */
const forms: Readonly<Record<string, (object: Json) => Json>> = {
  "composed characters apart": mapped((value) =>
    typeof value === "string" ? value.normalize("NFD") : value,
  ),
  "null for what is not there": (object) => ({
    ...Object.fromEntries(
      ["restrictions", "l10nProperties", "intents", "options", "attributes", "x"].map((name) => [
        name,
        null,
      ]),
    ),
    ...object,
  }),
  "members the other way round": mapped((value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).reverse())
      : value,
  ),
  "ids and ranks added everywhere": mapped((value, key) =>
    value && typeof value === "object" && !Array.isArray(value) && key !== ""
      ? { rank: 1, ...value }
      : value,
  ),
  "no flag that has its default": ({ active, ...object }) =>
    active === true ? object : { active, ...object },
};

const secrets = ["mask", "echo", "omit"] as const;
const together = Object.values(forms).reduce((before, form) => (object) => form(before(object)));

/** Each form alone with one way of secrets in turn, and all of them together with each way. */
const cases = [
  ...Object.entries(forms).map(
    ([label, form], at) => ({ label, form, way: secrets[at % 3] ?? "mask" }) as const,
  ),
  ...secrets.map((way) => ({ label: "all forms together", form: together, way })),
];

test.each(cases)(
  "a refresh after a creation and after an update finds no drift, in any kind: $label, secrets: $way",
  async ({ form, way }) => {
    hub = await bent({ shown: form }, { switches: { secrets: way } });
    for (const { kind, id, state, inputs } of (await oneOfEach(steps)).values()) {
      const changed = { ...inputs, description: "Größe: São Paulo" };
      const later = await steps.change(kind, id, state, changed);
      hub.nextRun();
      const { inputs: now = {}, props } = await hub.of(kind).read(id, later);
      const checked = await hub.of(kind).check(handedBack(now), changed);
      const olds = handedBack(props);
      expect(await hub.of(kind).diff(id, olds, handedBack(checked.inputs))).toEqual({
        changes: false,
      });
    }
  },
);

test("texts of any kind come to rest, and what differs in letters is drift", async () => {
  hub = await bent();
  const { id, state } = await steps.make("Channel", kiosk());
  const text = fc.string({
    unit: fc.constantFrom(..."aé\u0301😀\n \r[]#…"),
    minLength: 1,
    maxLength: 12,
  });
  let known = state;
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(...Object.keys(forms)), async (words, form) => {
      const wanted = `a${words}`;
      hub.bend.ways = { shown: forms[form] ?? ((object) => object) };
      known = await steps.change(
        "Channel",
        id,
        known,
        kiosk({ displayName: wanted, description: wanted }),
      );
      hub.nextRun();
      const { inputs } = await hub.of("Channel").read(id, known);
      expect(inputs).toMatchObject({ displayName: wanted, description: wanted });
      hub.bend.ways = { shown: (object) => ({ ...object, displayName: `${wanted}x` }) };
      hub.nextRun();
      expect((await hub.of("Channel").read(id, known)).inputs?.displayName).toBe(`${wanted}x`);
    }),
    { numRuns: 60 },
  );
});

test("a description that looks like a mark is a description", async () => {
  hub = await bent();
  const marks = fc.constantFrom(
    "[pulumi: shop/prod kiosk #12345678-123456789abc]",
    "x [pulumi: other/dev a #12345678-123456789abc-0tow1iob8q046gh]",
    "x [pulumi: ] #…",
    "] #12345678-123456789abc]",
  );
  const long = fc.integer({ min: 900, max: 1023 });
  let place = 0;
  await fc.assert(
    fc.asyncProperty(marks, fc.option(long, { nil: undefined }), async (mark, length) => {
      place += 1;
      const description = length ? `${"d".repeat(length - mark.length)}${mark}` : mark;
      const inputs = owned(`k${place}`, {
        ...kiosk({ description, type: `custom.k${place}` }),
        owner: `shop/prod/0123456789abcdef/k${place}`,
      });
      const { id, state } = await steps.make("Channel", inputs);
      hub.nextRun();
      expect((await hub.of("Channel").read(id, state)).inputs?.description).toBe(description);
    }),
    { numRuns: 30 },
  );
});
