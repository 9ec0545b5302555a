import { expect, test } from "vitest";
import { dateHeader } from "../../emulator/service/clock.js";
import { kindOf, running } from "./running.js";

const minute = 60_000;

test("every answer tells the emulator's own time, also when its clock is moved by hand", async () => {
  const service = await running({ clock: "manual" });
  const channel = kindOf("Channel");
  const id = await service.make(channel);
  const dates = async (): Promise<unknown[]> => {
    const calls = [
      service.call("GET", "/channels"),
      service.call("GET", `/channels/${id}`),
      service.call("GET", "/channels/none"),
      service.call("GET", "/nothing"),
      service.call("POST", "/channels", { raw: "{" }),
      service.call("GET", "/channels", { token: "wrong" }),
    ];
    return (await Promise.all(calls)).map(({ headers }) => headers.date);
  };
  const before = await dates();
  expect(new Set(before).size).toBe(1);
  service.emulator.advance(90 * minute);
  const [after, ...others] = await dates();
  expect(Date.parse(String(after)) - Date.parse(String(before[0]))).toBe(90 * minute);
  expect(new Set(others)).toEqual(new Set([after]));
});

test("what was made and changed has the time of its answer", async () => {
  const service = await running({ clock: "manual" });
  service.emulator.advance(5 * minute);
  const id = await service.make(kindOf("Channel"));
  const { headers, json } = await service.call("GET", `/channels/${id}`);
  const date = Date.parse(String(headers.date));
  expect(Math.abs(Date.parse(String(json.created)) - date)).toBeLessThan(1_000);
});

test("a fault may answer with another time", async () => {
  const service = await running();
  const date = "Sun, 08 Mar 2026 10:20:30 GMT";
  await service.control("POST", "/faults", [
    { on: "GET /channels", kind: "status", status: 503, headers: { date } },
  ]);
  expect((await service.call("GET", "/channels")).headers.date).toBe(date);
});

test("the text is made once for each second", () => {
  let now = Date.UTC(2026, 2, 8, 10, 20, 30);
  const header = dateHeader({ now: () => now });
  expect(header()).toBe("Sun, 08 Mar 2026 10:20:30 GMT");
  now += 999;
  expect(header()).toBe("Sun, 08 Mar 2026 10:20:30 GMT");
  now += 1;
  expect(header()).toBe("Sun, 08 Mar 2026 10:20:31 GMT");
});
