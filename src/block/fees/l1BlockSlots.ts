import { l1BlockAddress } from '#chainspec/addresses'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import { type Address, type Hash, parseHash } from '#types/ids'
import { hasEcotoneValues, type L1FeeParams } from './l1DataFee.ts'
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

/** Part of an EVM session that the fee rules read. */
export type SlotReader = { slot(address: Address, slot: Hash): bigint }

/** Fee parameters in L1Block. They are valid after the block's first transaction. */
export type L1BlockFees = {
  readonly dataFee: L1FeeParams
  readonly operatorFee: OperatorFeeParams
  /** gas per byte of estimated compressed size */
  readonly daFootprintGasScalar: bigint
}

/** Extracts bytes `from` to `to` (exclusive) of a 32-byte word; byte 0 is the most significant. */
function bytesOf(value: bigint, from: number, to: number): bigint {
  return (value >> BigInt((32 - to) * 8)) & ((1n << BigInt((to - from) * 8)) - 1n)
}

/**
 * Reads the fee parameters from L1Block's storage. Reads only the slots that the fork's rules use, because a witness of the block contains no
 * others. Parameters that are not read are zero.
 * @param timestamp of the block, in seconds
 * @see specs protocol/predeploys.md, "L1Block"; the pages of Ecotone, Isthmus and Jovian
 */
export function readL1BlockFees(state: SlotReader, schedule: ForkSchedule, timestamp: number): L1BlockFees {
  const read = (slot: Hash): bigint => state.slot(l1BlockAddress, slot)
  const isEcotone = isActive(schedule, 'ecotone', timestamp)
  const packed = isEcotone ? read(slots.packedScalars) : 0n
  const ecotone = {
    blobBaseFee: isEcotone ? read(slots.blobBaseFee) : 0n,
    baseFeeScalar: bytesOf(packed, 16, 20),
    blobBaseFeeScalar: bytesOf(packed, 20, 24),
  }
  const usesBedrock = !hasEcotoneValues(ecotone)
  const operator = isActive(schedule, 'isthmus', timestamp) ? read(slots.operatorFee) : 0n
  return {
    dataFee: {
      ...ecotone,
      baseFee: read(slots.baseFee),
      overhead: usesBedrock ? read(slots.overhead) : 0n,
      scalar: usesBedrock ? read(slots.scalar) : 0n,
    },
    operatorFee: { scalar: bytesOf(operator, 20, 24), constant: bytesOf(operator, 24, 32) },
    daFootprintGasScalar: bytesOf(operator, 18, 20),
  }
}
