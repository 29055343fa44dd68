import { forkConfigsOf } from '#chainspec/forkConfigs'
import { CacheSet } from '#lib/caches'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { createBlockCache } from '#rpc/cache/blockCache'
import type { CallMessage, CallOutcome, CallRuns, Executor } from '#rpc/callPorts'
import { defaultEthLimits, type EthContext } from '#rpc/context'
import { createFilters } from '#rpc/filters/filters'
import type { MeterWork } from '#rpc/meterPorts'
import type { ChainReader } from '#rpc/ports'
import type { SequencerLink } from '#rpc/submitPorts'
import type { TraceOutcome, Tracing } from '#rpc/tracePorts'
import { scheduleTo } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { scriptedFeed } from '#test/harness/rpc/headFeed'
import type { Account } from '#types/account'
import type { ChainBlock, ChainReceipt, ChainView, FoundLog } from '#types/chainView'
import { type Header, hashHeader } from '#types/header'
import {
  type Address,
  addressFromBytes,
  emptyCodeHash,
  emptyOmmersHash,
  emptyRoot,
  type Hash,
  hashFromBytes,
  parseAddress,
  zeroHash,
} from '#types/ids'
import type { L1FeeFacts } from '#types/l1FeeFacts'
import type { Log } from '#types/log'
import type { LogMatcher } from '#types/logMatcher'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'
import { createReceipt } from '#types/receipt'
import { encodeTransaction, type FeeMarketTransaction, hashTransaction, signingDigest } from '#types/transaction'
import type { BlockLimits, PoolRemoval, TransactionPool } from '#types/transactionPool'
import type { WorldReads } from '#types/worldReads'

export const account = (last: number): Address => parseAddress(`0x${last.toString(16).padStart(40, '0')}`)
export const topic = (last: number): Hash => `0x${last.toString(16).padStart(64, '0')}` as Hash

const key = new Uint8Array(32).fill(7)
/** Sender of every transaction of a fake chain. */
export const fakeSender: Address = addressFromBytes(addressOfKey(key))

/** Transfer of 1 wei with 2 bytes of data from `fakeSender`, as EIP-2718 bytes. @param tip wei per gas */
export function signedTransaction(nonce: number, tip = 5n): Uint8Array {
  const unsigned: FeeMarketTransaction = {
    ...{ type: 2, chainId: 8453n, nonce: BigInt(nonce), gasLimit: 100_000n, to: account(0xcc), value: 1n, data: Uint8Array.of(1, 2) },
    ...{ maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: tip, accessList: [], yParity: 0, r: 0n, s: 0n },
  }
  const { signature, yParity } = signDigest(signingDigest(unsigned), key)
  const half = (from: number): bigint => BigInt(`0x${Buffer.from(signature.subarray(from, from + 32)).toString('hex')}`)
  return encodeTransaction({ ...unsigned, yParity, r: half(0), s: half(32) })
}

function header(number: number, parentHash: Hash, logsBloom: Uint8Array, blockMs: number): Header {
  return {
    ...{ parentHash, ommersHash: emptyOmmersHash, beneficiary: account(0x11), stateRoot: zeroHash, transactionsRoot: emptyRoot },
    ...{
      receiptsRoot: emptyRoot,
      logsBloom,
      difficulty: 0n,
      number,
      gasLimit: 30_000_000n,
      gasUsed: 21_000n,
      timestamp: 1_700_000_000 + Math.floor((blockMs * number) / 1_000),
    },
    ...{ extraData: new Uint8Array(0), mixHash: zeroHash, nonce: new Uint8Array(8), baseFeePerGas: 1_000n },
  }
}

/** Content of a block: a list of logs for each transaction. */
export type FakeBlock = readonly (readonly Log[])[]
type StoredBlock = { readonly of: ChainBlock; readonly receipts: readonly ChainReceipt[] }

function storedBlock(transactions: FakeBlock, number: number, parentHash: Hash, blockMs: number): StoredBlock {
  const raws = transactions.map((_logs, index) => signedTransaction(number * 1_000 + index))
  const receipts = transactions.map((logs, index) => ({
    receipt: createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 21_000n * BigInt(index + 1), logs }),
    gasUsed: 21_000n,
    firstLogIndex: transactions.slice(0, index).flat().length,
    sizeBytes: 1_000,
  }))
  const bloom = createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs: transactions.flat() }).logsBloom
  const block = { header: header(number, parentHash, bloom, blockMs), transactions: raws }
  return { of: { hash: hashHeader(block.header), block, senders: raws.map(() => fakeSender) }, receipts }
}

function logsOf({ of, receipts }: StoredBlock, number: number, indexes: readonly number[], matcher: LogMatcher): readonly FoundLog[] {
  const { hash, block } = of
  const place = { hash, number, timestamp: block.header.timestamp }
  return indexes.flatMap((transactionIndex) => {
    const [raw, stored] = [block.transactions[transactionIndex], receipts[transactionIndex]]
    if (raw === undefined || stored === undefined) throw new RangeError(`transaction ${transactionIndex}`)
    const transactionHash = hashTransaction(raw)
    return stored.receipt.logs.flatMap((log, at) =>
      matcher.matches(log) ? [{ log, block: place, transactionHash, transactionIndex, logIndex: stored.firstLogIndex + at }] : [],
    )
  })
}

export type FakeAccount = {
  readonly nonce?: bigint
  readonly balance?: bigint
  readonly code?: Uint8Array
  readonly slots?: Readonly<Record<Hash, bigint>>
}
export type FakeState = Readonly<Record<Address, FakeAccount>>

function factsOf({ nonce = 0n, balance = 0n, code }: FakeAccount): Account {
  return { nonce, balance, codeHash: code === undefined ? emptyCodeHash : hashFromBytes(keccak256(code)), storageRoot: emptyRoot }
}

type Guard = <A extends readonly unknown[], R>(read: (...args: A) => R) => (...args: A) => R

function fakeState(state: FakeState, reading: Guard): WorldReads {
  return {
    account: reading((address) => state[address] && factsOf(state[address])),
    code: reading((address) => state[address]?.code ?? new Uint8Array(0)),
    slot: reading((address, slot) => state[address]?.slots?.[slot] ?? 0n),
    prove: reading((address, slots) => ({
      account: state[address] && factsOf(state[address]),
      proof: [fromHex('0x80')],
      slots: slots.map((slot) => ({ value: state[address]?.slots?.[slot] ?? 0n, proof: [] })),
    })),
    leaves: reading(() => ({ root: emptyRoot, leaves: [], proof: [], isWhole: true })),
  }
}

export type FakeChain = ChainReader & {
  readonly blocks: readonly ChainBlock[]
  /** Hash of a transaction. */
  transactionHash(block: number, index: number): Hash
  /** Replaces the blocks from a number on. */
  reorganise(from: number, blocks: readonly FakeBlock[]): void
  /** Number of open views, and of views opened so far. */
  readonly views: { open: number; opened: number }
}

/**
 * A chain in memory. Each block has one signed transaction for each list of logs; all blocks have the same state.
 * @param prunedBelow states of earlier blocks are not retained
 * @param blockMs time between two blocks
 */
export function fakeChain(contents: readonly FakeBlock[], state: FakeState = {}, prunedBelow = 0, blockMs = 2_000): FakeChain {
  const stored: StoredBlock[] = []
  const append = (blocks: readonly FakeBlock[]): void => {
    for (const transactions of blocks) stored.push(storedBlock(transactions, stored.length, stored.at(-1)?.of.hash ?? zeroHash, blockMs))
  }
  append(contents)
  const views = { open: 0, opened: 0 }
  const idOf = (number: number) => ({ hash: stored[number]?.of.hash ?? zeroHash, number })
  const byHash = (hash: Hash): StoredBlock | undefined => stored.find(({ of }) => of.hash === hash)
  const place = (hash: Hash) =>
    stored.flatMap(({ of }, number) => {
      const index = of.block.transactions.findIndex((raw) => hashTransaction(raw) === hash)
      return index < 0 ? [] : { block: idOf(number), index }
    })[0]

  /** View that throws on every read after it is closed, including deferred ones. */
  function view(): ChainView {
    let isOpen = true
    const reading = <A extends readonly unknown[], R>(read: (...args: A) => R) => {
      return (...args: A): R => {
        if (!isOpen) throw new Error('view is closed')
        return read(...args)
      }
    }
    const fees: L1FeeFacts = { l1GasPrice: 1n, l1GasUsed: 16n, l1Fee: 16n }
    const withFees = (receipt: ChainReceipt): ChainReceipt => ({ ...receipt, fees })
    views.open++
    views.opened++
    return {
      heads: { latest: idOf(stored.length - 1), safe: idOf(Math.min(1, stored.length - 1)), finalized: idOf(0) },
      canonicalHash: reading((number) => stored[number]?.of.hash),
      header: reading((hash) => byHash(hash)?.of.block.header),
      block: reading((hash) => byHash(hash)?.of),
      receipts: reading((hash) => byHash(hash)?.receipts.map(withFees)),
      transaction: reading(place),
      findLogs: reading((_wanted, _from, to) => ({ kind: 'unindexed', next: to + 1 })),
      logsAt: reading((number, indexes, matcher) => stored[number] && logsOf(stored[number], number, indexes, matcher)),
      base: { block: idOf(0), grade: 'derived' },
      oldestState: prunedBelow,
      proofs: undefined,
      oldestProof: prunedBelow,
      oldestBlock: 0,
      oldestLogs: 0,
      state: reading(({ number }) => (number < prunedBelow ? undefined : fakeState(state, reading))),
      [Symbol.dispose]: () => {
        isOpen = false
        views.open--
      },
    }
  }
  return {
    view,
    views,
    sync: () => undefined,
    get blocks() {
      return stored.map(({ of }) => of)
    },
    transactionHash: (block, index) => hashTransaction(stored[block]?.of.block.transactions[index] ?? new Uint8Array(0)),
    reorganise(from, blocks) {
      stored.length = from
      append(blocks)
    },
  }
}

const noCalls: CallRuns = { list: () => undefined, many: () => undefined, simulate: () => undefined }

const untraced = {
  prepare: () => true,
  trace: (): TraceOutcome => ({ kind: 'refused', reason: 'tracing is not supported' }),
}

const noTracing: Tracing = {
  known: () => undefined,
  given: () => ({ ...untraced, hashes: [], storage: () => 'pruned' }),
  calls: () => untraced,
  code: () => undefined,
  witness: () => undefined,
  payloadWitness: () => ({ refused: 'tracing is not supported' }),
}

const unmeasured: MeterWork<never> = { work: () => 'pruned', outcome: undefined, [Symbol.dispose]: () => {} }

/** Context over a fake chain whose executor returns `outcome` and records the messages. */
export function fakeContext(chain: ChainReader, outcome?: CallOutcome): EthContext & { readonly asked: CallMessage[] } {
  const asked: CallMessage[] = []
  const executor: Executor = {
    timer: () => () => () => {},
    call(_at, message) {
      asked.push(message)
      return outcome && { outcome, gasUsed: 21_000n, gasRefunded: 0n }
    },
  }
  const limits = { ...defaultEthLimits }
  const forks = { schedule: scheduleTo('jovian'), genesis: { l2: { number: 0, hash: zeroHash }, l2TimeSec: 0 } }
  return {
    chain,
    executor,
    calls: noCalls,
    tracing: noTracing,
    asked,
    metering: { block: () => undefined, bundle: () => unmeasured },
    heads: scriptedFeed(),
    clock: createManualClock(),
    fees: {
      params: { elasticity: 6, denominator: 50, denominatorCanyon: 250 },
      nextBaseFee: ({ baseFeePerGas }) => baseFeePerGas && baseFeePerGas + 1n,
    },
    blocks: createBlockCache(new CacheSet({ blocks: 2 ** 20 })),
    filters: createFilters({ clock: createManualClock() }),
    pendingFallback: 'latest',
    chainId: 8453,
    forks,
    forkConfigs: forkConfigsOf(forks),
    clientVersion: 'basalt/v0.1.0/linux-x64/node-v24',
    limits,
    cancellation: { isCancelled: false },
  }
}

/** Pool that records its inputs in `added`, `removals`, `limits`. */
export type FakePool = TransactionPool & {
  readonly added: Uint8Array[]
  readonly removals: PoolRemoval[]
  readonly limits: BlockLimits[]
}

/** Link to a sequencer that accepts every transaction. `given` replaces its other functions. */
export function fakeSequencer(given: Partial<SequencerLink> = {}): SequencerLink & { readonly sent: Uint8Array[] } {
  const sent: Uint8Array[] = []
  return {
    sent,
    async send(raw) {
      sent.push(raw)
      return { kind: 'result', result: hashTransaction(raw) }
    },
    forwarded: async () => undefined,
    status: async () => ({ kind: 'failed', reason: 'no connection' }),
    ...given,
  }
}

/** Pool with these transactions. It accepts and records further ones without listing them. */
export function fakePool(
  content: readonly PooledTransaction[] = [],
  answer: (raw: Uint8Array) => PoolOutcome = (raw) => ({ kind: 'added', hash: hashTransaction(raw) }),
): FakePool {
  const [added, removals, limits]: [Uint8Array[], PoolRemoval[], BlockLimits[]] = [[], [], []]
  return {
    added,
    removals,
    limits,
    async add(raw): Promise<PoolOutcome> {
      added.push(raw)
      return answer(raw)
    },
    get: async (hash) => content.find((each) => each.hash === hash),
    nextNonce: async () => undefined,
    async size() {
      const pending = content.filter(({ isPending }) => isPending).length
      return { pending, queued: content.length - pending }
    },
    content: async (sender) => content.filter((each) => sender === undefined || each.sender === sender),
    async remove(what) {
      removals.push(what)
      return []
    },
    async limitBlocks(change) {
      limits.push(change)
    },
  }
}
