import { types } from "node:util";
import type { Clock } from "../../../provider/kernel/clock.js";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { retryAfterMs, retryAfterText } from "../../../provider/service/http/retry-after.js";
import { anyFunction, callOptions, checkedOptions, timeLimit } from "../input-schemas.js";
import type { AssetCalls, SignedAddress } from "./asset-calls.js";
import {
  type ContentTransfer,
  type Pieces,
  type SignedTransfer,
  type TransferReply,
  transferFailure,
} from "./content-transfer.js";
import type { AddressRule } from "./signed-address.js";

/**
 * Told as content moves: bytes so far, and bytes in all. What it fails with ends the transfer with
 * `INPUT_INVALID`, and is its cause.
 */
export type OnProgress = (progress: {
  readonly transferred: number;
  readonly total: number;
}) => void;

/** How content is moved. */
export interface TransferOptions {
  /** Told after each piece. Default: nobody is told. */
  readonly onProgress?: OnProgress;
  /** Ends the transfer with `CANCELLED`. */
  readonly signal?: AbortSignal;
  /** Longest time of one transfer in milliseconds. Default: 5 minutes. */
  readonly timeoutMs?: number;
}

/** What the steps between an asset and its content need. */
export interface ContentParts extends AssetCalls {
  readonly transfer: ContentTransfer;
  readonly rule: AddressRule;
  readonly clock: Clock;
  /** Ends all transfers. */
  readonly closing: AbortSignal;
}

const longestTransferMs = 5 * 60_000;

const transferOptions = callOptions.extend({
  onProgress: anyFunction.optional(),
  timeoutMs: timeLimit.optional(),
});

/** @throws ConversationError `INPUT_INVALID` naming the option that cannot be used */
export const transferOptionsOf = <O extends TransferOptions>(doing: string, options: O): O =>
  checkedOptions(doing, transferOptions, options);

/** Ends a transfer: with its time, by its caller, or with the connection. */
export const transferSignal = (
  { closing }: ContentParts,
  { signal, timeoutMs = longestTransferMs }: TransferOptions,
): AbortSignal =>
  AbortSignal.any([closing, AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);

/** By the wall clock of this machine, which may be wrong. */
const hasExpired = ({ clock }: ContentParts, { contentUrlExpiry }: SignedAddress): boolean =>
  contentUrlExpiry !== undefined && contentUrlExpiry.getTime() <= clock.wall();

/** Whether a refusal may be because the address has expired. */
const mayHaveExpired = (parts: ContentParts, address: SignedAddress, status: number): boolean =>
  [401, 403, 410].includes(status) ||
  (status >= 400 && status <= 499 && hasExpired(parts, address));

/** How content gets to or from the signed address of an asset. */
interface AddressUse<A extends SignedAddress, R> {
  /** Asks for the address, anew in place of an old one. */
  readonly ask: (old?: A) => Promise<A>;
  /** Moves the content. */
  readonly move: (asset: A) => Promise<R>;
  /** Whether the content can be moved a second time. */
  readonly repeatable: boolean;
}

/** The last answer of a signed address, whatever it is. */
interface Moved<A, R> {
  readonly asset: A;
  readonly reply: R;
  /** The address may have expired, but the content cannot be moved again. */
  readonly isStuck: boolean;
}

/** Moves content; an address that has expired is renewed once. */
export const movedContent = async <A extends SignedAddress, R extends TransferReply>(
  parts: ContentParts,
  { ask, move, repeatable }: AddressUse<A, R>,
): Promise<Moved<A, R>> => {
  const first = await ask();
  const isRenewed = hasExpired(parts, first);
  const asset = isRenewed ? await ask(first) : first;
  const reply = await move(asset);
  const isOver = !isRenewed && mayHaveExpired(parts, asset, reply.status);
  if (!isOver || !repeatable) return { asset, reply, isStuck: isOver };
  const second = await ask(asset);
  return { asset: second, reply: await move(second), isStuck: false };
};

/** Answers that say: not now. Nothing was transferred. */
const momentary: readonly number[] = [502, 503, 504];

const shortPauseMs = 500;
const longestPauseMs = 60_000;

/**
 * Whether a transfer that failed for a moment may be made once more, while its address holds; waits
 * for as long as the answer asks, at most a minute, else 500 ms.
 *
 * @throws ConversationError `CANCELLED` or `TIMED_OUT` where the transfer ends meanwhile
 */
export const pauseBeforeRepeat = async (
  { clock }: ContentParts,
  { contentUrlExpiry }: SignedAddress,
  { status, headers }: TransferReply,
  transfer: SignedTransfer,
): Promise<boolean> => {
  if (!momentary.includes(status)) return false;
  const pauseMs = retryAfterMs(headers, clock.wall()) ?? shortPauseMs;
  const isTooLate =
    contentUrlExpiry !== undefined && contentUrlExpiry.getTime() <= clock.wall() + pauseMs;
  if (isTooLate || pauseMs > longestPauseMs) return false;
  try {
    await clock.sleep(pauseMs, transfer.signal);
  } catch (error) {
    throw transferFailure(transfer, error);
  }
  return true;
};

/** The error for a status of a signed address. */
export const refusedTransfer = (
  what: string,
  { status, headers }: TransferReply,
  { clock }: ContentParts,
): ConversationError => {
  const error = (code: "BAD_RESPONSE" | "UNAVAILABLE" | "REJECTED", text: string) =>
    new ConversationError(code, `Could not ${what}: the signed address ${text}.`, { status });
  if (status < 400) return error("BAD_RESPONSE", `redirected (${status}), which is not followed`);
  if (status >= 500) {
    const asks = retryAfterText(headers, clock.wall());
    const when = asks === undefined ? "later" : `after what it asks for (Retry-After: ${asks})`;
    return error("UNAVAILABLE", `failed (${status}). Run again ${when}`);
  }
  const rule = "type and size must be those that the address was made for (specification §4.2)";
  return error("REJECTED", `refused (${status}): it may have expired, and ${rule}`);
};

/** How the pieces of a content are counted. */
export interface Counting {
  /** In bytes. */
  readonly size: number;
  /** Makes the error for pieces that do not add up. */
  readonly wrong: (rule: string) => Error;
  readonly onProgress?: OnProgress | undefined;
}

const told = async (
  onProgress: OnProgress | undefined,
  progress: Parameters<OnProgress>[0],
): Promise<void> => {
  try {
    // A function that is async is waited for, so that its failure is not lost.
    await onProgress?.(progress);
  } catch (error) {
    const text = "Could not transfer an asset: onProgress failed, see the cause. It was given up.";
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause: error });
  }
};

/** Passes pieces on and counts them: never more than `size` bytes, never fewer. */
export async function* counted(
  pieces: Pieces,
  { size, wrong, onProgress }: Counting,
): Pieces & AsyncGenerator<Uint8Array> {
  let transferred = 0;
  for await (const piece of pieces) {
    if (!types.isUint8Array(piece)) throw wrong("the stream gives something other than bytes");
    transferred += piece.byteLength;
    if (transferred > size) throw wrong(`there are more than the ${size} bytes announced`);
    yield piece;
    await told(onProgress, { transferred, total: size });
  }
  if (transferred < size) throw wrong(`there are ${transferred} of ${size} bytes only`);
}
