import { authentication } from "../../../provider/resources/authentication.js";
import { textAt } from "../../runtime/json-members.js";
import type { HubRecords } from "../checks/hub-records.js";

/** What the token addresses of the account's authentications answer in a test: a token where it is looked for. */
export const tokenAnswers = async (records: HubRecords): Promise<ReadonlyMap<string, unknown>> => {
  const objects = await records.objects(authentication.collection);
  return new Map(
    objects.flatMap((object): [string, unknown][] => {
      const address = textAt(object, "oauth2", "tokenRequestUrl");
      if (address === undefined) return [];
      const path = textAt(object, "oauth2", "accessTokenPath") ?? "$.access_token";
      const names = [...path.matchAll(/[A-Za-z_][\w-]*/g)].map(([name]) => name);
      const answer = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), "test-token");
      return [[address, answer]];
    }),
  );
};
