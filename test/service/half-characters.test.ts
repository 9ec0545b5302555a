import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { isObject, parseJson, sameJson } from "../../provider/kernel/json.js";
import { channel } from "../../provider/resources/channel.js";
import { asBody, type Emulated, emulated, owned } from "../support/emulated.js";

let hub: Emulated | undefined;
afterEach(() => hub?.stop());

/** Every text and key in a value. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? [...Object.keys(value), ...Object.values(value).flatMap(textsIn)] : [];
};

/** Texts of any UTF-16 units, halves of characters among them. */
const units = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0xd7f0, max: 0xe00f }),
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.constantFrom(0x5c, 0x75, 0x22, 0xfffd),
    ),
    { maxLength: 6 },
  )
  .map((codes) => String.fromCharCode(...codes));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    units,
    fc.integer(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(units, tie("value"), { maxKeys: 3 }),
  ),
}));

test("what a service spells in JSON never contains an unpaired surrogate, in values and keys at any depth; nothing else changes", () => {
  fc.assert(
    fc.property(value, (sent) => {
      const received = parseJson(JSON.stringify(sent));
      expect(textsIn(received).every((text) => text.isWellFormed())).toBe(true);
      if (textsIn(sent).every((text) => text.isWellFormed() && text !== "__proto__"))
        expect(sameJson(received, sent)).toBe(true);
    }),
    { seed: 20_261_123, numRuns: 2000 },
  );
});

test("half a character in one object does not stop the refresh of others", async () => {
  hub = await emulated();
  const inputs = (type: string) => owned(type, { type, displayName: "Web", icon: "aVZC" });
  const made = [];
  for (const type of ["custom.a", "custom.b"]) {
    const { id, outs } = await hub.of("Channel").create(inputs(type));
    made.push({ id, outs: { ...outs, __provider: "pointer" } });
  }
  const [first, second] = made;
  if (!first || !second) throw new Error("nothing was made");
  const before = (await hub.objects("channels")).find(({ id }) => id === first.id);
  await hub.service.replace(channel, first.id, { ...asBody(before), displayName: "x\ud83d" });
  hub.nextRun();
  const { props } = await hub.of("Channel").read(first.id, first.outs);
  expect(props.displayName).toBe("x\ufffd");
  expect(await hub.of("Channel").read(second.id, second.outs)).toMatchObject({ id: second.id });
});
