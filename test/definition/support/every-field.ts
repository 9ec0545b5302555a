import {
  commonFields,
  type Definition,
  defineResource,
  flag,
  list,
  map,
  number,
  object,
  reference,
  text,
} from "../../../provider/definition/define.js";
import { resources } from "../../../provider/resources/index.js";
import { participant } from "../../../provider/resources/participant.js";

const notes = { doc: "A field.", basis: "assumed" } as const;

/** Shapes that a definition may have, whether or not a kind has them today. */
export const everyShape: Definition = defineResource({
  kind: "EveryShape",
  noun: "every shape",
  collection: "everyshapes",
  listKey: "everyShape",
  doc: "All shapes of fields.",
  fields: {
    name: text({ ...notes, required: true, unique: true, min: 1, max: 20 }),
    ...commonFields("every shape"),
    site: text({ ...notes, format: "url", wire: "web-site" }),
    mail: text({ ...notes, format: "email", envelope: "address" }),
    bytes: text({ ...notes, format: "base64" }),
    at: text({ ...notes, format: "time" }),
    settings: text({ ...notes, json: true }),
    word: text({ ...notes, values: ["a", "platform_a"], default: "a" }),
    token: text({ ...notes, secret: true }),
    most: number({ ...notes, max: 600 }),
    limit: number({ ...notes, serviceDefault: 240 }),
    on: flag(notes),
    lines: list({ ...notes, of: text(notes) }),
    marks: list({ ...notes, unordered: true, envelope: "mark", of: text({ ...notes, wire: "m" }) }),
    points: list({
      ...notes,
      of: object({
        ...notes,
        fields: { x: number({ ...notes, required: true }), y: number(notes) },
      }),
    }),
    pairs: list({
      ...notes,
      unordered: true,
      identity: ["who", "where"],
      of: object({
        ...notes,
        fields: {
          who: reference(participant, { ...notes, required: true }),
          where: text({ ...notes, required: true, wire: "at" }),
          keys: map({ ...notes, of: text({ ...notes, secret: true }) }),
          code: text({ ...notes, secret: true }),
          inner: object({
            ...notes,
            fields: {
              deep: flag({ ...notes, default: false }),
              pin: text({ ...notes, secret: true }),
            },
          }),
        },
      }),
    }),
    table: map({
      ...notes,
      members: { key: "k", value: "v" },
      of: list({ ...notes, of: number(notes) }),
    }),
    objects: map({
      ...notes,
      of: object({ ...notes, fields: { a: text(notes), b: text({ ...notes, secret: true }) } }),
    }),
    plain: reference(participant, { ...notes, plainId: true }),
  },
  example: {},
});

export const kinds: readonly Definition[] = [...resources, everyShape];

export const everyField = kinds.flatMap((definition) =>
  Object.entries(definition.fields).map(([name, field]) => ({
    label: `${definition.kind}.${name}`,
    definition,
    name,
    field,
  })),
);
