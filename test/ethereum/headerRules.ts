import { nextBaseFee } from '#block/fees/baseFee'
import { keccak256 } from '#lib/keccak'
import { encodeRlpList } from '#lib/rlp'
import { type Block, encodedBlockSize } from '#types/block'
import { encodeHeader, type Header } from '#types/header'
import { emptyOmmersHash, hashFromBytes } from '#types/ids'
import { blobParamsAt, type EthereumFork, type EthereumSchedule, followsEthereum } from './schedule.ts'

const baseFeeParams = { elasticity: 2, denominator: 8, minBaseFee: 0n }
/** wei per gas; EIP-1559 */
const initialBaseFee = 1_000_000_000n
/** gas; yellow paper, 4.4.4 */
const minGasLimit = 5_000n
const gasLimitQuotient = 1_024n
const maxExtraDataBytes = 32
/** Maximum distance of an ommer from its block, and maximum number of ommers; yellow paper, 11.1. */
const maxOmmerDistance = 6
const maxOmmers = 2
/** Bytes; EIP-7934 */
const maxBlockBytes = 8_388_608

/** Returns the base fee of a block's child in wei per gas; undefined before London. @see EIP-1559 */
export function ethereumBaseFee(schedule: EthereumSchedule, parent: Header, timestamp: number): bigint | undefined {
  if (!followsEthereum(schedule, 'london', { number: parent.number + 1, timestamp })) return undefined
  if (parent.baseFeePerGas === undefined) return initialBaseFee
  return nextBaseFee({ baseFee: parent.baseFeePerGas, gasLimit: parent.gasLimit, gasMetered: parent.gasUsed }, baseFeeParams)
}

/** Header fields of later forks, each with the fork that adds it. */
const laterFields: readonly (readonly [keyof Header, EthereumFork])[] = [
  ['baseFeePerGas', 'london'],
  ['withdrawalsRoot', 'shanghai'],
  ['blobGasUsed', 'cancun'],
  ['excessBlobGas', 'cancun'],
  ['parentBeaconBlockRoot', 'cancun'],
  ['requestsHash', 'prague'],
]

function shapeRefusal(schedule: EthereumSchedule, { header, withdrawals }: Block): string | undefined {
  for (const [field, fork] of laterFields) {
    const isExpected = followsEthereum(schedule, fork, header)
    if (isExpected !== (header[field] !== undefined)) return isExpected ? `${field} is missing` : `${field} is present before ${fork}`
  }
  if (header.extra) return 'the header has unknown fields'
  if ((withdrawals !== undefined) !== (header.withdrawalsRoot !== undefined))
    return 'the block must have withdrawals and withdrawalsRoot, or neither'
  return header.extraData.length > maxExtraDataBytes ? `extra data of ${header.extraData.length} bytes` : undefined
}

function sizeRefusal(schedule: EthereumSchedule, block: Block): string | undefined {
  const isTooLarge = followsEthereum(schedule, 'osaka', block.header) && encodedBlockSize(block) > maxBlockBytes
  return isTooLarge ? `the block has more than ${maxBlockBytes} bytes` : undefined
}

function gasLimitRefusal(schedule: EthereumSchedule, parent: Header, header: Header): string | undefined {
  const isFirstOfLondon = followsEthereum(schedule, 'london', header) && parent.baseFeePerGas === undefined
  const before = isFirstOfLondon ? parent.gasLimit * BigInt(baseFeeParams.elasticity) : parent.gasLimit
  const change = header.gasLimit > before ? header.gasLimit - before : before - header.gasLimit
  if (change >= before / gasLimitQuotient && change !== 0n) return `gas limit ${header.gasLimit} is too far from the parent's ${before}`
  return header.gasLimit < minGasLimit ? `gas limit ${header.gasLimit} is below ${minGasLimit}` : undefined
}

function ommersRefusal({ header, ommers = [] }: Block): string | undefined {
  if (ommers.length > maxOmmers) return `${ommers.length} ommers, at most ${maxOmmers}`
  const hash = hashFromBytes(keccak256(encodeRlpList(ommers.map(encodeHeader))))
  if (hash !== header.ommersHash) return `ommersHash is ${header.ommersHash}, ${hash} expected`
  const isNear = ommers.every(({ number }) => number < header.number && number >= header.number - maxOmmerDistance)
  return isNear ? undefined : `an ommer is not 1 to ${maxOmmerDistance} blocks below the block`
}

/** Checks that a block after the merge has no proof of work. @see EIP-3675 */
function mergedRefusal({ header }: Block): string | undefined {
  if (header.difficulty !== 0n) return `difficulty ${header.difficulty} after the merge`
  if (header.nonce.some((byte) => byte !== 0)) return 'a nonce after the merge'
  return header.ommersHash === emptyOmmersHash ? undefined : 'ommers after the merge'
}

/**
 * Returns why a block of Ethereum cannot follow its parent, or undefined, by the rules that need no execution. Proof of work and the lineage of
 * ommers are not checked.
 * @see yellow paper, 4.4.4; EIP-1559; EIP-3675; EIP-4895; EIP-4844; EIP-7685; EIP-7934
 */
export function ethereumRefusal(schedule: EthereumSchedule, parent: Header, block: Block): string | undefined {
  const { header } = block
  if (header.number !== parent.number + 1) return `number is ${header.number}, ${parent.number + 1} expected`
  if (header.timestamp <= parent.timestamp) return `timestamp ${header.timestamp} is not after the parent's ${parent.timestamp}`
  if (followsEthereum(schedule, 'cancun', header) && !blobParamsAt(schedule, header.timestamp))
    return 'the chain config has no blob parameters for this time'
  return (
    shapeRefusal(schedule, block) ??
    sizeRefusal(schedule, block) ??
    gasLimitRefusal(schedule, parent, header) ??
    ommersRefusal(block) ??
    (followsEthereum(schedule, 'paris', header) ? mergedRefusal(block) : undefined)
  )
}
