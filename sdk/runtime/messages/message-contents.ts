import { z } from "zod";
import { jsonObject } from "../input-schemas.js";
import type { MessageType } from "./message-types.js";

const attachment = z
  .strictObject({
    /** File name with its extension. */
    name: z.string().min(1),
    /** Such as `image/png`. */
    contentType: z.string().min(1),
    /** In bytes. */
    size: z.int().nonnegative(),
    /** Where the recipient fetches the content. */
    url: z.url({ protocol: /^https?$/ }).optional(),
    /** The asset that holds the content, in place of an address (assumed). */
    id: z.string().min(1).optional(),
  })
  .refine(({ url, id }) => url !== undefined || id !== undefined, {
    message: "needs url or id",
  });

type Located = { readonly url: string } | { readonly id: string };

/**
 * A file that goes with a text message: anywhere by its address (public reference), or what
 * `assets.upload` gave back (that a message may name an asset by its id is assumed).
 */
export type Attachment = Readonly<z.input<typeof attachment>> & Located;

const listItem = z.strictObject({
  /** Comes back with the choice. */
  id: z.string().min(1),
  title: z.string(),
  subtitle: z.string().optional(),
  /** Default: one `{ type: "postback" }`. */
  actions: z
    .array(z.looseObject({ type: z.string() }))
    .readonly()
    .optional(),
});

const listSection = z.strictObject({
  title: z.string(),
  /** Place of the section. Default: the order in which the sections are given, from 0. */
  order: z.int().optional(),
  /** Default: false. */
  multipleSelection: z.boolean().optional(),
  items: z.array(listItem).min(1).readonly(),
});

const listPicker = z.strictObject({
  /** Default: `1`. */
  version: z.string().optional(),
  title: z.string(),
  subtitle: z.string().optional(),
  list: z.strictObject({
    /** Default: false. */
    multipleSelection: z.boolean().optional(),
    sections: z.array(listSection).min(1).readonly(),
  }),
});

/** What a `richMessage.listpicker` holds; its `type` is filled in (public reference, an example). */
export type ListPicker = Readonly<z.input<typeof listPicker>>;

const richLink = z.strictObject({
  /** Default: `1`. */
  version: z.string().optional(),
  /** Which of the images is shown. */
  imageid: z.string(),
  images: z
    .array(
      z.strictObject({
        imageid: z.string(),
        title: z.string().optional(),
        /** Address of the picture. */
        url: z.url(),
        /** Address that the picture leads to. */
        link: z.url().optional(),
        mimeType: z.string().optional(),
        style: z.string().optional(),
      }),
    )
    .min(1)
    .readonly(),
});

/** What a `richMessage.richlink` holds; its `type` is filled in (public reference, an example). */
export type RichLink = Readonly<z.input<typeof richLink>>;

const conversationState = z.strictObject({
  /** `escalated` is the one that was seen. */
  status: z.string().min(1),
  /** Default: empty. */
  content: z.string().optional(),
});

/** What a `conversation.state` holds (public reference, an example). */
export type ConversationState = Readonly<z.input<typeof conversationState>>;

const textBody = z
  .strictObject({
    text: z.string().min(1).optional(),
    redact: z.boolean().optional(),
    attachments: z.array(attachment).min(1).readonly().optional(),
  })
  .refine(({ text, attachments }) => text !== undefined || attachments !== undefined, {
    message: "needs text, attachments or both",
  });

const nothing = z.strictObject({});
const parent = z.string().min(1);
const openBody = z.strictObject({ content: jsonObject.optional() });

/** What is known about the body of a message type. */
interface Body {
  /** The members of a message of this type beside those that all messages have. */
  readonly schema: z.ZodType<Readonly<Record<string, unknown>>>;
  /** `public`: seen in examples of public references. `assumed`: no document shows it. */
  readonly basis: "public" | "assumed";
  readonly doc: string;
}

const unseen = {
  schema: openBody,
  basis: "assumed",
  doc: "Shown nowhere: `content` is any JSON object, or left out.",
} as const satisfies Body;

const unseenAboutMessage = {
  schema: z.strictObject({ content: jsonObject.optional(), parent: parent.optional() }),
  basis: "assumed",
  doc: "Shown nowhere: `content` is any JSON object, `parent` the `messageId` of an earlier message; both may be left out.",
} as const satisfies Body;

const typing = { schema: nothing, basis: "public", doc: "Holds nothing." } as const satisfies Body;

/** The body of every message type: how it is checked, and how sure it is. */
export const messageBodies = {
  text: {
    schema: textBody,
    basis: "public",
    doc: "`text`, `attachments` or both; `redact` hides the text from transcripts.",
  },
  "typing.start": typing,
  "typing.end": typing,
  "customer.info": unseen,
  error: unseen,
  "conversation.end": unseen,
  "escalation.transfer": unseen,
  pagePush: unseen,
  "richMessage.listpicker": {
    schema: z.strictObject({ content: listPicker }),
    basis: "public",
    doc: "`content`: sections with items to choose from.",
  },
  "richMessage.quickreply": unseen,
  "richMessage.template": unseen,
  "richMessage.timepicker": unseen,
  "richMessage.richlink": {
    schema: z.strictObject({ content: richLink }),
    basis: "public",
    doc: "`content`: pictures that lead to an address.",
  },
  "richMessage.form": unseen,
  "richMessage.payment": unseen,
  "richMessage.app": unseen,
  "richMessage.authentication": unseen,
  "conversation.state": {
    schema: z.strictObject({ content: conversationState }),
    basis: "public",
    doc: "`content.status`, such as `escalated`.",
  },
  "agent.join": unseen,
  "agent.available": unseen,
  "agent.unavailable": unseen,
  "agent.transfer": unseen,
  "queue.transfer": unseen,
  "authentication.success": unseen,
  "authentication.failure": unseen,
  "customer.active": unseen,
  "customer.inactive": unseen,
  "delete.soft": {
    schema: z.strictObject({ parent }),
    basis: "public",
    doc: "`parent`: the `messageId` of the message to delete.",
  },
  "delete.permanent": unseenAboutMessage,
  undo: unseenAboutMessage,
} as const satisfies Readonly<Record<MessageType, Body>>;

type Input<T extends MessageType> = z.input<(typeof messageBodies)[T]["schema"]>;

/** Without the index signature of an object that has no members. */
type Members<O> = { readonly [K in keyof O as string extends K ? never : K]: O[K] };

/** A text message holds a text, attachments or both. */
type Filled =
  | { readonly text: string; readonly attachments?: readonly Attachment[] | undefined }
  | { readonly attachments: readonly Attachment[] };

/** The members that a message of type `T` has beside those that all messages have. */
export type BodyOf<T extends MessageType> = Members<Input<T>> &
  (T extends "text" ? Filled : unknown);
