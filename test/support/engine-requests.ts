import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { structOf } from "../../provider/plugin/protocol.js";

/**
 * A request as the engine sends it, with members named as their setters are: `Urn`. Objects are made structs; what is
 * undefined is left out.
 */
export const requestOf = <Request extends object>(
  Type: new () => Request,
  members: JsonObject,
): Request => {
  const request = new Type();
  const setters: object = request;
  for (const [name, value] of Object.entries(members)) {
    const isStruct = isObject(value) && !("serializeBinary" in value);
    const set: (member: unknown) => void = Reflect.get(setters, `set${name}`);
    if (value !== undefined) set.call(request, isStruct ? structOf(value) : value);
  }
  return request;
};
