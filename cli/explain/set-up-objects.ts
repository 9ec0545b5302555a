import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";

const id = z.coerce.string();
/** Only what says no counts as no, as services leave out what is usual. */
const active = z
  .unknown()
  .optional()
  .transform((value) => value !== false && value !== "false");
const named = { id, name: z.coerce.string().catch(""), active };
const reference = id.optional().catch(undefined);

const directionSchema = z.object({
  features: z.array(z.unknown()).optional().catch(undefined),
  richMessageTypes: z.array(z.unknown()).optional().catch(undefined),
  midChatAuth: z.unknown().optional(),
});

/** What is read of each kind; whatever has another shape counts as absent. */
const accountSchema = z.object({
  ...named,
  address: z.coerce.string().catch(""),
  channel: reference,
  chatConfigurations: z.object({ orchestration: reference }).catch({ orchestration: undefined }),
  created: z.string().optional().catch(undefined),
});

const channelSchema = z.object({
  ...named,
  type: z.coerce.string().catch(""),
  restrictions: z
    .object({
      inbound: directionSchema.optional().catch(undefined),
      outbound: directionSchema.optional().catch(undefined),
    })
    .catch({}),
});

const botSchema = z.object({
  application: reference,
  participant: reference,
  onEscalation: z.object({ agent: reference }).optional().catch(undefined),
});

const orchestrationSchema = z.object({
  ...named,
  applications: z
    .object({
      botConfiguration: z
        .object({ bots: z.array(botSchema).catch([]) })
        .optional()
        .catch(undefined),
      customerConfiguration: z.object({ customer: reference }).optional().catch(undefined),
      agentConfiguration: z
        .object({ agents: z.array(id).catch([]) })
        .optional()
        .catch(undefined),
    })
    .catch({}),
});

const applicationSchema = z.object({
  ...named,
  roles: z.array(z.object({ name: z.string(), callback: z.string().catch("") })).catch([]),
});

const participantSchema = z.object({ ...named, type: z.string().catch("") });

/** A restriction of a channel in one direction. */
export type Direction = z.infer<typeof directionSchema>;
export type AccountObject = z.infer<typeof accountSchema>;
export type ApplicationObject = z.infer<typeof applicationSchema>;
export type ParticipantObject = z.infer<typeof participantSchema>;
export type OrchestrationObject = z.infer<typeof orchestrationSchema>;
export type ChannelObject = z.infer<typeof channelSchema>;

/** The objects that decide who gets which message, by id; accounts the first made first. */
export interface SetUpObjects {
  readonly accounts: readonly AccountObject[];
  readonly channels: ReadonlyMap<string, ChannelObject>;
  readonly orchestrations: ReadonlyMap<string, OrchestrationObject>;
  readonly applications: ReadonlyMap<string, ApplicationObject>;
  readonly participants: ReadonlyMap<string, ParticipantObject>;
}

/** The service's JSON of all objects of a kind, in the order of its list. */
export type ObjectsOf = (definition: Definition) => readonly JsonObject[];

const byId = <T extends { readonly id: string }>(objects: readonly T[]): ReadonlyMap<string, T> =>
  new Map(objects.map((object) => [object.id, object]));

/** Reads the objects of an account, whatever else there is. Never fails: what cannot be read is absent. */
export const setUpObjects = (objectsOf: ObjectsOf, platformName: string): SetUpObjects => {
  const of = <T>(definition: Definition, schema: z.ZodType<T>): readonly T[] =>
    objectsOf(definition).flatMap((wire) => {
      if (!isObject(wire)) return [];
      const fields = fieldsFromWire(definition.fields, wire, { platformName });
      const parsed = schema.safeParse({ ...fields, id: wire.id, created: wire.created });
      return parsed.success ? [parsed.data] : [];
    });
  const made = ({ created = "" }: AccountObject): string => created;
  return {
    accounts: [...of(account, accountSchema)].sort((a, b) =>
      made(a) < made(b) ? -1 : made(a) > made(b) ? 1 : 0,
    ),
    channels: byId(of(channel, channelSchema)),
    orchestrations: byId(of(orchestration, orchestrationSchema)),
    applications: byId(of(clientApplication, applicationSchema)),
    participants: byId(of(participant, participantSchema)),
  };
};
