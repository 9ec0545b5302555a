import { isObject, listedObjects } from "../../provider/kernel/json.js";
import type { TenantAnswer } from "./tenant-client.js";

/** The objects of a list, and how many there are of all. */
export const listIn = ({ body }: TenantAnswer, listKey: string) => {
  const members = isObject(body) ? body : {};
  const items = listedObjects(members[listKey]);
  const info = isObject(members.paginationInfo) ? members.paginationInfo : {};
  const count = typeof info.count === "number" ? info.count : undefined;
  const pageSize = typeof info.pagesize === "number" ? info.pagesize : undefined;
  return { items, count, pageSize };
};
