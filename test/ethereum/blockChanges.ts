import type { InvalidBlock } from '#block/execution/executedBlock'
import { systemCall } from '#block/execution/systemCalls'
import { beaconRootsContract, historyStorageContract } from '#chainspec/addresses'
import { gasPerBlob } from '#chainspec/blobFee'
import type { EvmSession } from '#evm/ports'
import { fromHex } from '#lib/hex'
import { orderedRoot } from '#trie/orderedRoot'
import type { Block } from '#types/block'
import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Receipt } from '#types/receipt'
import { decodeTransaction } from '#types/transaction'
import { encodeWithdrawal } from '#types/withdrawal'
import { childExcessBlobGas } from './blobs.ts'
import { collectRequests } from './requests.ts'
import { blobParamsAt, type EthereumSchedule, followsEthereum } from './schedule.ts'

const weiPerGwei = 1_000_000_000n
const ether = 10n ** 18n
/** An ommer earns (8 − distance) / 8 of the block reward. */
const ommerEighths = 8n
/** A block earns 1/32 of its reward for each ommer in it. */
const nephewQuotient = 32n

/** Reward in wei for a proof-of-work block; 0 from the merge on. @see EIP-649, EIP-1234, EIP-3675 */
function blockReward(schedule: EthereumSchedule, header: Header): bigint {
  if (followsEthereum(schedule, 'paris', header)) return 0n
  if (followsEthereum(schedule, 'constantinople', header)) return 2n * ether
  return (followsEthereum(schedule, 'byzantium', header) ? 3n : 5n) * ether
}

function payRewards(session: EvmSession, schedule: EthereumSchedule, { header, ommers = [] }: Block): void {
  const reward = blockReward(schedule, header)
  if (reward === 0n) return
  for (const ommer of ommers) {
    session.addBalance(ommer.beneficiary, ((ommerEighths - BigInt(header.number - ommer.number)) * reward) / ommerEighths)
  }
  session.addBalance(header.beneficiary, reward + (reward / nephewQuotient) * BigInt(ommers.length))
}

/** Makes the system calls before the first transaction. @see EIP-4788, EIP-2935 */
export function beginEthereumBlock(session: EvmSession, schedule: EthereumSchedule, { header }: Block): void {
  const { parentBeaconBlockRoot } = header
  if (parentBeaconBlockRoot !== undefined) systemCall(session, beaconRootsContract, fromHex(parentBeaconBlockRoot))
  if (followsEthereum(schedule, 'prague', header)) systemCall(session, historyStorageContract, fromHex(header.parentHash))
}

/** Header fields that `endEthereumBlock` computes. */
export type EthereumEnd = Pick<Header, 'withdrawalsRoot' | 'blobGasUsed' | 'excessBlobGas' | 'requestsHash'>

function blobGasOf(transactions: readonly Uint8Array[]): bigint {
  let blobs = 0
  for (const raw of transactions) {
    const tx = raw[0] === 3 ? decodeTransaction(raw) : undefined
    if (tx?.type === 3) blobs += tx.blobVersionedHashes.length
  }
  return BigInt(blobs) * gasPerBlob
}

/**
 * Applies the changes after the last transaction: 1 pays withdrawals, 2 collects requests, 3 pays the rewards of the block and its ommers.
 * @returns 'invalid' when the block has too many blobs, or the requests cannot be collected
 * @see yellow paper, 11.3; EIP-4895; EIP-7685
 */
export function endEthereumBlock(
  session: EvmSession,
  schedule: EthereumSchedule,
  parent: Header,
  block: Block,
  receipts: readonly Receipt[],
): { readonly kind: 'ended'; readonly end: EthereumEnd } | InvalidBlock {
  const { header, transactions, withdrawals } = block
  const params = blobParamsAt(schedule, header.timestamp)
  const blobGasUsed = blobGasOf(transactions)
  if (params && blobGasUsed > BigInt(params.max) * gasPerBlob) {
    return { kind: 'invalid', reason: `${blobGasUsed / gasPerBlob} blobs, at most ${params.max}` }
  }
  for (const { address, amountGwei } of withdrawals ?? []) session.addBalance(address, amountGwei * weiPerGwei)
  session.endTransaction()
  let requestsHash: Hash | undefined
  if (followsEthereum(schedule, 'prague', header)) {
    const requests = collectRequests(session, schedule.depositContract, receipts)
    if (requests.kind === 'invalid') return requests
    requestsHash = requests.hash
  }
  payRewards(session, schedule, block)
  session.endTransaction()
  return {
    kind: 'ended',
    end: {
      ...(withdrawals && { withdrawalsRoot: orderedRoot(withdrawals.map(encodeWithdrawal)) }),
      ...(params && { blobGasUsed, excessBlobGas: childExcessBlobGas(schedule, parent, header.timestamp) }),
      ...(requestsHash !== undefined && { requestsHash }),
    },
  }
}
