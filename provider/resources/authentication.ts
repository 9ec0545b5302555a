import { defineResource, map, namedFields, object, text } from "../definition/define.js";

export const authentication = defineResource({
  kind: "Authentication",
  noun: "authentication",
  collection: "authentications",
  listKey: "authentication",
  doc: "How the service authenticates when it posts messages to a client application's callback: with Basic authentication or OAuth.",
  listScopes: ["manage"],
  rule: { discriminator: "type", exactlyOne: { basic: "basicAuth", oauth2: "oauth2" } },
  fields: {
    ...namedFields("authentication"),
    type: text({
      doc: "The method. If omitted, it is derived from `basicAuth` or `oauth2`.",
      required: true,
      values: ["basic", "oauth2"],
    }),
    basicAuth: object({
      doc: "Credentials for Basic authentication.",
      fields: {
        username: text({ doc: "User name.", required: true, min: 1 }),
        password: text({ doc: "Password.", required: true, secret: true, min: 1 }),
      },
    }),
    oauth2: object({
      doc: "How the service gets a token for the callback. It uses each token until the callback responds with 401.",
      fields: {
        tokenRequestUrl: text({
          doc: "URL of the token request.",
          min: 1,
          format: "url",
        }),
        method: text({ doc: "HTTP method of the token request, such as `POST`.", min: 1 }),
        headers: map({
          doc: "Headers of the token request.",
          of: text({ doc: "Header value.", secret: true }),
        }),
        payload: text({
          doc: "Body of the token request: text, or an object that is sent as JSON text.",
          secret: true,
          json: true,
          min: 1,
        }),
        accessTokenPath: text({
          doc: "JSONPath to the token in the response, such as `$.accessToken`.",
          min: 1,
        }),
      },
    }),
  },
  example: {
    name: "orders-bot-callback",
    description: "Token for the orders bot callback",
    active: true,
    type: "oauth2",
    oauth2: {
      tokenRequestUrl: "https://bot.example.com/oauth/token",
      method: "POST",
      headers: { "Content-Type": "application/json" },
      payload: { clientId: "orders-bot", clientSecret: "not-a-real-secret" },
      accessTokenPath: "$.accessToken",
    },
  },
});
