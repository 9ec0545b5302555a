import { ConversationError } from "../../../provider/kernel/errors.js";
import type { Pieces } from "./content-transfer.js";

/**
 * Told as content moves: bytes so far, and bytes in all. What it fails with ends the transfer with
 * `INPUT_INVALID`, and is its cause.
 */
export type OnProgress = (progress: {
  readonly transferred: number;
  readonly total: number;
}) => void;

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
    if (!(piece instanceof Uint8Array)) throw wrong("the stream gives something other than bytes");
    transferred += piece.byteLength;
    if (transferred > size) throw wrong(`there are more than the ${size} bytes announced`);
    yield piece;
    await told(onProgress, { transferred, total: size });
  }
  if (transferred < size) throw wrong(`there are ${transferred} of ${size} bytes only`);
}
