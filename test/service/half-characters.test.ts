import { afterEach, expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { asBody, type Emulated, emulated, owned } from "../support/emulated.js";

let hub: Emulated | undefined;
afterEach(() => hub?.stop());

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
