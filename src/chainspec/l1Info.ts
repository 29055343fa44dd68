import { bigintFromBytes, bytesFromBigint, concatBytes, numberFromBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { type Deposit, encodeDeposit } from '#types/deposit'
import type { Header } from '#types/header'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from '#types/ids'
import { depositorAccount, l1BlockAddress } from './addresses.ts'
import { blobBaseFee } from './blobFee.ts'
import { ecotoneScalars } from './configUpdate.ts'
import { chainFault } from './faults.ts'
import { activatesAt, type Fork, type ForkSchedule, isActive } from './forks.ts'
import type { RollupConfig } from './rollupConfig.ts'
import { l1AttributesSource } from './sourceHash.ts'
import type { SystemConfig } from './systemConfig.ts'

export type L1AttributesFormat = 'bedrock' | 'ecotone' | 'isthmus' | 'jovian'

/** Data about the L1 origin in the first transaction of an L2 block. Fields that the format lacks are zero. */
export type L1Attributes = {
  readonly format: L1AttributesFormat
  readonly number: number
  /** seconds */
  readonly timestamp: number
  /** wei per gas */
  readonly baseFee: bigint
  readonly hash: Hash
  readonly sequenceNumber: number
  readonly batcher: Address
  /** Bedrock: gas. */
  readonly overhead: bigint
  /** Bedrock: as in the system config. */
  readonly scalar: bigint
  /** From Ecotone: u32. */
  readonly baseFeeScalar: number
  readonly blobBaseFeeScalar: number
  /** wei per blob gas */
  readonly blobBaseFee: bigint
  /** From Isthmus. */
  readonly operatorFeeScalar: number
  readonly operatorFeeConstant: bigint
  /** From Jovian; never 0. */
  readonly daFootprintGasScalar: number
}

const selectors: Readonly<Record<L1AttributesFormat, string>> = {
  bedrock: '0x015d8eb9',
  ecotone: '0x440a5e20',
  isthmus: '0x098999be',
  jovian: '0x3db6be2b',
}
const lengths: Readonly<Record<L1AttributesFormat, number>> = { bedrock: 260, ecotone: 164, isthmus: 176, jovian: 178 }
const formats: readonly L1AttributesFormat[] = ['bedrock', 'ecotone', 'isthmus', 'jovian']

/** Gas limit from Regolith on. */
const attributesGas = 1_000_000n
/** Gas limit before Regolith, not counted in the block's gas. */
const systemGas = 150_000_000n
/** Gas per byte used when L1 has not set it. */
const defaultDaFootprintGasScalar = 400

const uint = (value: bigint | number, bytes: number): Uint8Array => bytesFromBigint(BigInt(value), bytes)

function packedData(info: L1Attributes): Uint8Array {
  const common = concatBytes(
    fromHex(selectors[info.format]),
    uint(info.baseFeeScalar, 4),
    uint(info.blobBaseFeeScalar, 4),
    uint(info.sequenceNumber, 8),
    uint(info.timestamp, 8),
    uint(info.number, 8),
    uint(info.baseFee, 32),
    uint(info.blobBaseFee, 32),
    fromHex(info.hash),
    uint(BigInt(info.batcher), 32),
  )
  if (info.format === 'ecotone') return common
  const isthmus = concatBytes(common, uint(info.operatorFeeScalar, 4), uint(info.operatorFeeConstant, 8))
  return info.format === 'isthmus' ? isthmus : concatBytes(isthmus, uint(info.daFootprintGasScalar, 2))
}

/** Encodes the calldata of the L1 attributes transaction. @see specs protocol/deposits.md, "L1 Attributes Deposited Transaction Calldata" */
export function encodeL1AttributesData(info: L1Attributes): Uint8Array {
  if (info.format !== 'bedrock') return packedData(info)
  const words = [info.number, info.timestamp, info.baseFee, BigInt(info.hash), info.sequenceNumber, BigInt(info.batcher), info.overhead]
  return concatBytes(fromHex(selectors.bedrock), ...words.map((word) => uint(word, 32)), uint(info.scalar, 32))
}

function bedrockFields(data: Uint8Array): Omit<L1Attributes, 'format'> {
  const word = (at: number): Uint8Array => data.subarray(4 + 32 * at, 36 + 32 * at)
  return {
    ...unset,
    number: safeInteger(word(0)),
    timestamp: safeInteger(word(1)),
    baseFee: bigintFromBytes(word(2)),
    hash: hashFromBytes(word(3)),
    sequenceNumber: safeInteger(word(4)),
    batcher: addressFromBytes(word(5).subarray(12)),
    overhead: bigintFromBytes(word(6)),
    scalar: bigintFromBytes(word(7)),
  }
}

const unset = {
  overhead: 0n,
  scalar: 0n,
  baseFeeScalar: 0,
  blobBaseFeeScalar: 0,
  blobBaseFee: 0n,
  operatorFeeScalar: 0,
  operatorFeeConstant: 0n,
  daFootprintGasScalar: 0,
}

function packedFields(data: Uint8Array): Omit<L1Attributes, 'format'> {
  return {
    ...unset,
    baseFeeScalar: numberFromBytes(data.subarray(4, 8)),
    blobBaseFeeScalar: numberFromBytes(data.subarray(8, 12)),
    sequenceNumber: safeInteger(data.subarray(12, 20)),
    timestamp: safeInteger(data.subarray(20, 28)),
    number: safeInteger(data.subarray(28, 36)),
    baseFee: bigintFromBytes(data.subarray(36, 68)),
    blobBaseFee: bigintFromBytes(data.subarray(68, 100)),
    hash: hashFromBytes(data.subarray(100, 132)),
    batcher: addressFromBytes(data.subarray(144, 164)),
    ...(data.length >= lengths.isthmus && {
      operatorFeeScalar: numberFromBytes(data.subarray(164, 168)),
      operatorFeeConstant: bigintFromBytes(data.subarray(168, 176)),
    }),
    ...(data.length >= lengths.jovian && { daFootprintGasScalar: numberFromBytes(data.subarray(176, 178)) }),
  }
}

function safeInteger(bytes: Uint8Array): number {
  const value = bigintFromBytes(bytes)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw chainFault('MALFORMED_L1_ATTRIBUTES', { reason: `${value} is not a safe integer` })
  return Number(value)
}

/**
 * Decodes the calldata of an L1 attributes transaction of any fork.
 * @throws Fault MALFORMED_L1_ATTRIBUTES (fatal)
 */
export function decodeL1Attributes(data: Uint8Array): L1Attributes {
  const selector = toHex(data.subarray(0, 4))
  const format = formats.find((name) => selectors[name] === selector)
  if (format === undefined || data.length !== lengths[format]) {
    throw chainFault('MALFORMED_L1_ATTRIBUTES', { reason: `selector ${selector} with ${data.length} bytes` })
  }
  return { format, ...(format === 'bedrock' ? bedrockFields(data) : packedFields(data)) }
}

/** Returns the format of a block's L1 attributes. The first block of a fork still has the previous format. Times in seconds. */
export function l1AttributesFormat(schedule: ForkSchedule, parentTimestamp: number, timestamp: number): L1AttributesFormat {
  const isPast = (fork: Fork): boolean => isActive(schedule, fork, timestamp) && !activatesAt(schedule, fork, parentTimestamp, timestamp)
  if (isPast('jovian')) return 'jovian'
  if (isPast('isthmus')) return 'isthmus'
  return isPast('ecotone') ? 'ecotone' : 'bedrock'
}

/** The L1 block fields that L1 attributes need. */
export type L1Origin = { readonly hash: Hash; readonly header: Header }

/** Returns the L1 attributes of an L2 block. Times in seconds. */
export function l1AttributesOf(
  config: RollupConfig,
  origin: L1Origin,
  systemConfig: SystemConfig,
  block: { readonly parentTimestamp: number; readonly timestamp: number; readonly sequenceNumber: number },
): L1Attributes {
  const { header, hash } = origin
  const format = l1AttributesFormat(config.schedule, block.parentTimestamp, block.timestamp)
  const common = {
    format,
    number: header.number,
    timestamp: header.timestamp,
    baseFee: header.baseFeePerGas ?? 0n,
    hash,
    sequenceNumber: block.sequenceNumber,
    batcher: systemConfig.batcher,
  }
  if (format === 'bedrock') return { ...unset, ...common, overhead: systemConfig.overhead, scalar: systemConfig.scalar }
  const ecotone = { ...unset, ...common, ...ecotoneScalars(systemConfig.scalar), blobBaseFee: blobBaseFee(config, header) }
  if (format === 'ecotone') return ecotone
  const { operatorFeeScalar, operatorFeeConstant } = systemConfig
  const daFootprintGasScalar = format === 'jovian' ? systemConfig.daFootprintGasScalar || defaultDaFootprintGasScalar : 0
  return { ...ecotone, operatorFeeScalar, operatorFeeConstant, daFootprintGasScalar }
}

/**
 * Encodes the L1 attributes transaction, the first transaction of every L2 block.
 * @param origin the block's L1 origin
 * @param systemConfig in force at that origin
 * @returns EIP-2718 bytes
 * @see specs protocol/deposits.md, "L1 Attributes Deposited Transaction"
 */
export function encodeL1Attributes(
  config: RollupConfig,
  origin: L1Origin,
  systemConfig: SystemConfig,
  block: { readonly parentTimestamp: number; readonly timestamp: number; readonly sequenceNumber: number },
): Uint8Array {
  const isRegolith = isActive(config.schedule, 'regolith', block.timestamp)
  const deposit: Deposit = {
    type: 0x7e,
    sourceHash: l1AttributesSource(origin.hash, block.sequenceNumber),
    from: depositorAccount,
    to: l1BlockAddress,
    mint: 0n,
    value: 0n,
    gasLimit: isRegolith ? attributesGas : systemGas,
    isSystemTransaction: !isRegolith,
    data: encodeL1AttributesData(l1AttributesOf(config, origin, systemConfig, block)),
  }
  return encodeDeposit(deposit)
}
