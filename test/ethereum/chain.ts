import type { ExecutedBlock } from '#block/execution/executedBlock'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { executionFault } from '#block/faults'
import { headerDifference } from '#block/validation/verifyPayload'
import { blockKey } from '#blockchain/chainRows'
import * as store from '#blockchain/chainStore'
import { commitBranch, commitGenesis } from '#blockchain/commit/commit'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { createChainView, type ExecutionView } from '#blockchain/view/chainView'
import { gasPerBlob } from '#chainspec/blobFee'
import type { Evm } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import type { Kv, KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { type Block, encodeBlock } from '#types/block'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { ChainBlock, ChainReceipt } from '#types/chainView'
import { type Header, hashHeader } from '#types/header'
import { type Hash, zeroHash } from '#types/ids'
import { decodeTransaction } from '#types/transaction'
import { blobGasPrice } from './blobs.ts'
import { executeEthereumBlock } from './executeBlock.ts'
import type { EthereumChainSpec } from './genesis.ts'
import { decodeWholeBlock } from './wholeBlock.ts'

export type EthereumChainDeps = {
  readonly kv: Kv
  readonly evm: Evm
  readonly spec: EthereumChainSpec
}

/** Outcome of an insert. A block that is in the chain already is not executed again. */
export type EthereumInsert = { readonly kind: 'imported' | 'known' } | { readonly kind: 'invalid'; readonly reason: string }

/**
 * A chain of Ethereum's own blocks in a store: one branch, each block committed when it is inserted. It is for import and reads only.
 */
export interface EthereumChain {
  readonly head: BlockId
  /** Executes the child of the head and commits it. @throws faults of the store */
  insert(block: Block): EthereumInsert
  /** Labels a committed block safe and finalized. @throws Fault CHAIN_STORE_DAMAGED (fatal) when there is no such block */
  label(id: BlockId): void
  /** The labels in the form that readers and a pool of other chains take. */
  readonly published: HeadRecord
  view(): ExecutionView
}

/** Key of a whole block. Whole blocks are in the table of labels: the tables of blocks have no columns for ommers and withdrawals. */
const wholeKey = (id: BlockId): Uint8Array => concatBytes(new TextEncoder().encode('ethereum.'), blockKey(id))

function wholeBlock(reader: KvReader, id: BlockId): Block | undefined {
  const bytes = reader.get(tables.meta.id, wholeKey(id))
  return bytes && decodeWholeBlock(bytes, 0).block
}

const refOf = (id: BlockId, header: Header): L2Ref => ({
  ...id,
  parentHash: header.parentHash,
  timestamp: header.timestamp,
  l1Origin: { number: 0, hash: zeroHash },
  sequenceNumber: 0,
})

function recordOf(reader: KvReader, { unsafe, safe, finalized }: store.StoredHeads): HeadRecord {
  const refTo = (id: BlockId): L2Ref => {
    const header = store.readHeader(reader, id)
    if (header === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${id.number} ${id.hash}` })
    return refOf(id, header)
  }
  const heads = { unsafe: refTo(unsafe), safe: refTo(safe), finalized: refTo(finalized) }
  return { heads, committed: unsafe, base: unsafe, overlays: [] }
}

class StoredEthereumChain implements EthereumChain {
  readonly #deps: EthereumChainDeps
  readonly #senders = createSenders({ maxBytes: senderCacheBytes })
  #heads: store.StoredHeads
  #sequence: number

  constructor(deps: EthereumChainDeps) {
    this.#deps = deps
    using reader = deps.kv.snapshot()
    const heads = store.readHeads(reader)
    if (heads === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: 'the labels' })
    const genesis = store.readGenesisId(reader)
    if (genesis?.hash !== deps.spec.genesis.hash) {
      throw executionFault('GENESIS_MISMATCH', { stored: genesis?.hash ?? 'none', configured: deps.spec.genesis.hash })
    }
    this.#heads = heads
    this.#sequence = store.readHeadsSequence(reader)
  }

  get head(): BlockId {
    return this.#heads.unsafe
  }

  insert(block: Block): EthereumInsert {
    const hash = hashHeader(block.header)
    const executed = this.#execute(block, hash)
    if ('kind' in executed) return executed
    const { head } = this
    const id = { number: block.header.number, hash }
    const heads = { ...this.#heads, unsafe: id }
    this.#deps.kv.write((tx) => {
      commitBranch(tx, head, { ancestor: head, blocks: [executed] }, heads, this.#sequence + 1)
      tx.put(tables.meta.id, wholeKey(id), encodeBlock(block))
    })
    this.#heads = heads
    this.#sequence++
    return { kind: 'imported' }
  }

  #execute(block: Block, hash: Hash): ExecutedBlock | EthereumInsert {
    const { evm, spec } = this.#deps
    const { header } = block
    using view = this.view()
    if (view.canonicalHash(header.number) === hash) return { kind: 'known' }
    const parent = view.parent(this.head.hash)
    if (parent === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.head.hash}, the head` })
    if (header.parentHash !== parent.hash) return { kind: 'invalid', reason: `parentHash is ${header.parentHash}, ${parent.hash} expected` }
    const result = executeEthereumBlock({ evm, spec, senders: this.#senders }, parent, block)
    if (result.kind === 'invalid') return result
    const difference = headerDifference(header, result.block.header) ?? (result.block.hash === hash ? undefined : 'another hash')
    return difference === undefined ? result.block : { kind: 'invalid', reason: difference }
  }

  label(id: BlockId): void {
    const heads = { ...this.#heads, safe: id, finalized: id }
    using reader = this.#deps.kv.snapshot()
    recordOf(reader, heads)
    this.#deps.kv.write((tx) => store.putHeads(tx, heads, this.#sequence + 1))
    this.#heads = heads
    this.#sequence++
  }

  get published(): HeadRecord {
    using reader = this.#deps.kv.snapshot()
    return recordOf(reader, this.#heads)
  }

  view(): ExecutionView {
    const { kv, spec } = this.#deps
    const reader = kv.snapshot()
    const record = recordOf(reader, this.#heads)
    const view = createChainView(reader, spec.config, record)
    if (view === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${record.committed.hash}, the head` })
    return withWholeBlocks(view, reader, spec)
  }
}

/** Adds to a view the fields that only Ethereum's blocks have. */
function withWholeBlocks(view: ExecutionView, reader: KvReader, spec: EthereumChainSpec): ExecutionView {
  const block = view.block.bind(view)
  const receipts = view.receipts.bind(view)
  return Object.assign(view, {
    block(hash: Hash): ChainBlock | undefined {
      const found = block(hash)
      if (found === undefined) return undefined
      const { ommers = [], withdrawals } = wholeBlock(reader, { number: found.block.header.number, hash }) ?? {}
      return { ...found, block: { ...found.block, ommers, ...(withdrawals && { withdrawals }) } }
    },
    receipts(hash: Hash): readonly ChainReceipt[] | undefined {
      const stored = receipts(hash)
      const found = stored && block(hash)?.block
      return found && stored.map((receipt, index) => withBlobs(receipt, found.transactions[index], found.header, spec))
    },
  })
}

function withBlobs(stored: ChainReceipt, raw: Uint8Array | undefined, header: Header, { schedule }: EthereumChainSpec): ChainReceipt {
  const tx = raw?.[0] === 3 ? decodeTransaction(raw) : undefined
  if (tx?.type !== 3) return stored
  const blob = { gasUsed: BigInt(tx.blobVersionedHashes.length) * gasPerBlob, gasPrice: blobGasPrice(schedule, header) }
  const { receipt, gasUsed, firstLogIndex, sizeBytes } = stored
  return { receipt, gasUsed, firstLogIndex, sizeBytes, blob }
}

/**
 * Opens a chain of Ethereum blocks, and writes the genesis block first when the store is empty.
 * @throws Fault GENESIS_MISMATCH, CHAIN_STORE_DAMAGED (fatal)
 */
export function openEthereumChain(deps: EthereumChainDeps): EthereumChain {
  const { kv, spec } = deps
  const isEmpty = ((): boolean => {
    using reader = kv.snapshot()
    return store.readHeads(reader) === undefined
  })()
  if (isEmpty) kv.write((tx) => commitGenesis(tx, spec.genesis))
  return new StoredEthereumChain(deps)
}
