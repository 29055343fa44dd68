import { l2RefOf } from '#chainspec/l2Ref'
import { engineFault } from '#engine/faults'
import type { BuildResult, Engine, Heads, InsertResult } from '#engine/port'
import { bytesFromBigint, concatBytes, u64Bytes } from '#lib/bytes'
import { defineFaults } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { BlockId, L2Ref } from '#types/blockRef'
import { emptyRoot, type Hash, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'

export const busyFault = defineFaults({
  ENGINE_BUSY: { severity: 'retry', says: (_: Record<never, never>) => 'busy', fix: 'none' },
})

/** Transaction that every engine of this harness rejects. */
export const badTransaction = Uint8Array.of(2, 0xba, 0xd)

const isBad = (raw: Uint8Array): boolean => raw.length === 3 && raw.every((byte, at) => byte === badTransaction[at])

/** Block without execution: its hash covers parent, time and transactions. */
export function payloadOf(
  parent: BlockId,
  attributes: Pick<PayloadAttributes, 'timestamp' | 'transactions'> & Partial<PayloadAttributes>,
): Payload {
  const { timestamp, transactions, withdrawals, parentBeaconBlockRoot, eip1559Params, minBaseFee = 0n } = attributes
  return {
    parentHash: parent.hash,
    feeRecipient: attributes.suggestedFeeRecipient ?? zeroAddress,
    stateRoot: zeroHash,
    receiptsRoot: zeroHash,
    logsBloom: new Uint8Array(256),
    prevRandao: attributes.prevRandao ?? zeroHash,
    blockNumber: parent.number + 1,
    gasLimit: attributes.gasLimit ?? 30_000_000n,
    gasUsed: 0n,
    timestamp,
    extraData: concatBytes(Uint8Array.of(1), eip1559Params ?? new Uint8Array(8), bytesFromBigint(minBaseFee, 8)),
    baseFeePerGas: 1n,
    blockHash: hashFromBytes(keccak256(concatBytes(fromHex(parent.hash), u64Bytes(timestamp), ...transactions))),
    transactions,
    ...(withdrawals && { withdrawals }),
    ...(parentBeaconBlockRoot && { parentBeaconBlockRoot }),
  }
}

/** Reference of a block with L1 attributes; the genesis attributes are made up. */
function refOf(payload: Payload): L2Ref {
  return l2RefOf({ genesis: { l1: { number: 0, hash: zeroHash }, l2: { number: 0, hash: payload.blockHash } } }, payload)
}

/** State that survives a kill. */
export type Durable = { readonly chain: readonly Payload[]; readonly heads: Heads; readonly genesis?: L2Ref }

export type MemoryEngine = Engine & {
  readonly durable: Durable
  /** All heads that were set, in order. */
  readonly history: readonly Heads[]
  /** Hashes of the canonical chain, genesis first. */
  hashes(): Hash[]
  /** Adds errors with which the next calls of the method fail, in order. */
  failNext(method: 'insert' | 'build' | 'setHeads', ...errors: readonly unknown[]): void
  /** Off: every call fails with ENGINE_BUSY. On: blocks built but not labelled, and the chain above `tail`, are lost. */
  turn(power: 'off' | 'on', tail?: number): void
  /** Calls that did not fail, by method. */
  readonly calls: Readonly<Record<'insert' | 'build' | 'setHeads', number>>
  /** Number of blocks executed so far. */
  readonly executed: number
}

/** Executes attributes in place of a real engine. Returns undefined for attributes that cannot be executed. */
export type Execute = (parent: Payload, attributes: PayloadAttributes) => Payload | undefined

export const executeNothing: Execute = (parent, attributes) => {
  if (attributes.transactions.some(isBad)) return undefined
  return payloadOf({ number: parent.blockNumber, hash: parent.blockHash }, attributes)
}

/**
 * Creates an engine in memory. A kill loses blocks until they are at or below the unsafe head.
 * @param effect called before and after each effect; an exception from it is the kill
 */
export function createMemoryEngine(durable: Durable, execute: Execute, effect: (name: string) => void = () => {}): MemoryEngine {
  let state = durable
  const known = new Map(durable.chain.map((payload) => [payload.blockHash, payload]))
  const history: Heads[] = []
  const failures = { insert: [] as unknown[], build: [] as unknown[], setHeads: [] as unknown[] }
  const calls = { insert: 0, build: 0, setHeads: 0 }
  let executed = 0
  let isOff = false

  function answer(): void {
    if (isOff) throw busyFault('ENGINE_BUSY', {})
  }
  function fail(method: keyof typeof failures): void {
    answer()
    if (failures[method].length > 0) throw failures[method].shift()
    calls[method]++
  }
  function forget(tail: number): void {
    const chain = state.chain.filter((payload) => payload.blockNumber <= tail)
    const last = chain.at(-1)
    if (last === undefined) throw new RangeError('genesis is missing')
    const lastRef = last.blockHash === state.genesis?.hash ? state.genesis : refOf(last)
    const lower = (ref: Heads['unsafe']): Heads['unsafe'] => (ref.number > last.blockNumber ? lastRef : ref)
    state = {
      ...state,
      chain,
      heads: { unsafe: lower(state.heads.unsafe), safe: lower(state.heads.safe), finalized: lower(state.heads.finalized) },
    }
    known.clear()
    for (const payload of chain) known.set(payload.blockHash, payload)
  }

  /** Returns the chain from genesis to a head. */
  function chainTo(head: BlockId): Payload[] {
    const chain: Payload[] = []
    const genesis = state.chain[0]?.blockHash
    for (let hash = head.hash; ; ) {
      const payload = known.get(hash)
      if (!payload) throw engineFault('INVALID_FORKCHOICE', { label: 'unsafe', hash, reason: 'not known' })
      chain.unshift(payload)
      if (hash === genesis) return chain
      hash = payload.parentHash
    }
  }

  return {
    get durable() {
      return state
    },
    history,
    hashes: () => state.chain.map((payload) => payload.blockHash),
    failNext: (method, ...errors) => void failures[method].push(...errors),
    turn(power, tail = Number.POSITIVE_INFINITY): void {
      isOff = power === 'off'
      if (!isOff) forget(tail)
    },
    calls,
    get executed() {
      return executed
    },
    async insert(payload): Promise<InsertResult> {
      fail('insert')
      if (known.has(payload.blockHash)) return { kind: 'valid' }
      const { parentHash, blockNumber, transactions } = payload
      if (!known.has(parentHash)) throw engineFault('UNKNOWN_PARENT', { hash: parentHash, number: blockNumber - 1 })
      if (transactions.some(isBad)) return { kind: 'invalid', reason: 'bad transaction' }
      effect('insert')
      executed++
      known.set(payload.blockHash, payload)
      return { kind: 'valid' }
    },
    async build(parent, attributes): Promise<BuildResult> {
      fail('build')
      const below = known.get(parent.hash)
      if (!below) throw engineFault('UNKNOWN_PARENT', parent)
      const payload = execute(below, attributes)
      if (!payload) return { kind: 'invalid', reason: 'bad transaction' }
      effect('build')
      executed++
      known.set(payload.blockHash, payload)
      effect('built')
      return { kind: 'built', payload }
    },
    async setHeads(heads) {
      fail('setHeads')
      const chain = chainTo(heads.unsafe)
      const isOrdered = heads.finalized.number <= heads.safe.number && heads.safe.number <= heads.unsafe.number
      const arePresent = [heads.safe, heads.finalized].every((head) => chain.some((payload) => payload.blockHash === head.hash))
      if (!isOrdered || !arePresent) throw engineFault('INVALID_FORKCHOICE', { label: 'safe', hash: heads.safe.hash, reason: 'order' })
      effect('set heads')
      state = { ...state, chain, heads }
      history.push(heads)
      effect('heads set')
    },
    async heads() {
      answer()
      return state.heads
    },
    async payload(at) {
      answer()
      return typeof at === 'number' ? state.chain.find((payload) => payload.blockNumber === at) : known.get(at)
    },
    storageRoot: async (_account, { hash }) => (known.has(hash) ? emptyRoot : undefined),
  }
}
