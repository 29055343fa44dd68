import { messagePasser } from '#chain/addresses'
import { isActive } from '#chain/forks'
import { evmRulesAt } from '#chain/opRules'
import { constantFields } from '#engine/payloadHeader'
import type { BlockEnv, Evm } from '#evm/ports'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { computeStateRoot } from '#state/stateRoot'
import type { WorldState } from '#state/worldState'
import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import { emptyRequestsHash, emptyRoot, type Hash } from '#types/ids'
import { childBaseFee } from './baseFee.ts'
import { inputRefusal } from './blockRules.ts'
import type { BlockInput, ExecutedBlock, InvalidBlock } from './executedBlock.ts'
import type { ExecutionConfig } from './executionConfig.ts'
import { receiptsRoot, unionOfBlooms } from './receipts.ts'
import { runTransactions } from './runTransactions.ts'
import type { Senders } from './senders.ts'
import { applySystemCalls } from './systemCalls.ts'

/** What executing the blocks of a chain takes. */
export type BlockDeps = { readonly evm: Evm; readonly config: ExecutionConfig; readonly senders: Senders }

/** The block to build on and the state after it. */
export type ParentBlock = { readonly header: Header; readonly hash: Hash; readonly state: WorldState }

export type BlockResult = { readonly kind: 'executed'; readonly block: ExecutedBlock } | InvalidBlock

const messagePasserKey = keccak256(fromHex(messagePasser))

/**
 * Executes a block on its parent: system calls, transactions, state root, header. Nothing is stored.
 * @throws Fault UNSUPPORTED_FORK (fatal) before anything runs; faults of the state when the parent's is not complete
 * @see specs protocol/exec-engine.md
 */
export function executeBlock(deps: BlockDeps, parent: ParentBlock, input: BlockInput): BlockResult {
  const { config } = deps
  const { schedule } = config
  const rules = evmRulesAt(schedule, input.timestamp)
  const refusal = inputRefusal(config, parent.header, input)
  if (refusal !== undefined) return { kind: 'invalid', reason: refusal }
  const baseFee = childBaseFee(config, parent.header, input.timestamp)
  if (baseFee === undefined) return { kind: 'invalid', reason: 'the parent has no readable base-fee parameters' }

  const env: BlockEnv = {
    chainId: BigInt(config.l2ChainId),
    number: parent.header.number + 1,
    timestamp: input.timestamp,
    beneficiary: input.beneficiary,
    prevRandao: input.prevRandao,
    gasLimit: input.gasLimit,
    baseFee,
    blobBaseFee: 1n,
  }
  const session = deps.evm.open(parent.state.view, env, rules)
  applySystemCalls(session, schedule, { hash: parent.hash, timestamp: parent.header.timestamp }, input)
  const ran = runTransactions({ session, env, rules, config, senders: deps.senders }, input.transactions)
  if (ran.kind === 'invalid') return ran

  const { executed, taken } = ran
  const receipts = executed.map(({ receipt }) => receipt)
  const diff = session.diff()
  const trie = computeStateRoot(parent.state.nodes, parent.header.stateRoot, parent.state.view, diff)
  const withdrawalsRoot = isActive(schedule, 'isthmus', input.timestamp) ? messagePasserRoot(parent.state, trie.storageRoots) : emptyRoot
  const { parentBeaconBlockRoot } = input
  const header: Header = {
    ...constantFields,
    parentHash: parent.hash,
    beneficiary: input.beneficiary,
    stateRoot: trie.root,
    transactionsRoot: orderedRoot(input.transactions),
    receiptsRoot: receiptsRoot(schedule, input.timestamp, receipts),
    logsBloom: unionOfBlooms(receipts),
    number: env.number,
    gasLimit: input.gasLimit,
    gasUsed: taken.gas,
    timestamp: input.timestamp,
    extraData: input.extraData,
    mixHash: input.prevRandao,
    baseFeePerGas: baseFee,
    ...(isActive(schedule, 'canyon', input.timestamp) && { withdrawalsRoot }),
    ...(parentBeaconBlockRoot !== undefined && { blobGasUsed: taken.footprint, excessBlobGas: 0n, parentBeaconBlockRoot }),
    ...(isActive(schedule, 'isthmus', input.timestamp) && { requestsHash: emptyRequestsHash }),
  }
  const { transactions } = input
  return { kind: 'executed', block: { header, hash: hashHeader(header), transactions, executed, diff, trie } }
}

/** Storage root of the message passer after the block. @see specs protocol/isthmus/exec-engine.md, "L2ToL1MessagePasser Storage Root in Header" */
function messagePasserRoot(before: WorldState, changed: ReadonlyMap<string, Hash>): Hash {
  return changed.get(toHex(messagePasserKey)) ?? before.view.account(messagePasserKey)?.storageRoot ?? emptyRoot
}
