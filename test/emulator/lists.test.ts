import { expect, test } from "vitest";
import { listKeys } from "../support/specification.js";
import { kindOf, type Running, running } from "./running.js";

const channel = kindOf("Channel");

const filled = async (count: number, service: Running): Promise<string[]> => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await service.make(channel));
  return ids;
};

const list = async (service: Running, query = "") => {
  const { status, json } = await service.call("GET", `/channels${query}`);
  const items = (json.channel ?? []) as { id: string }[];
  return { status, code: json.code, info: json.paginationInfo, ids: items.map(({ id }) => id) };
};

test.each(Object.entries(listKeys))(
  "the list of %s is under %s, empty at first",
  async (path, key) => {
    const service = await running();
    const { status, json } = await service.call("GET", `/${path}`);
    expect({ status, json }).toEqual({
      status: 200,
      json: { paginationInfo: { count: 0, pagenum: 1, pagesize: 25 }, [key]: [] },
    });
  },
);

test("pages follow each other in the order of creation, without gap or repetition, and none beyond the last", async () => {
  const service = await running();
  const ids = await filled(53, service);
  const queries = ["", "?$pagenum=2", "?$pagenum=3", "?$pagenum=999"];
  const pages = await Promise.all(queries.map((query) => list(service, query)));
  expect(pages.flatMap((page) => page.ids)).toEqual(ids);
  expect(pages.map((page) => page.info)).toEqual(
    [1, 2, 3, 999].map((pagenum) => ({ count: 53, pagenum, pagesize: 25 })),
  );
});

test("the caller may choose the size of a page", async () => {
  const service = await running();
  const ids = await filled(5, service);
  expect((await list(service, "?$pagesize=2&$pagenum=2")).ids).toEqual(ids.slice(2, 4));
  expect((await list(service, "?%24pagesize=75")).ids).toEqual(ids);
  expect((await list(service, "?$pagesize=1")).info).toEqual({ count: 5, pagenum: 1, pagesize: 1 });
});

test.each([
  "$pagenum=0",
  "$pagenum=1000",
  "$pagenum=x",
  "$pagenum=1&$pagenum=2",
  "$pagesize=0",
  "$pagesize=76",
])("%s is refused", async (query) => {
  expect(await list(await running(), `?${query}`)).toMatchObject({ status: 400, code: "400-196" });
});

test.each(["name=x", "pagesize=5", "$filter=x", "__proto__=1", "="])(
  "the parameter %s is refused",
  async (query) => {
    expect(await list(await running(), `?${query}`)).toMatchObject({
      ...{ status: 400, code: "400-101" },
    });
  },
);

test("an object keeps its place when it is changed, and what is deleted is gone at once", async () => {
  const service = await running();
  const [first = "", second = "", third = ""] = await filled(3, service);
  await service.call("PUT", `/channels/${first}`, await service.body(channel));
  await service.call("DELETE", `/channels/${second}`);
  expect((await list(service)).ids).toEqual([first, third]);
});
