import {
  commonFields,
  defineResource,
  list,
  map,
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
    name: text({
      doc: "Name; made from the logical name where a program gives none.",
      basis: "public",
      required: true,
      unique: true,
      min: 1,
      max: 255,
    }),
    ...commonFields("client application"),
    roles: list({
      doc: "What the application acts as, each role with its own callback.",
      basis: "public",
      required: true,
      min: 1,
      max: 7,
      key: "name",
      unordered: true,
      of: object({
        doc: "A role and its callback.",
        basis: "public",
        fields: {
          name: text({
            doc: "What the application acts as. No role twice in one application.",
            basis: "public",
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
            doc: "Format of the messages posted to the callback.",
            basis: "public",
            required: true,
            values: ["v1", "v3"],
          }),
          callback: text({
            doc: "Address that the service posts messages to.",
            basis: "public",
            required: true,
            min: 1,
            format: "url",
          }),
          notificationEmail: text({
            doc: "Who is told when the callback cannot be reached.",
            basis: "public",
            required: true,
            min: 1,
            format: "email",
          }),
          headers: map({
            doc: "Headers sent with every callback.",
            basis: "public",
            of: text({ doc: "Value of the header.", basis: "public", secret: true }),
          }),
          authentication: reference(authentication, {
            doc: "How the service signs in at the callback. Left out: no Authorization header.",
            basis: "public",
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
