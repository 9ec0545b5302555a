import { ConversationError } from "../../../provider/kernel/errors.js";
import { inputFailure, inputInvalid } from "../caller-input.js";
import {
  type Asset,
  type AssetRequest,
  assertAsset,
  createAsset,
  deleteAsset,
  type NewAsset,
} from "./asset-calls.js";
import { type ContentSource, type OpenContent, openContent, readable } from "./content-source.js";
import { rejectedBy, type TransferReply, type Upload } from "./content-transfer.js";
import { assetContentType } from "./content-types.js";
import { checkedAddress } from "./signed-address.js";
import {
  type ContentParts,
  counted,
  movedContent,
  pauseBeforeRepeat,
  refusedTransfer,
  type TransferOptions,
  transferOptionsOf,
  transferSignal,
} from "./signed-transfer.js";

/** What is uploaded, and how: channel and sender are required. */
export interface UploadOptions extends Pick<AssetRequest, "channel" | "sender">, TransferOptions {
  /** File name with extension. Default: the name of the file. */
  readonly name?: string;
  /** In bytes. Needed for streams; for files and bytes it must be theirs. */
  readonly size?: number;
  /** Checked against the extension of the name, from which the service derives it (assumed). */
  readonly contentType?: string;
}

const doing = "upload an asset";

const invalid = (rule: string): ConversationError => inputInvalid(doing, rule);

/** Type, as a header has it, without parameters. */
const essence = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();

/** What is asked of the service, once all that can be known before has been checked. */
const requestOf = (options: UploadOptions, content: OpenContent): AssetRequest => {
  const { channel, sender, contentType } = options;
  const name = options.name ?? content.name;
  const size = options.size ?? content.size;
  if (name === undefined) throw invalid("the source has no name, so name has to be given");
  if (size === undefined)
    throw invalid("the source does not tell its size, so size has to be given");
  const request = { channel, sender, name, size };
  assertAsset(request);
  if (content.size !== undefined && content.size !== size) {
    throw invalid(`size is ${size}, but the source has ${content.size} bytes`);
  }
  if (contentType !== undefined && typeof contentType !== "string") {
    throw invalid("contentType must be text");
  }
  const derived = assetContentType(name);
  if (contentType !== undefined && essence(contentType) !== derived) {
    throw invalid(
      `contentType is ${JSON.stringify(contentType)}, but the extension of the name stands for ${derived}`,
    );
  }
  return request;
};

/** One upload on its way. */
interface Job {
  readonly parts: ContentParts;
  readonly content: OpenContent;
  readonly request: AssetRequest;
  readonly options: UploadOptions;
}

/** Whoever gave up, or met a service that hangs, does not want to wait for a deletion as well. */
const discardWithinMs = 2_000;

/** An asset without content is of no use; where it cannot be deleted it does no harm either. */
const discarded = async ({ parts }: Job, { id }: Asset): Promise<void> => {
  const tooLong = rejectedBy(AbortSignal.timeout(discardWithinMs));
  await Promise.race([deleteAsset(parts, id), tooLong]).catch(() => {});
};

const created = async (job: Job, old?: Asset): Promise<NewAsset> => {
  if (old) await discarded(job, old);
  const { parts, request, options } = job;
  return createAsset(parts, request, { signal: options.signal });
};

const nameOf = ({ id }: Asset): string => `upload asset ${id}`;

/** The content on its way to an asset; it is opened when it is sent. */
const uploadOf = ({ parts, content, options }: Job, asset: NewAsset): Upload => {
  const what = nameOf(asset);
  const wrong = (rule: string) =>
    new ConversationError("INPUT_INVALID", `Could not ${what}: ${rule}. It was given up.`);
  const { contentType, size } = asset;
  return {
    what,
    url: checkedAddress(asset.contentUrl, parts.rule, what),
    signal: transferSignal(parts, options),
    contentType,
    size,
    pieces: counted(readable(content.open), { size, wrong, onProgress: options.onProgress }),
  };
};

/** Posts the content; where the address fails for a moment, what can be read again is sent once more. */
const posted = async (job: Job, asset: NewAsset): Promise<TransferReply> => {
  const { parts, content } = job;
  try {
    const first = uploadOf(job, asset);
    const reply = await parts.transfer.upload(first);
    if (!content.repeatable || !(await pauseBeforeRepeat(parts, asset, reply, first))) return reply;
    return await parts.transfer.upload(uploadOf(job, asset));
  } catch (error) {
    await discarded(job, asset);
    throw error;
  }
};

const readOnce = ({ message, details }: ConversationError): ConversationError =>
  new ConversationError(
    "REJECTED",
    `${message} A stream can be sent once only: give a function that opens it, and it is sent again.`,
    details,
  );

/** Gets the content to an asset. */
const delivered = async (job: Job): Promise<Asset> => {
  const { asset, reply, isStuck } = await movedContent(job.parts, {
    ask: (old?: NewAsset) => created(job, old),
    move: (asset) => posted(job, asset),
    repeatable: job.content.repeatable,
  });
  if (reply.status >= 200 && reply.status <= 299) return asset;
  await discarded(job, asset);
  const error = refusedTransfer(nameOf(asset), reply, job.parts);
  throw isStuck ? readOnce(error) : error;
};

/**
 * Streams a source into a new asset: asks for the address, checks it, posts the content. A stream of
 * the caller's is ended in any case.
 */
export const upload = async (
  parts: ContentParts,
  source: ContentSource,
  options: UploadOptions,
): Promise<Asset> => {
  const content = await openContent(source).catch((error) => {
    throw inputFailure(doing, error);
  });
  try {
    const checked = transferOptionsOf(doing, options);
    const request = requestOf(checked, content);
    const job = { parts, content, request, options: checked };
    const { id, name, size, contentType } = await delivered(job);
    return { id, name, size, contentType };
  } finally {
    content.stop();
  }
};
