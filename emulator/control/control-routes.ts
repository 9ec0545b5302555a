import { type Context, Hono } from "hono";
import { isObject } from "../../provider/kernel/json.js";
import type { BucketLevel } from "../http/rate-limit.js";
import { isDeeperThan, mostDepth } from "../http/request-body.js";
import { routes } from "../http/routes.js";
import { matchSibling } from "../http/sibling-services.js";
import { pageRoutes } from "../page/page-routes.js";
import type { RecentEntries } from "../recent-entries.js";
import type { EmulatedService } from "../service.js";
import { parseClient } from "../token/clients.js";
import { furtherEndpoints, parseFault } from "./faults.js";
import { putSnapshot, reset, takeSnapshot } from "./snapshot.js";
import { parseSwitches, turnSwitches } from "./switches.js";

/** Where faults can be. */
const endpoints = [...furtherEndpoints, ...routes.map(({ name }) => name)];

/** Whether this is an endpoint of another service, such as `GET /case-manager/v3/cases/{id}`. */
const isSibling = (on: string): boolean => {
  const [method = "", path = ""] = on.split(" ");
  return matchSibling(path.replaceAll(/\{\w+\}/g, "0"))?.methods.get(method)?.name === on;
};

/** A snapshot holds what came in bodies, a few steps down. */
const mostControlDepth = mostDepth + 16;

const bodyOf = async (context: Context): Promise<unknown> => {
  const body = await context.req.json().catch(() => {
    throw new Error("The body must be JSON.");
  });
  if (isDeeperThan(mostControlDepth, body)) throw new Error("The body is nested too deeply.");
  return body;
};

const msOf = (body: unknown): number => {
  if (!isObject(body)) throw new Error("The body must be an object with advanceMs.");
  const { advanceMs, ...rest } = body;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw new Error(`There is no ${unknown.slice(0, 60)}; the body holds advanceMs.`);
  if (typeof advanceMs === "number" && advanceMs >= 0 && advanceMs <= 1e12) return advanceMs;
  throw new Error("advanceMs must be a number of milliseconds, at least 0.");
};

const placeIn = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error("since must be a whole number, such as the `next` of the answer before.");
};

/** A list that grows; with `since` only what came from a place on. */
const growing = <T>(
  context: Context,
  list: RecentEntries<T>,
  shown: (entry: T) => unknown = (entry) => entry,
) => {
  const since = context.req.query("since");
  if (since === undefined) return context.json(list.all().map(shown));
  const { entries, ...places } = list.since(placeIn(since));
  return context.json({ ...places, entries: entries.map(shown) });
};

/** With `since` only the conversations that changed at that time or later. */
const conversationsOf = (service: EmulatedService, since: string | undefined) => {
  if (since === undefined) return service.conversations.all();
  const time = Date.parse(since);
  if (Number.isNaN(time)) throw new Error("since must be a time in ISO 8601.");
  return service.conversations.changedSince(time);
};

const bucketsOf = ({ rateLimiter }: EmulatedService): readonly BucketLevel[] =>
  routes.flatMap(({ name }) => rateLimiter.level(name) ?? []);

/** Routes of the control interface, below this path. */
export const controlRoutes = (service: EmulatedService, path: string): Hono => {
  const app = new Hono().basePath(path);
  app.post("/clock", async (context) => {
    if (service.clock.kind === "real") {
      return context.json(
        { error: "The clock is real and cannot be moved. Start the emulator with --clock manual." },
        409,
      );
    }
    service.clock.advance(msOf(await bodyOf(context)));
    return context.json({ now: service.clock.now() });
  });
  app.get("/stats", (context) =>
    context.json({ calls: service.log.counts(), tokensIssued: service.tokens.issued }),
  );
  app.get("/log", (context) =>
    growing(context, service.log.entries, ({ reason: _, ...entry }) => entry),
  );
  app.get("/deliveries", (context) => growing(context, service.deliveries.log));
  app.get("/mailbox", (context) => growing(context, service.deliveries.mailbox.mails));
  app.get("/buckets", (context) => context.json(bucketsOf(service)));
  app.get("/conversations", (context) =>
    context.json(conversationsOf(service, context.req.query("since"))),
  );
  app.get("/faults", (context) => context.json(service.faults.left()));
  app.post("/faults", async (context) => {
    const body = await bodyOf(context);
    const faults = (Array.isArray(body) ? body : [body]).map((rule) =>
      parseFault(rule, endpoints, isSibling),
    );
    service.faults.add(faults);
    return context.json(service.faults.left());
  });
  app.delete("/faults", (context) => {
    service.faults.clear();
    return context.body(null, 204);
  });
  app.post("/reset", (context) => {
    reset(service);
    return context.body(null, 204);
  });
  app.get("/snapshot", (context) => context.json(takeSnapshot(service)));
  app.put("/snapshot", async (context) => {
    putSnapshot(service, await bodyOf(context));
    return context.body(null, 204);
  });
  app.post("/clients", async (context) => {
    const client = parseClient(await bodyOf(context));
    service.clients.put(client);
    return context.json({ clientId: client.clientId, scopes: client.scopes }, 201);
  });
  app.get("/switches", (context) => context.json(service.switches));
  app.put("/switches", async (context) => {
    const body = await bodyOf(context);
    if (!isObject(body)) throw new Error("The body must be an object of switches.");
    turnSwitches(service.journal, service.switches, parseSwitches(body));
    return context.json(service.switches);
  });
  app.route("/page", pageRoutes(service, endpoints));
  app.notFound((context) =>
    context.json(
      { error: `There is no ${context.req.method} ${context.req.path.slice(0, 100)}.` },
      404,
    ),
  );
  app.onError((error, context) => context.json({ error: error.message }, 400));
  return app;
};
