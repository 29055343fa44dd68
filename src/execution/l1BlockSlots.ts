import { l1BlockAddress } from '#chain/addresses'
import { type Address, type Hash, parseHash } from '#types/ids'
import type { L1FeeParams } from './l1DataFee.ts'
import type { OperatorFeeParams } from './operatorFee.ts'

const slotNumber = (index: number): Hash => parseHash(`0x${index.toString(16).padStart(64, '0')}`)
const slots = {
  baseFee: slotNumber(1),
  packedScalars: slotNumber(3),
  overhead: slotNumber(5),
  scalar: slotNumber(6),
  blobBaseFee: slotNumber(7),
  operatorFee: slotNumber(8),
}

/** What of a session the fee rules read. */
export type SlotReader = { slot(address: Address, slot: Hash): bigint }

/** Everything that fees take from L1Block; read after the block's first transaction. */
export type L1BlockFees = {
  readonly dataFee: L1FeeParams
  readonly operatorFee: OperatorFeeParams
  /** gas per byte of estimated compressed size */
  readonly daFootprintGasScalar: bigint
}

/** `from` and `to` count bytes from the most significant. */
function bytesOf(value: bigint, from: number, to: number): bigint {
  return (value >> BigInt((32 - to) * 8)) & ((1n << BigInt((to - from) * 8)) - 1n)
}

/**
 * Reads L1Block's storage. Fields of forks that are not active yet read as zero.
 * @see specs protocol/l1-attributes (storage layout of L1Block), protocol/isthmus and protocol/jovian of the same page
 */
export function readL1BlockFees(state: SlotReader): L1BlockFees {
  const read = (slot: Hash): bigint => state.slot(l1BlockAddress, slot)
  const packed = read(slots.packedScalars)
  const operator = read(slots.operatorFee)
  return {
    dataFee: {
      baseFee: read(slots.baseFee),
      blobBaseFee: read(slots.blobBaseFee),
      overhead: read(slots.overhead),
      scalar: read(slots.scalar),
      baseFeeScalar: bytesOf(packed, 16, 20),
      blobBaseFeeScalar: bytesOf(packed, 20, 24),
    },
    operatorFee: { scalar: bytesOf(operator, 20, 24), constant: bytesOf(operator, 24, 32) },
    daFootprintGasScalar: bytesOf(operator, 18, 20),
  }
}
