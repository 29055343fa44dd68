import type { ForkSchedule } from '#chainspec/forks'
import { headerOfPayload } from '#engine/payloadHeader'
import { toHex } from '#lib/hex'
import { provenState } from '#state/provenState'
import { type Header, hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { type BlockDeps, type BlockResult, executeBlock, type ParentBlock } from '../execution/executeBlock.ts'
import type { BlockInput, InvalidBlock } from '../execution/executedBlock.ts'
import { payloadShapeRefusal } from '../execution/payloadBlock.ts'

const invalid = (reason: string): InvalidBlock => ({ kind: 'invalid', reason })

/** Converts a payload into block input. */
function inputOfPayload(payload: Payload): BlockInput {
  const { parentBeaconBlockRoot } = payload
  return {
    timestamp: payload.timestamp,
    beneficiary: payload.feeRecipient,
    prevRandao: payload.prevRandao,
    gasLimit: payload.gasLimit,
    extraData: payload.extraData,
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
    transactions: payload.transactions,
  }
}

/** Compared in this order, so that the reported difference explains most. */
const comparedFields = [
  'parentHash',
  'number',
  'baseFeePerGas',
  'transactionsRoot',
  'gasUsed',
  'blobGasUsed',
  'excessBlobGas',
  'logsBloom',
  'receiptsRoot',
  'withdrawalsRoot',
  'stateRoot',
] as const

const shown = (value: unknown): string => (value instanceof Uint8Array ? toHex(value) : String(value))

/** Returns the first field in which two headers differ, with both values; undefined when they agree in all fields that execution computes. */
export function headerDifference(claimed: Header, computed: Header): string | undefined {
  for (const field of comparedFields) {
    const [a, b] = [shown(claimed[field]), shown(computed[field])]
    if (a !== b) return `${field} is ${a}, ${b} expected`
  }
  return undefined
}

/**
 * Returns the header that a payload describes. The payload must have exactly the fields of its fork, and its header must have the block hash.
 * @returns 'invalid' when one of these does not hold
 */
export function claimedHeader(
  schedule: ForkSchedule,
  payload: Payload,
): { readonly kind: 'claimed'; readonly header: Header } | InvalidBlock {
  const shape = payloadShapeRefusal(schedule, payload)
  if (shape !== undefined) return invalid(shape)
  const header = headerOfPayload(schedule, payload)
  const hash = hashHeader(header)
  return hash === payload.blockHash ? { kind: 'claimed', header } : invalid(`blockHash is ${payload.blockHash}, ${hash} expected`)
}

/**
 * Executes a payload on its parent and compares every header field and the block hash. Nothing is stored.
 * @param claimed the payload's header, by `claimedHeader`
 * @returns 'invalid' with the first violated rule or different field
 */
export function verifyClaimed(deps: BlockDeps, parent: ParentBlock, payload: Payload, claimed: Header): BlockResult {
  if (claimed.parentHash !== parent.hash) return invalid(`parentHash is ${claimed.parentHash}, ${parent.hash} expected`)
  if (claimed.number !== parent.header.number + 1) return invalid(`number is ${claimed.number}, ${parent.header.number + 1} expected`)
  // `claimedHeader` has computed the transactions root from the payload's transactions
  const { view, claimedView = view } = parent.state
  const result = executeBlock(deps, { ...parent, state: { ...parent.state, view: claimedView } }, inputOfPayload(payload), claimed)
  if (result.kind === 'invalid') return result
  const difference = headerDifference(claimed, result.block.header)
  if (difference !== undefined) return invalid(difference)
  const { hash } = result.block
  return hash === payload.blockHash ? result : invalid(`blockHash is ${payload.blockHash}, ${hash} expected`)
}

/** Runs `claimedHeader` and then `verifyClaimed`. */
export function verifyPayload(deps: BlockDeps, parent: ParentBlock, payload: Payload): BlockResult {
  const claim = claimedHeader(deps.config.schedule, payload)
  return claim.kind === 'invalid' ? claim : verifyClaimed(deps, parent, payload, claim.header)
}

/**
 * Executes a block on its parent. Before it is refused, it is executed again on values that the parent's state root proves, because a damaged row of the
 * database must not make a valid block invalid.
 * @param execute called once or twice
 * @throws Fault STATE_DAMAGED (fatal) when the block reads such a row
 */
export function executeProven<T extends BlockResult>(parent: ParentBlock, execute: (on: ParentBlock) => T): T {
  const result = execute(parent)
  if (result.kind !== 'invalid') return result
  return execute({ ...parent, state: provenState(parent.state, parent.header.stateRoot) })
}
