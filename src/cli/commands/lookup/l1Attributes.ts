import { decodeL1Attributes, type L1Attributes } from '#chainspec/l1Info'
import { isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import type { Json } from '#types/jsonShape'
import { count, type Field } from '../../textLayout.ts'
import { gwei, timeText } from './chainRead.ts'

/** Decodes the L1 attributes of a block, its first transaction; undefined: it has none, such as the genesis. */
export function l1AttributesOf(transactions: readonly unknown[]): L1Attributes | undefined {
  const { input, type } = (transactions[0] ?? {}) as Json
  if (type !== '0x7e' || typeof input !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(input)) return undefined
  try {
    return decodeL1Attributes(fromHex(input))
  } catch (error) {
    if (isFault(error, 'MALFORMED_L1_ATTRIBUTES')) return undefined
    throw error
  }
}

/** Returns L1 attributes as JSON: amounts are decimal texts. */
export const l1AttributesJson = (info: L1Attributes): Json =>
  Object.fromEntries(Object.entries(info).map(([key, value]) => [key, typeof value === 'bigint' ? value.toString() : value]))

/** Returns the lines of L1 attributes in a view. */
export function l1AttributesFields(info: L1Attributes): readonly Field[] {
  const { format, baseFeeScalar, blobBaseFeeScalar, operatorFeeScalar, operatorFeeConstant, daFootprintGasScalar } = info
  const scalars =
    format === 'bedrock'
      ? `overhead ${count(info.overhead)}, scalar ${count(info.scalar)}`
      : `base fee ${count(baseFeeScalar)}, blob base fee ${count(blobBaseFeeScalar)}`
  const operator =
    format === 'isthmus' || format === 'jovian' ? [`scalar ${count(operatorFeeScalar)}, constant ${count(operatorFeeConstant)} wei`] : []
  return [
    ['L1 origin', `${count(info.number)}, ${info.hash}`],
    ['', `${timeText(info.timestamp * 1_000)}, block ${info.sequenceNumber} of its epoch`],
    ['L1 base fee', gwei(info.baseFee)],
    ...(format === 'bedrock' ? [] : [['L1 blob base fee', gwei(info.blobBaseFee)] as const]),
    ['L1 fee scalars', scalars],
    ...operator.map((text): Field => ['operator fee', text]),
    ...(format === 'jovian' ? [['DA footprint scalar', count(daFootprintGasScalar)] as const] : []),
    ['batcher', info.batcher],
  ]
}
