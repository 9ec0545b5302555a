import {
  defineResource,
  list,
  map,
  namedFields,
  object,
  reference,
  text,
} from "../definition/define.js";
import { authentication } from "./authentication.js";

export const clientApplication = defineResource({
  kind: "ClientApplication",
  noun: "client application",
  collection: "clientapplications",
  listKey: "clientApplication",
  doc: "An external application that sends and receives messages.",
  fields: {
    ...namedFields("client application"),
    roles: list({
      doc: "The application's roles, each with its own callback.",
      required: true,
      min: 1,
      max: 7,
      identity: ["name"],
      unique: true,
      unordered: true,
      of: object({
        doc: "A role and its callback.",
        fields: {
          name: text({
            doc: "The role, which must be unique within the application.",
            required: true,
            values: [
              "customer",
              "custom_bot",
              "platform_bot",
              "platform_agent",
              "custom_agent",
              "business_notification",
            ],
          }),
          version: text({
            doc: "Format of the messages that the service posts to the callback.",
            required: true,
            values: ["v1", "v3"],
          }),
          callback: text({
            doc: "URL that the service posts messages to.",
            required: true,
            min: 1,
            max: 1023,
            format: "url",
          }),
          notificationEmail: text({
            doc: "Recipient to notify when the service cannot reach the callback.",
            required: true,
            min: 1,
            max: 255,
            format: "email",
          }),
          headers: map({
            doc: "Headers that the service sends to the callback.",
            min: 1,
            max: 25,
            of: text({ doc: "Header value.", secret: true, min: 1, max: 1023 }),
          }),
          authentication: reference(authentication, {
            doc: "How the service authenticates to the callback. If omitted, the service sends no Authorization header.",
          }),
        },
      }),
    }),
  },
  example: {
    name: "orders-bot",
    description: "Receives messages for the orders bot",
    active: true,
    roles: [
      {
        name: "custom_bot",
        version: "v3",
        callback: "https://bot.example.com/hub/messages",
        notificationEmail: "ops@example.com",
        headers: { "X-Tenant-Hint": "acme" },
        authentication: "${Authentication}",
      },
    ],
  },
});
