import type { HttpResponse } from "../../provider/service/transport.js";

type Json = Record<string, unknown>;

/** Ids that no call can be made with. */
const odd: readonly Json[] = [{ id: 1007 }, { id: "a.b" }, {}];

const isJson = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The answer of a list with objects of others in it whose ids no call can use. */
export const withOddObjects = (response: HttpResponse): HttpResponse => {
  const body: unknown = JSON.parse(response.text);
  if (!isJson(body) || !isJson(body.paginationInfo)) return response;
  const { paginationInfo, ...lists } = body;
  const [[key, items] = []] = Object.entries(lists);
  if (key === undefined || !Array.isArray(items)) return response;
  const page = { ...paginationInfo, count: Number(paginationInfo.count) + odd.length };
  const all = [...odd.map((each) => ({ name: "odd", type: "odd", ...each })), ...items];
  return { ...response, text: JSON.stringify({ paginationInfo: page, [key]: all }) };
};
