import { type BlockDeps, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import type { BlockInput } from '#block/execution/executedBlock'
import type { Senders } from '#block/execution/senders'
import { messagePasser } from '#chainspec/addresses'
import { isActive } from '#chainspec/forks'
import type { ReadKeys } from '#evm/ports'
import { emptyBytes, latin1 } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { RunTimer } from '#rpc/callPorts'
import { computeStateRoot, touchedAccounts } from '#state/stateRoot'
import type { NodeSource } from '#trie/ports'
import { plainTries } from '#trie/tries'
import { delegateIn } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { Pieces } from '../slicedRun.ts'
import { type ReadAccount, WitnessReads } from './witnessReads.ts'

/** A block to run on its parent. */
export type WitnessBlock = {
  readonly parentHash: Hash
  readonly input: BlockInput
  /** senders of the transactions; undefined: they are recovered */
  readonly senders: readonly Address[] | undefined
  /** starts the time limit of a transaction; absent: unlimited */
  readonly startTimer?: () => RunTimer
}

const messagePasserKey = keccak256(fromHex(messagePasser))

type Run = {
  readonly reads: WitnessReads
  readonly diff: StateDiff
  readonly preimages: Preimages
  readonly codes: readonly Uint8Array[]
}

/** Preimages of hashed keys. */
type Preimages = { readonly addresses: readonly Uint8Array[]; readonly slots: readonly Uint8Array[] }

/** Returns the preimages of the keys that were read from the state. */
function preimagesOf(reads: WitnessReads, { accounts, slots }: ReadKeys): Preimages {
  const numbers = new Map<string, Uint8Array>()
  for (const { key, preimage } of slots) if (reads.hasSlot(key)) numbers.set(latin1(key), preimage)
  return { addresses: accounts.filter(({ key }) => reads.has(key)).map(({ preimage }) => preimage), slots: [...numbers.values()] }
}

/** Returns codes that were run or read, and codes that the block has created. An interpreter may have cached a code and not read it. */
function codesOf(reads: WitnessReads, diff: StateDiff, { accounts }: ReadKeys): readonly Uint8Array[] {
  const read = (addressKey: Uint8Array): Uint8Array => {
    const codeHash = reads.has(addressKey) ? (reads.account(addressKey)?.codeHash ?? emptyCodeHash) : emptyCodeHash
    return codeHash === emptyCodeHash ? emptyBytes : reads.code(codeHash)
  }
  for (const { key, isCoded } of accounts) {
    const delegate = isCoded ? delegateIn(read(key)) : undefined
    if (delegate !== undefined) read(keccak256(delegate))
  }
  return [...reads.codes.values(), ...Array.from(diff.codes(), ({ code }) => code)]
}

/**
 * Runs the block, one transaction per piece.
 * @returns the run, or why the block is invalid
 * @throws OutOfTime
 */
function* runBlock(deps: BlockDeps, parent: ParentBlock, { input, senders, startTimer }: WitnessBlock): Pieces<Run | string> {
  const reads = new WitnessReads(parent.state.view)
  let running = 0
  const senderOf: Senders['of'] = (tx, hash) => senders?.[running] ?? deps.senders.of(tx, hash)
  const state = { view: reads, nodes: parent.state.nodes }
  let check = startTimer?.()()
  const timed: BlockDeps = startTimer ? { ...deps, interruptCheck: (pieceGas) => check?.(pieceGas) } : deps
  const opened = createBlockExecutor({ ...timed, senders: { of: senderOf } }, { ...parent, state }, input)
  if (opened.kind === 'invalid') return opened.reason
  using block = opened.block
  for (const [index, raw] of input.transactions.entries()) {
    running = index
    check = startTimer?.()()
    const refusal = block.take(raw)
    if (refusal !== undefined) return `transaction ${index}: ${refusal}`
    yield
  }
  if (isActive(deps.config.schedule, 'isthmus', input.timestamp)) reads.account(messagePasserKey)
  const diff = block.session.diff()
  const keys = block.session.readKeys()
  return { reads, diff, preimages: preimagesOf(reads, keys), codes: codesOf(reads, diff, keys) }
}

/** Reads the siblings of nodes that the block deletes: a branch with one remaining child merges with it. */
function* joinedNodes({ reads, diff }: Run, stateRoot: Hash, nodes: NodeSource): Pieces<void> {
  for (const { key, slots } of touchedAccounts(diff)) {
    if (slots.length === 0) continue
    const root = reads.account(key)?.storageRoot ?? emptyRoot
    if (slots.every(({ value }) => value !== null) || diff.isWiped(key) || root === emptyRoot) continue
    plainTries().update(nodes, key, root, slots)
    yield
  }
  const isGone = [...diff.accounts()].some(({ key, change }) => change === null && reads.account(key) !== undefined)
  if (isGone) computeStateRoot(nodes, stateRoot, diff)
}

/** Reads of a block from its parent's state, which determine its witness. */
export type WitnessNeeds = Preimages & {
  /** ascending by key */
  readonly accounts: readonly ReadAccount[]
  readonly codes: readonly Uint8Array[]
  /** RLP of the nodes that the update of the tries reads */
  readonly updated: readonly Uint8Array[]
  /** lowest block whose hash was read; Infinity: none */
  readonly lowestBlock: number
}

/**
 * Runs a block to collect its reads.
 * @returns the reason when the block is invalid
 */
export function* findNeeds(deps: BlockDeps, parent: ParentBlock, block: WitnessBlock): Pieces<WitnessNeeds | string> {
  const run = yield* runBlock(deps, parent, block)
  if (typeof run === 'string') return run
  const updated: Uint8Array[] = []
  const noting: NodeSource = {
    get(...of): Uint8Array | undefined {
      const node = parent.state.nodes.get(...of)
      if (node !== undefined) updated.push(node)
      return node
    },
  }
  yield* joinedNodes(run, parent.header.stateRoot, noting)
  const { reads, preimages, codes } = run
  return { ...preimages, accounts: reads.accounts(), codes, updated, lowestBlock: reads.lowestBlock }
}
