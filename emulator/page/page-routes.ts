import { type Context, Hono } from "hono";
import type { EmulatedService } from "../service/service.js";
import { scopesByLabel } from "../token/tokens.js";
import { shownObject } from "./account-graph.js";
import { changesSince } from "./changes.js";
import { formTables } from "./form-tables.js";

/** Who the page's calls are from, in the log. */
const pageClient = "page";
const tokenLifetimeMs = 3_600_000;

const countIn = (text = "0"): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error("messages must be a whole number.");
};

/**
 * What the page reads, below the control interface. What it changes it changes by control itself, and
 * messages it sends by the service's own call, for which it gets a token here.
 *
 * @param endpoints where faults can be
 */
export const pageRoutes = (service: EmulatedService, endpoints: readonly string[]): Hono => {
  const app = new Hono();
  const look = changesSince(service);
  app.get("/tables", (context) => context.json(formTables(service, endpoints)));
  app.get("/changes", (context) => {
    const { cursor = "", conversation = "", messages } = context.req.query();
    return context.json(look({ cursor, conversation, messages: countIn(messages) }));
  });
  app.get("/objects/:collection/:id", (context: Context) => {
    const { collection = "", id = "" } = context.req.param();
    const object = shownObject(service, collection, id);
    return object
      ? context.json(object)
      : context.json({ error: "There is no such object any more." }, 404);
  });
  app.post("/token", (context) => {
    const claims = { clientId: pageClient, scopes: [scopesByLabel.IM], subject: "client" } as const;
    return context.json({ token: service.tokens.issue(claims, tokenLifetimeMs) }, 201);
  });
  return app;
};
