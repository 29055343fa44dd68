/** Concatenated byte strings in their own buffers: two objects to move between threads for any number of strings. */
export type PackedBytes<B extends ArrayBufferLike = ArrayBuffer> = { readonly bytes: Uint8Array<B>; readonly ends: Uint32Array<B> }

const endsBytes = (list: readonly unknown[]): number => 4 * list.length
const sizeOf = (list: readonly Uint8Array[]): number => list.reduce((sum, { length }) => sum + length, 0)

function fill<B extends ArrayBufferLike>(packed: PackedBytes<B>, list: readonly Uint8Array[]): PackedBytes<B> {
  let at = 0
  for (const [i, item] of list.entries()) {
    packed.bytes.set(item, at)
    at += item.length
    packed.ends[i] = at
  }
  return packed
}

export const packBytes = (list: readonly Uint8Array[]): PackedBytes =>
  fill({ bytes: new Uint8Array(sizeOf(list)), ends: new Uint32Array(list.length) }, list)

export const sharedBytes = (size: number): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(size))

export const shareBytes = (list: readonly Uint8Array[]): PackedBytes<SharedArrayBuffer> =>
  fill({ bytes: sharedBytes(sizeOf(list)), ends: new Uint32Array(new SharedArrayBuffer(endsBytes(list))) }, list)

/** Returns the strings as views of one buffer of this thread: some functions reject shared bytes. */
export function unpackBytes({ bytes, ends }: PackedBytes<ArrayBufferLike>): Uint8Array[] {
  const own = bytes.buffer instanceof SharedArrayBuffer ? bytes.slice() : bytes
  return Array.from(ends, (end, i) => own.subarray(i === 0 ? 0 : ends[i - 1], end))
}
