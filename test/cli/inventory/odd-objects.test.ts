import { createServer } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runCompare } from "../../../cli/compare/comparison.js";
import { programSource, projectReadme } from "../../../cli/export/program-files.js";
import { planProgram } from "../../../cli/export/program-plan.js";
import { runExport } from "../../../cli/export/run-export.js";
import { importFileText } from "../../../cli/import/import-entries.js";
import { objectInputs } from "../../../cli/inventory/object-inputs.js";
import { createService, type EmulatedService } from "../../../emulator/hub/service.js";
import { createRequestListener, paths } from "../../../emulator/listener.js";
import { unknownMembers } from "../../../provider/definition/wire.js";
import { isObject } from "../../../provider/kernel/json.js";
import { isId } from "../../../provider/kernel/object-id.js";
import { resources } from "../../../provider/resources/index.js";
import { defaultScopes } from "../../../provider/service/operations.js";
import { kindOf } from "../../emulator/running.js";
import { withoutPace } from "../../support/cli-project.js";
import { closeServer, listenHere } from "../../support/loopback-server.js";
import { oddAccount } from "../../support/odd-account.js";
import { randomAccount } from "../../support/random-account.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const unknownOf = (kind: string, wire: Readonly<Record<string, unknown>>) =>
  unknownMembers(kindOf(kind), wire);

test("members beside documented ones are named, at the top and in documented objects", () => {
  const wire = {
    ...{ id: "1", created: "x", type: "custom.a", later: { a: null, b: [1, null] }, gone: null },
    restrictions: { inbound: { shade: "blue", maxTextLength: 5 }, outbound: {} },
  };
  expect(unknownOf("Channel", wire)).toEqual(["later", "restrictions.inbound.shade"]);
});

test("members in items of lists, in entries of maps and beside envelopes are named", () => {
  const role = {
    name: "customer",
    queue: "fast",
    authentication: { id: "1", name: "x", weight: 3 },
  };
  const header = { name: "X-Key", value: "v", encrypted: true };
  expect(
    unknownOf("ClientApplication", { roles: [{ ...role, headers: [header] }, { nothing: null }] }),
  ).toEqual([
    "roles[customer].queue",
    "roles[customer].authentication.weight",
    'roles[customer].headers["X-Key"].encrypted',
  ]);
  const intents = { intent: [{ value: "a", shade: 1 }], total: 1 };
  expect(unknownOf("Participant", { intents })).toEqual(["intents.total", "intents[a].shade"]);
  const chatConfigurations = { entryPoint: { id: "1007", name: "Front" } };
  expect(unknownOf("Account", { chatConfigurations })).toEqual([
    "chatConfigurations.entryPoint.name",
  ]);
});

/** Looks like no secret, in a member whose name says nothing. */
const canary = "blue 7f3a";
const canaryNumber = 918_273_645;

const hidden = fc.oneof(
  fc.constantFrom<unknown>(canary, canaryNumber, [canary], { shade: canary }, [{ of: [canary] }]),
);
const names = fc.constantFrom("vendorKey", "shade", "__proto__", "constructor", "extra", "x y");

/** Members that no field knows, in each object of a value. */
const withUnknown = (value: unknown, name: string, of: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => withUnknown(item, name, of));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, inner]) => [key, withUnknown(inner, name, of)]);
  return Object.fromEntries([...members, [name, of]]);
};

const vendor = { platformName: "acme" };
const project = { project: "taken", stack: "prod" };

test("no value of a member that no definition knows is in a file of an export or an import", () =>
  fc.assert(
    fc.property(randomAccount, names, hidden, (account, name, of) => {
      const kinds = resources.map((definition) => ({
        definition,
        objects: new Map(
          (account[definition.collection] ?? []).map((wire) => {
            const odd = withUnknown(wire, name, of);
            return [String(wire.id), isObject(odd) ? odd : {}] as const;
          }),
        ),
      }));
      const objects = kinds.flatMap(({ definition, objects: found }) =>
        [...found].map(([id, wire]) => objectInputs(definition, id, wire, vendor)),
      );
      const plan = planProgram(objects, {});
      const { text, secrets } = programSource(plan);
      const written = [
        text,
        projectReadme(project, plan, secrets),
        importFileText(plan.declared, { ownership: "o" }, project),
      ].join("\n");
      expect(written).not.toContain(canary);
      expect(written).not.toContain(String(canaryNumber));
      for (const object of objects) expect(object.undeclared).toContain(topOf(name));
    }),
  ));

const topOf = (name: string): string => (name === "x y" ? '["x y"]' : name);

/** A service whose objects have whatever ids, and every path that it is asked for. */
const serviceOf = async (objects: Parameters<EmulatedService["store"]["replaceAll"]>[0]) => {
  const service = createService({ plan: "none" });
  service.store.replaceAll(objects);
  service.clients.put({ clientId: "c", clientSecret: "a-secret", scopes: defaultScopes });
  const asked: string[] = [];
  const answer = createRequestListener(service);
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
    // Two objects of one kind never have the same ID.
    if (ids.some((each) => each.kind === definition.kind && each.id === id)) continue;
    text = text.replaceAll(JSON.stringify(object.id), JSON.stringify(id));
    ids.push({ kind: definition.kind, id });
  }
  return { objects: JSON.parse(text), ids };
};

const lists = resources.map(({ collection }) => `GET ${paths.base}/${collection}`);
const known = new Set([...lists, `POST ${paths.token}`]);
const runs = Number(process.env.EXPORT_RUNS ?? 3);

test("no id leads a call astray, and no object whose id no call can use is passed over in silence", {
  timeout: 600_000 + runs * 20_000,
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
      const { plan } = await runExport({ ...where, out: "shop" });
      const compared = await runCompare("live", "live", where);
      await hub.close();
      expect(hub.asked.filter((call) => !known.has(call))).toEqual([]);
      const skipped = plan.skipped.filter(
        ({ reason }) => reason === "the ID is not valid in a request",
      );
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
