import { defineResource, map, namedFields, object, text } from "../definition/define.js";

export const authentication = defineResource({
  kind: "Authentication",
  noun: "authentication",
  collection: "authentications",
  listKey: "authentication",
  doc: "The method (Basic authentication or OAuth) and credentials that the service uses when it posts messages to a client application's callback.",
  listScopes: ["manage"],
  rule: { discriminator: "type", exactlyOne: { basic: "basicAuth", oauth2: "oauth2" } },
  fields: {
    ...namedFields("authentication"),
    type: text({
      doc: "Authentication method. Derived from `basicAuth` or `oauth2` if omitted.",
      required: true,
      values: ["basic", "oauth2"],
    }),
    basicAuth: object({
      doc: "Credentials for Basic authentication.",
      fields: {
        username: text({ doc: "User name.", required: true, min: 1, max: 255 }),
        password: text({ doc: "Password.", required: true, secret: true, min: 1, max: 255 }),
      },
    }),
    oauth2: object({
      doc: "How the service obtains a token for the callback. The service reuses the token until the callback responds with 401.",
      fields: {
        tokenRequestUrl: text({
          doc: "URL of the token request.",
          required: true,
          min: 1,
          max: 255,
          format: "url",
        }),
        method: text({
          doc: "HTTP method of the token request.",
          required: true,
          values: ["POST", "GET"],
        }),
        headers: map({
          doc: "Headers of the token request.",
          required: true,
          min: 1,
          max: 25,
          of: text({ doc: "Header value.", secret: true, min: 1, max: 1023 }),
        }),
        payload: text({
          doc: "Body of the token request: a string, or an object to send as JSON text.",
          required: true,
          secret: true,
          json: true,
          min: 1,
          max: 1024,
        }),
        accessTokenPath: text({
          doc: "JSONPath to the token in the response, such as `$.accessToken`.",
          required: true,
          min: 1,
          max: 1024,
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
