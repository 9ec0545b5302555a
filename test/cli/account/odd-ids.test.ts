import { createServer } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runCompare, saveAccount } from "../../../cli/compare/comparison.js";
import { runExport } from "../../../cli/export/run-export.js";
import { controlRoutes } from "../../../emulator/control/control-routes.js";
import { createRequestListener, paths } from "../../../emulator/http/listener.js";
import { createService, type EmulatedService } from "../../../emulator/service/service.js";
import { isId } from "../../../provider/kernel/object-id.js";
import { resources } from "../../../provider/resources/index.js";
import { defaultScopes } from "../../../provider/service/http/operations.js";
import { withoutPace } from "../../support/cli-project.js";
import { closeServer, listenHere } from "../../support/loopback-server.js";
import { oddAccount } from "../../support/odd-account.js";
import { temporaryFolder } from "../temporary-folder.js";

/** A service whose objects have whatever ids, and every path that it is asked for. */
const serviceOf = async (objects: Parameters<EmulatedService["store"]["replaceAll"]>[0]) => {
  const service = createService({ plan: "none" });
  service.store.replaceAll(objects);
  service.clients.put({ clientId: "c", clientSecret: "a-secret", scopes: defaultScopes });
  const asked: string[] = [];
  const answer = createRequestListener(service, {
    routes: controlRoutes(service, paths.control),
    secret: undefined,
  });
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split("?")[0]}`);
    answer(request, response);
  });
  const origin = await listenHere(server);
  const close = () => closeServer(server);
  return { asked, close, origin };
};

const oddText = fc.oneof(
  fc.constantFrom("..", ".", "", "/", "a/b", "a%2Fb", "%2e%2e", "a b", "-a", "_", "a?b=c", "#"),
  fc.constantFrom("\u0000", "a\nb", "\u202eabc", "ü", "訂單", "😀", "a".repeat(300), "__proto__"),
  fc.string({ unit: "binary", maxLength: 20 }).filter((text) => !isId(text)),
);
const place = fc.record({ kind: fc.nat(5), index: fc.nat(1), id: oddText });

/** An account in which some objects have other ids, and are referred to by them. */
const accountWith = (places: readonly { kind: number; index: number; id: string }[]) => {
  let text = JSON.stringify(oddAccount(2));
  const ids: { readonly kind: string; readonly id: string }[] = [];
  for (const { kind, index, id } of places) {
    const definition = resources[kind];
    const account: ReturnType<typeof oddAccount> = JSON.parse(text);
    const object = account[definition?.collection ?? ""]?.[index];
    if (!definition || !object || !isId(object.id)) continue;
    text = text.replaceAll(JSON.stringify(object.id), JSON.stringify(id));
    ids.push({ kind: definition.kind, id });
  }
  return { objects: JSON.parse(text), ids };
};

const lists = resources.map(({ collection }) => `GET ${paths.base}/${collection}`);
const known = new Set([...lists, `POST ${paths.token}`]);
const runs = Number(process.env.EXPORT_RUNS ?? 3);

test("no id leads a call astray, and no object whose id no call can use is passed over in silence", {
  timeout: runs * 20_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 4 }), async (places) => {
      const { objects, ids } = accountWith(places);
      const hub = await serviceOf(objects);
      const folder = temporaryFolder();
      const env = {
        ...{ CONVERSATION_BASE_URL: hub.origin + paths.base, CONVERSATION_CLIENT_ID: "c" },
        ...{ CONVERSATION_TOKEN_URL: hub.origin + paths.token, PATH: "/nowhere" },
        ...{
          CONVERSATION_CLIENT_SECRET: "a-secret",
          ...withoutPace,
          XDG_CACHE_HOME: folder,
        },
      };
      const where = { folder, env };
      const { plan } = await runExport({ ...where, out: "shop", split: "single", toStack: "prod" });
      await saveAccount("live", join(folder, "saved.json"), where);
      const compared = await runCompare(join(folder, "saved.json"), "live", where);
      await hub.close();
      expect(hub.asked.filter((call) => !known.has(call))).toEqual([]);
      const skipped = plan.skipped.filter(({ reason }) => reason === "its id can stand in no call");
      expect(skipped.map(({ object }) => object.definition.kind).sort()).toEqual(
        ids.map(({ kind }) => kind).sort(),
      );
      // What refers to such an object may be left out, too, with a reason of its own.
      for (const { object, reason } of plan.skipped) {
        expect(reason).not.toBe("");
        expect(object.id).not.toMatch(/\p{Cc}/u);
      }
      expect({ same: compared.same, matched: compared.matched }).toEqual({
        same: true,
        matched: 12,
      });
    }),
    { numRuns: runs, seed: 12, endOnFailure: true },
  );
});
