/** Bytes that violate the specification; the message names the field. */
export class SpecError extends Error {}

export function demand(isSo: boolean, what: string): void {
  if (!isSo) throw new SpecError(what)
}

/** Reads a buffer from its start. Each read names its field, for the message of a failure. */
export type Cursor = {
  readonly position: () => number
  readonly left: () => number
  readonly bytes: (count: number, field: string) => Buffer
  readonly unsigned: (byteCount: number, field: string) => number
  /** Protobuf base-128 integer in its shortest form. */
  readonly varint: (field: string) => bigint
  /** Bit list with the byte length of an integer of that many bits, padded on the left. */
  readonly bits: (count: number, field: string) => readonly boolean[]
  /** Whole RLP item, including its header. */
  readonly rlpItem: (field: string) => Buffer
}

export function cursorOver(source: Uint8Array): Cursor {
  const all = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  let offset = 0
  const bytes = (count: number, field: string): Buffer => {
    demand(offset + count <= all.length, `${field}: ${count} bytes at ${offset}, the input has ${all.length}`)
    offset += count
    return all.subarray(offset - count, offset)
  }
  return {
    position: () => offset,
    left: () => all.length - offset,
    bytes,
    unsigned: (byteCount, field) => bytes(byteCount, field).readUIntBE(0, byteCount),
    varint: (field) => varintOf(() => bytes(1, field), field),
    bits: (count, field) => bitsOf(bytes(Math.floor((count + 7) / 8), field), count, field),
    rlpItem: (field) => bytes(rlpLength(all.subarray(offset), field), field),
  }
}

/** "Varints": seven bits per byte, the lowest first; the top bit is set when more bytes follow. */
function varintOf(next: () => Buffer, field: string): bigint {
  const groups: string[] = []
  for (;;) {
    const [octet = 0] = next()
    groups.unshift((octet % 128).toString(2).padStart(7, '0'))
    if (octet >= 128) continue
    demand(octet !== 0 || groups.length === 1, `${field}: not in the shortest form`)
    const value = BigInt(`0b${groups.join('')}`)
    demand(value <= 0xffff_ffff_ffff_ffffn, `${field}: more than 64 bits`)
    return value
  }
}

/** "Standard bitlist": a big-endian integer; entry i is its bit i. */
function bitsOf(octets: Buffer, count: number, field: string): readonly boolean[] {
  const digits = [...octets].map((octet) => octet.toString(2).padStart(8, '0')).join('')
  const unused = digits.length - count
  demand(!digits.slice(0, unused).includes('1'), `${field}: bits above the ${count} of the list`)
  return [...digits.slice(unused)].reverse().map((digit) => digit === '1')
}

/** Length of the RLP item at the start, from its header. */
function rlpLength(from: Buffer, field: string): number {
  const [lead] = from
  if (lead === undefined) throw new SpecError(`${field}: no RLP item`)
  if (lead < 0x80) return 1
  const short = lead < 0xc0 ? 0x80 : 0xc0
  if (lead <= short + 55) return 1 + (lead - short)
  const lengthBytes = lead - short - 55
  demand(lengthBytes <= 6 && from.length > lengthBytes, `${field}: RLP header is cut off or too large`)
  return 1 + lengthBytes + from.readUIntBE(1, lengthBytes)
}
