import { bigintFromBytes, bytesFromBigint } from '#lib/bytes'
import { type Address, addressFromBytes, parseHash, zeroHash } from '#types/ids'
import type { Log } from '#types/log'
import type { Receipt } from '#types/receipt'
import { type ForkSchedule, isActive } from './forks.ts'
import type { SystemConfig } from './systemConfig.ts'

/** ConfigUpdate(uint256 indexed version, uint8 indexed updateType, bytes data) */
const updateTopic = parseHash('0x1d2b0bda21d56b8bd12d4f94ebacffdfb35f5e226f84b461103bb8beab6353be')

/** Effect of an event: new fields (none when it does not concern derivation), or the reason why it is malformed. */
type Update = { readonly kind: 'set'; readonly fields: Partial<SystemConfig> } | { readonly kind: 'malformed'; readonly reason: string }
/** Decodes the words of the event's argument. `isEcotone` is evaluated at the time of the L1 block. */
type Reader = (words: readonly Uint8Array[], isEcotone: boolean) => Update

const set = (fields: Partial<SystemConfig>): Update => ({ kind: 'set', fields })
const malformed = (reason: string): Update => ({ kind: 'malformed', reason })

/** Returns the low `length` bytes of a word; undefined when another byte is not zero. */
function low(word: Uint8Array | undefined, length: number): Uint8Array | undefined {
  if (word === undefined || word.subarray(0, 32 - length).some((byte) => byte !== 0)) return undefined
  return word.subarray(32 - length)
}

/** Returns a reader of one padded word with `length` significant bytes. `fields` may reject the value by returning a reason. */
const oneWord =
  (what: string, length: number, fields: (value: Uint8Array) => Partial<SystemConfig> | string): Reader =>
  ([word]): Update => {
    const value = low(word, length)
    if (value === undefined) return malformed(`${what} has more than ${length} bytes`)
    const read = fields(value)
    return typeof read === 'string' ? malformed(read) : set(read)
  }

/** Returns whether a gas scalar is valid under Ecotone. @see specs protocol/system-config.md, "Scalars" */
function isEcotoneScalar(word: Uint8Array): boolean {
  if (word[0] === 0) return low(word, 4) !== undefined
  return word[0] === 1 && word.subarray(1, 24).every((byte) => byte === 0)
}

const gasConfig: Reader = ([overhead, scalar], isEcotone) => {
  if (overhead === undefined || scalar === undefined) return malformed('gas config of less than two words')
  if (!isEcotone) return set({ overhead: bigintFromBytes(overhead), scalar: bigintFromBytes(scalar) })
  if (!isEcotoneScalar(scalar)) return malformed('scalar is neither version 0 nor 1')
  return set({ overhead: 0n, scalar: bigintFromBytes(scalar) })
}

const u32 = (bytes: Uint8Array): number => Number(bigintFromBytes(bytes.subarray(0, 4)))

/** Both parameters must be zero or both non-zero; no block can use one alone. */
const eip1559Fields = (value: Uint8Array): Partial<SystemConfig> | string => {
  const [eip1559Denominator, eip1559Elasticity] = [u32(value), u32(value.subarray(4))]
  const isUsable = (eip1559Denominator === 0) === (eip1559Elasticity === 0)
  return isUsable ? { eip1559Denominator, eip1559Elasticity } : `EIP-1559 parameters ${eip1559Denominator} and ${eip1559Elasticity}`
}

/** Reads the low 12 bytes and ignores the bytes before the scalar, as other clients do. */
const operatorFee: Reader = ([word]) => {
  if (word === undefined) return malformed('operator fee of no word')
  return set({ operatorFeeScalar: u32(word.subarray(20)), operatorFeeConstant: bigintFromBytes(word.subarray(24)) })
}

const readers: readonly { readonly words: number; readonly read: Reader }[] = [
  { words: 1, read: oneWord('batcher', 20, (value) => ({ batcher: addressFromBytes(value) })) },
  { words: 2, read: gasConfig },
  { words: 1, read: oneWord('gas limit', 8, (value) => ({ gasLimit: bigintFromBytes(value) })) },
  // signer of unsafe blocks: does not concern derivation
  { words: 1, read: () => set({}) },
  { words: 1, read: oneWord('EIP-1559 parameters', 8, eip1559Fields) },
  { words: 1, read: operatorFee },
  { words: 1, read: oneWord('minimum base fee', 8, (value) => ({ minBaseFee: bigintFromBytes(value) })) },
  {
    words: 1,
    read: oneWord('DA footprint gas scalar', 2, (value) => ({ daFootprintGasScalar: Number(bigintFromBytes(value)) })),
  },
]

/** Returns the words of the ABI's single argument of type `bytes`; undefined unless there are exactly `count`. */
function argumentWords(data: Uint8Array, count: number): readonly Uint8Array[] | undefined {
  if (data.length !== 64 + 32 * count) return undefined
  if (bigintFromBytes(data.subarray(0, 32)) !== 32n || bigintFromBytes(data.subarray(32, 64)) !== BigInt(32 * count)) return undefined
  return Array.from({ length: count }, (_, i) => data.subarray(64 + 32 * i, 96 + 32 * i))
}

function readUpdate(log: Log, isEcotone: boolean): Update {
  const [, version, kind] = log.topics
  if (version === undefined || kind === undefined || log.topics.length !== 3) return malformed(`${log.topics.length} topics`)
  if (version !== zeroHash) return malformed(`version ${version}`)
  const known = BigInt(kind) < BigInt(readers.length) ? readers[Number(kind)] : undefined
  if (known === undefined) return malformed(`unknown kind ${BigInt(kind)}`)
  const words = argumentWords(log.data, known.words)
  return words === undefined ? malformed(`kind ${BigInt(kind)} with ${log.data.length} bytes of data`) : known.read(words, isEcotone)
}

/** Index of the update of the unsafe block signer. */
const signerUpdate = 3n

/** Returns the unsafe block signer that the last update in the receipts of an L1 block sets; undefined: there is no well-formed one. */
export function unsafeSignerUpdate(l1SystemConfig: Address, receipts: readonly Receipt[]): Address | undefined {
  let signer: Address | undefined
  for (const { succeeded, logs } of receipts)
    for (const log of succeeded ? logs : []) {
      const [topic, version, kind] = log.topics
      if (log.address !== l1SystemConfig || topic !== updateTopic || version !== zeroHash || kind === undefined) continue
      const value = BigInt(kind) === signerUpdate ? low(argumentWords(log.data, 1)?.[0], 20) : undefined
      if (value) signer = addressFromBytes(value)
    }
  return signer
}

export type ConfigUpdates = {
  readonly systemConfig: SystemConfig
  /** Reasons why events of the system config contract were skipped, for the log. */
  readonly skipped: readonly string[]
}

/**
 * Returns the system config after the updates of one L1 block, or the same object when there are none. Malformed updates are skipped.
 * @param rollup the system config contract and the fork schedule
 * @param l1 time in seconds and receipts of the whole block
 * @see specs protocol/system-config.md, "ConfigUpdate event"
 */
export function applyConfigUpdates(
  systemConfig: SystemConfig,
  rollup: { readonly schedule: ForkSchedule; readonly l1SystemConfig: Address },
  l1: { readonly timestamp: number; readonly receipts: readonly Receipt[] },
): ConfigUpdates {
  const isEcotone = isActive(rollup.schedule, 'ecotone', l1.timestamp)
  const skipped: string[] = []
  let now = systemConfig
  for (const receipt of l1.receipts) {
    if (!receipt.succeeded) continue
    for (const log of receipt.logs) {
      if (log.address !== rollup.l1SystemConfig || log.topics[0] !== updateTopic) continue
      const update = readUpdate(log, isEcotone)
      if (update.kind === 'malformed') skipped.push(update.reason)
      else now = { ...now, ...update.fields }
    }
  }
  return { systemConfig: now, skipped }
}

/** Scalars of base fee and blob base fee, u32 each, in millionths. */
export type EcotoneScalars = { readonly baseFeeScalar: number; readonly blobBaseFeeScalar: number }

const maxU32 = 0xffff_ffff

/**
 * Unpacks the scalars of a system config. A Bedrock scalar (version 0) above 32 bits becomes the largest u32.
 * @see specs protocol/system-config.md, "Scalars"
 */
export function ecotoneScalars(scalar: bigint): EcotoneScalars {
  const word = bytesFromBigint(scalar, 32)
  if (word[0] === 0 && low(word, 4) === undefined) return { baseFeeScalar: maxU32, blobBaseFeeScalar: 0 }
  return { baseFeeScalar: u32(word.subarray(28)), blobBaseFeeScalar: word[0] === 1 ? u32(word.subarray(24, 28)) : 0 }
}

/** Packs both scalars (version 1). */
export function packScalars({ baseFeeScalar, blobBaseFeeScalar }: EcotoneScalars): bigint {
  return (1n << 248n) | (BigInt(blobBaseFeeScalar) << 32n) | BigInt(baseFeeScalar)
}
