import { demand } from './cursor.ts'

const rounds = 1024
const elementsPerRound = 4
const elementBytes = 32

/**
 * Returns the data in one blob.
 * @see specs protocol/ecotone/derivation.md, "Blob Encoding"
 */
export function rollupDataOfBlob(blob: Uint8Array): Buffer {
  demand(blob.length === 131_072, `blob: ${blob.length} bytes`)
  const stream: number[] = []
  for (let round = 0; round < rounds; round++) stream.push(...roundOf(blob.subarray(round * elementsPerRound * elementBytes), round))
  const all = Buffer.from(stream)
  demand(all.readUInt8(0) === 0, `blob: version ${all[0]}`)
  const length = all.readUIntBE(1, 3)
  demand(length <= 130_048 - 4, `blob: length ${length}`)
  demand(
    all.subarray(4 + length).every((octet) => octet === 0),
    'blob: data after its length',
  )
  return all.subarray(4, 4 + length)
}

/** Returns the 127 bytes of four adjacent field elements: tailA x tailB y tailC z tailD. */
function roundOf(elements: Uint8Array, round: number): number[] {
  const tops = [0, 1, 2, 3].map((nth) => elements[nth * elementBytes] ?? 0)
  const tail = (nth: number): Uint8Array => elements.subarray(nth * elementBytes + 1, (nth + 1) * elementBytes)
  demand(
    tops.every((top) => top < 0b0100_0000),
    `blob: element with more than 254 bits in round ${round}`,
  )
  // A = x5..x0; B = x7 x6 y3..y0; C = z5..z0; D = z7 z6 y7..y4, each of six bits
  const [A = '', B = '', C = '', D = ''] = tops.map((top) => top.toString(2).padStart(6, '0'))
  const x = Number.parseInt(B.slice(0, 2) + A, 2)
  const y = Number.parseInt(D.slice(2) + B.slice(2), 2)
  const z = Number.parseInt(D.slice(0, 2) + C, 2)
  return [...tail(0), x, ...tail(1), y, ...tail(2), z, ...tail(3)]
}
