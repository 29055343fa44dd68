import { createSenders } from '#block/execution/senders'
import { gasBounds } from '#block/validation/intrinsicGas'
import { refuseTransaction } from '#block/validation/transactionValidity'
import type { Evm, StateView } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { bytesFromBigint, concatBytes, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { versionedHashOfCommitment } from '#lib/kzg/kzg'
import { RlpError } from '#lib/rlp'
import { push, type StateStack, viewAbove } from '#state/stateStack'
import { type Address, type Hash, hashFromBytes } from '#types/ids'
import { type BlobSidecar, unwrapBlobTransaction } from '#types/signing'
import { decodeTransaction, hashTransaction, type SignedTransaction } from '#types/transaction'
import { devnetFault } from '../faults.ts'
import type { L1Contract } from '../l1Contracts.ts'
import {
  type BlockPlan,
  buildMemoryBlock,
  envOf,
  ethereumFees,
  type MemoryBlock,
  type Mined,
  memoryGenesis,
  memoryRules,
  nextHeader,
} from './memoryBlock.ts'
import { MemoryPool, type Waiting } from './memoryPool.ts'
import { accountOf, type Funded, genesisView } from './memoryState.ts'

export type MemoryChainOptions = {
  readonly chainId: number
  readonly genesisTimeSec: number
  readonly slotSec: number
  readonly accounts: readonly Funded[]
  readonly contracts: readonly L1Contract[]
}

export type TransactionLocation = { readonly block: MemoryBlock; readonly index: number; readonly mined: Mined }

/** Result of a submission; `reason` has the text of other clients. */
export type Submitted = { readonly kind: 'waiting'; readonly hash: Hash } | { readonly kind: 'refused'; readonly reason: string }

const blobBytes = 131_072
/** maximum number of blobs kept of included transactions: 128 MB */
const maxKeptBlobs = 1_024
const refused = (reason: string): Submitted => ({ kind: 'refused', reason })

/** Returns the reason why the sidecar of a blob transaction is invalid. Proofs are not verified here; readers of the blob verify them. */
function sidecarRefusal(tx: SignedTransaction, sidecar: BlobSidecar | undefined): string | undefined {
  if (tx.type !== 3) return undefined
  if (!sidecar) return 'blob transaction without sidecar'
  const { kind, blobs, commitments, proofs } = sidecar
  const count = tx.blobVersionedHashes.length
  if (blobs.length !== count || commitments.length !== count || proofs.length !== count * (kind === 'cells' ? 128 : 1)) {
    return `sidecar of ${blobs.length} blobs, ${commitments.length} commitments, ${proofs.length} proofs for ${count} hashes`
  }
  if (blobs.some(({ length }) => length !== blobBytes)) return `a blob does not have ${blobBytes} bytes`
  if ([...commitments, ...proofs].some(({ length }) => length !== 48)) return 'a commitment or proof does not have 48 bytes'
  const wrong = commitments.findIndex((it, i) => !equalBytes(versionedHashOfCommitment(it), fromHex(tx.blobVersionedHashes[i] ?? '0x')))
  return wrong < 0 ? undefined : `commitment ${wrong} does not have the hash of blob ${wrong}`
}

/**
 * Ethereum chain in memory that mines on request. Its blocks are valid except for their state root, which is zero. Deterministic: equal calls result
 * in equal blocks.
 */
export class MemoryChain {
  readonly options: MemoryChainOptions
  readonly pool = new MemoryPool()
  readonly evm: Evm = createWasmEvm()
  readonly #senders = createSenders({ maxBytes: 1_048_576 })
  readonly #genesis: StateView
  /** changes above the genesis, by block number; without tries */
  readonly #stacks: StateStack[]
  readonly #blocks: [MemoryBlock, ...MemoryBlock[]]
  readonly #byHash = new Map<Hash, MemoryBlock>()
  readonly #places = new Map<Hash, TransactionLocation>()
  /** blobs of included transactions, by versioned hash, oldest first */
  readonly #blobs = new Map<Hash, { readonly blob: Uint8Array; readonly commitment: Uint8Array; readonly proof: Uint8Array | undefined }>()
  #reorgs = 0

  constructor(options: MemoryChainOptions) {
    this.options = options
    const genesis = memoryGenesis(options.genesisTimeSec)
    this.#genesis = genesisView(options.accounts, options.contracts)
    this.#stacks = [push([], { block: { number: 0, hash: genesis.hash } })]
    this.#blocks = [genesis]
    this.#byHash.set(genesis.hash, genesis)
  }

  get head(): MemoryBlock {
    return this.#blocks.at(-1) ?? this.#blocks[0]
  }

  /** Returns the canonical block; other blocks are unknown by their hash. */
  block(at: number | Hash): MemoryBlock | undefined {
    return typeof at === 'number' ? this.#blocks[at] : this.#byHash.get(at)
  }

  place(hash: Hash): TransactionLocation | undefined {
    return this.#places.get(hash)
  }

  blob(hash: Hash): { readonly blob: Uint8Array; readonly commitment: Uint8Array; readonly proof: Uint8Array | undefined } | undefined {
    return this.#blobs.get(hash)
  }

  get #newest(): StateStack {
    return this.#stacks.at(-1) ?? []
  }

  /** Returns the state after a canonical block. */
  view(number: number): StateView {
    return viewAbove(this.#genesis, this.#stacks[number] ?? this.#newest)
  }

  /** Returns the nonce of an account: after included transactions, or also after pending ones. */
  nonce(address: Address, which: 'mined' | 'waiting', number: number = this.head.header.number): bigint {
    const nonce = accountOf(this.view(number), address)?.nonce ?? 0n
    return which === 'waiting' ? this.pool.nextNonce(address, nonce) : nonce
  }

  /** Returns the header of an empty next block, for its fees. */
  pending(): MemoryBlock['header'] {
    return nextHeader(this.head, this.#plan())
  }

  /** Submits a transaction to the pool. @param bytes EIP-2718, a blob transaction with its sidecar */
  submit(bytes: Uint8Array): Submitted {
    let waiting: Waiting | string
    try {
      waiting = this.#readTransaction(bytes)
    } catch (error) {
      if (error instanceof RlpError) return refused(`rlp: ${error.message}`)
      throw error
    }
    if (typeof waiting === 'string') return refused(waiting)
    if (this.#places.has(waiting.hash)) return refused('already known')
    const reason = this.#stateRefusal(waiting) ?? this.pool.add(waiting)
    return reason === undefined ? { kind: 'waiting', hash: waiting.hash } : refused(reason)
  }

  mine(): MemoryBlock {
    const { evm, pool } = this
    const parent = this.head
    const view = this.view(parent.header.number)
    const { block, diff, carrying } = buildMemoryBlock({ evm, pool, view, chainId: this.options.chainId }, parent, this.#plan())
    this.#stacks.push(push(this.#newest, { diff, block: { number: block.header.number, hash: block.hash } }))
    this.#blocks.push(block)
    this.#byHash.set(block.hash, block)
    for (const [index, mined] of block.mined.entries()) this.#places.set(mined.hash, { block, index, mined })
    for (const waiting of carrying) this.#keepBlobs(waiting)
    return block
  }

  /** Replaces the last blocks by the same number of blocks without transactions. Their transactions do not return to the pool. */
  reorg(depth: number): void {
    const most = this.#blocks.length - 1
    if (!Number.isSafeInteger(depth) || depth < 1 || depth > most) throw devnetFault('DEVNET_L1_DEPTH', { depth, most })
    for (let i = 0; i < depth; i++) {
      const gone = this.#blocks.pop()
      this.#stacks.pop()
      if (!gone) continue
      this.#byHash.delete(gone.hash)
      for (const { hash } of gone.mined) this.#places.delete(hash)
    }
    this.#reorgs++
    const waiting = this.pool.takeAll()
    for (let i = 0; i < depth; i++) this.mine()
    for (const each of waiting) if (!this.#stateRefusal(each)) this.pool.add(each)
  }

  #plan(): BlockPlan {
    const { genesisTimeSec, slotSec } = this.options
    const number = this.head.header.number + 1
    const branch = bytesFromBigint(BigInt(this.#reorgs), 8)
    const mixHash = hashFromBytes(keccak256(concatBytes(fromHex(this.head.hash), branch)))
    return { timestamp: genesisTimeSec + number * slotSec, mixHash, extraData: this.#reorgs === 0 ? new Uint8Array() : branch }
  }

  #readTransaction(bytes: Uint8Array): Waiting | string {
    const { raw, sidecar } = unwrapBlobTransaction(bytes)
    const tx = decodeTransaction(raw)
    if (tx.type === 0x7e) return 'transaction type not supported: 126'
    const hash = hashTransaction(raw)
    const sender = this.#senders.of(tx, hash)
    if (!sender) return 'invalid sender'
    return sidecarRefusal(tx, sidecar) ?? { hash, raw, tx, sender, ...(sidecar && { sidecar }) }
  }

  /** Returns the reason why no block can include a transaction now, apart from fees and later nonces. */
  #stateRefusal({ tx, sender }: Waiting): string | undefined {
    const view = this.view(this.head.header.number)
    const { nonce = 0n } = accountOf(view, sender) ?? {}
    if (tx.nonce < nonce) return `nonce too low: next nonce ${nonce}, tx nonce ${tx.nonce}`
    const header = this.pending()
    const block = { ...envOf(this.options.chainId, header), baseFee: 0n, blobBaseFee: 0n }
    using session = this.evm.open(view, block, memoryRules)
    const { maxBlobs } = ethereumFees
    const inTurn = { ...tx, nonce }
    return refuseTransaction({
      session,
      block,
      rules: memoryRules,
      maxBlobs,
      tx: inTurn,
      bounds: gasBounds(memoryRules, inTurn),
      sender,
      upfront: 0n,
      gasAvailable: header.gasLimit,
    })
  }

  #keepBlobs({ tx, sidecar }: Waiting): void {
    if (tx.type !== 3 || !sidecar) return
    for (const [i, hash] of tx.blobVersionedHashes.entries()) {
      const [blob, commitment] = [sidecar.blobs[i], sidecar.commitments[i]]
      if (blob && commitment) this.#blobs.set(hash, { blob, commitment, proof: sidecar.kind === 'blobs' ? sidecar.proofs[i] : undefined })
    }
    for (const oldest of this.#blobs.keys()) {
      if (this.#blobs.size <= maxKeptBlobs) break
      this.#blobs.delete(oldest)
    }
  }
}
