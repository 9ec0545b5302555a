/** Reads a body of up to so many bytes; undefined if there are more. */
export const readAtMost = async (
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> => {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) return undefined;
    read.push(piece);
  }
  return Buffer.concat(read);
};
