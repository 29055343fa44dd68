import { batcherFault, type RefusalReason } from '#batcher/faults'
import type { BatcherL1, Inclusion, L1Tip } from '#batcher/ports'
import type { L1Block } from '#derive/ports'
import { Fault } from '#lib/fault'
import { versionedHashOfCommitment } from '#lib/kzg/kzg'
import { type Hash, hashFromBytes } from '#types/ids'
import { signTransaction, unwrapBlobTransaction } from '#types/signing'
import { decodeTransaction, hashTransaction, type SignedTransaction } from '#types/transaction'
import { keyOf } from '../derive/l1.ts'
import type { DeriveWorld } from '../derive/world.ts'

type Waiting = {
  readonly tx: SignedTransaction & { type: 2 | 3 }
  readonly raw: Uint8Array
  readonly hash: Hash
  readonly blobs: readonly Uint8Array[]
}

const feesOf = ({ tx }: Waiting): readonly bigint[] => [
  tx.maxFeePerGas,
  tx.maxPriorityFeePerGas,
  ...(tx.type === 3 ? [tx.maxFeePerBlobGas] : []),
]

/** Minimum gas of a transaction with calldata (EIP-7623), independent of the implementation under test. */
const floorGas = (data: Uint8Array): bigint => data.reduce((sum, byte) => sum + (byte === 0 ? 10n : 40n), 21_000n)

/**
 * L1 for the batcher, on top of a derivation world. Its pool has the rules of real pools: nonces in order, replacement by 10 % or, with blobs, twice
 * the fees, one kind of transaction per account. Blocks include transactions that pay enough.
 */
export class ScriptedL1 implements BatcherL1 {
  readonly #world: DeriveWorld
  readonly #pool = new Map<bigint, Waiting>()
  readonly #blobsOf = new Map<Hash, readonly Uint8Array[]>()
  /** Transaction and L1 block of each used nonce, in the order of nonces. */
  #used: { readonly hash: Hash; readonly number: number }[] = []
  baseFeeWei = 10n ** 9n
  blobBaseFeeWei = 1n
  /** Reasons for which the next sends are rejected, in order. */
  readonly refusals: RefusalReason[] = []
  isReachable = true
  /** Rejects blob transactions, as an L1 does that requires proofs of another version. */
  hasNoBlobs = false
  /** Blocks include no transactions. */
  isFull = false
  /** Every transaction that the pool accepted. */
  readonly taken: Waiting[] = []
  readonly asked = { sends: 0, inclusions: 0 }

  constructor(world: DeriveWorld) {
    this.#world = world
  }

  async tip(): Promise<L1Tip> {
    this.#reach()
    const { hash, number, timestamp } = this.head.ref
    return { hash, number, timestamp, baseFeeWei: this.baseFeeWei, blobBaseFeeWei: this.blobBaseFeeWei }
  }

  async nonces(): Promise<{ latest: bigint; pending: bigint }> {
    this.#reach()
    const latest = BigInt(this.#used.length)
    let pending = latest
    while (this.#pool.has(pending)) pending++
    return { latest, pending }
  }

  async send(bytes: Uint8Array): Promise<void> {
    this.#reach()
    this.asked.sends++
    const scripted = this.refusals.shift()
    if (scripted) throw batcherFault('L1_TX_REFUSED', { reason: scripted, message: 'rejected by the test' })
    const waiting = this.#read(bytes)
    const { nonce } = waiting.tx
    const before = this.#pool.get(nonce)
    if (before?.hash === waiting.hash || this.#used.some(({ hash }) => hash === waiting.hash)) return
    if (nonce < BigInt(this.#used.length)) this.#refuse('nonce-used', `nonce ${nonce} too low`)
    if (this.hasNoBlobs && waiting.tx.type === 3) this.#refuse('other', 'unexpected blob sidecar version')
    if ([...this.#pool.values()].some(({ tx }) => tx.type !== waiting.tx.type)) this.#refuse('other', 'address already reserved')
    if (before) this.#checkReplacement(before, waiting)
    this.#pool.set(nonce, waiting)
    this.#blobsOf.set(waiting.hash, waiting.blobs)
    this.taken.push(waiting)
  }

  async inclusion(hash: Hash): Promise<Inclusion | undefined> {
    this.#reach()
    this.asked.inclusions++
    const found = this.#used.find((used) => used.hash === hash)
    const block = found && this.#world.l1[found.number]
    return block && { block: { hash: block.ref.hash, number: block.ref.number }, succeeded: true, feeWei: 1_000n }
  }

  get head(): L1Block {
    const head = this.#world.l1.at(-1)
    if (!head) throw new Error('no L1')
    return head
  }

  get pooled(): number {
    return this.#pool.size
  }

  /** Adds a block with the pool's transactions that pay its fees. */
  mine(seconds?: number): L1Block {
    const included: Waiting[] = []
    for (let waiting = this.#next(included); waiting && !this.isFull; waiting = this.#next(included)) included.push(waiting)
    const block = this.#world.mine({ transactions: included.map(({ raw }) => raw) }, seconds)
    for (const { tx, hash, blobs } of included) {
      this.#pool.delete(tx.nonce)
      this.#used.push({ hash, number: block.ref.number })
      if (tx.type === 3)
        for (const [at, blobHash] of tx.blobVersionedHashes.entries()) this.#world.blobs.set(blobHash, blobs[at] ?? new Uint8Array(0))
    }
    return block
  }

  /** Drops the last blocks. Their transactions return to the pool or disappear. */
  reorg(depth: number, fate: 'pooled' | 'gone'): void {
    const from = this.#world.l1.length - depth
    const dropped = this.#used.filter(({ number }) => number >= from)
    this.#used = this.#used.filter(({ number }) => number < from)
    for (const { hash, number } of dropped) {
      const raw = this.#world.l1[number]?.transactions.find((each) => hashTransaction(each) === hash)
      const tx = raw && decodeTransaction(raw)
      // a pool with one kind of transaction per account drops those of the other kind
      const hasRoom = [...this.#pool.values()].every((waiting) => waiting.tx.type === tx?.type)
      if (fate === 'pooled' && hasRoom && raw && (tx?.type === 2 || tx?.type === 3)) {
        this.#pool.set(tx.nonce, { tx, raw, hash, blobs: this.#blobsOf.get(hash) ?? [] })
      }
    }
    this.#world.reorg(depth)
  }

  /** Removes the transaction at this index from the pool. @returns its hash */
  vanish(at = 0): Hash | undefined {
    const nonce = [...this.#pool.keys()].sort((a, b) => Number(a - b))[at]
    if (nonce === undefined) return undefined
    const lost = this.#pool.get(nonce)
    this.#pool.delete(nonce)
    return lost?.hash
  }

  /** Uses the batcher's next nonce for another transaction, in the next block, as a second holder of its key can. */
  useNonceElsewhere(): void {
    const nonce = BigInt(this.#used.length)
    this.#pool.delete(nonce)
    const fee = 10n ** 12n
    const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee, accessList: [], chainId: BigInt(this.#world.config.l1ChainId) }
    const to = this.#world.config.depositContract
    const { raw, hash } = signTransaction(
      { type: 2, nonce, gasLimit: 21_000n, to, value: 0n, data: new Uint8Array(0), ...fees },
      keyOf('batcher'),
    )
    const block = this.#world.mine({ transactions: [raw] })
    this.#used.push({ hash, number: block.ref.number })
  }

  #next(included: readonly Waiting[]): Waiting | undefined {
    const waiting = this.#pool.get(BigInt(this.#used.length + included.length))
    if (!waiting || waiting.tx.maxFeePerGas < this.baseFeeWei) return undefined
    return waiting.tx.type === 3 && waiting.tx.maxFeePerBlobGas < this.blobBaseFeeWei ? undefined : waiting
  }

  #read(bytes: Uint8Array): Waiting {
    const { raw, sidecar } = unwrapBlobTransaction(bytes)
    const tx = decodeTransaction(raw)
    if (tx.type !== 2 && tx.type !== 3) throw new Error(`batcher transaction of type ${tx.type}`)
    if (tx.chainId !== BigInt(this.#world.config.l1ChainId)) throw new Error('another chain')
    if (tx.maxPriorityFeePerGas > tx.maxFeePerGas) throw new Error('tip above the fee cap')
    if (tx.gasLimit < (tx.type === 3 ? 21_000n : floorGas(tx.data))) throw new Error('out of gas')
    if (tx.type === 3) {
      const hashes = (sidecar?.commitments ?? []).map((commitment) => hashFromBytes(versionedHashOfCommitment(commitment)))
      if (hashes.join() !== tx.blobVersionedHashes.join() || hashes.length !== sidecar?.blobs.length)
        throw new Error('blobs do not match their hashes')
      if (hashes.length === 0 || sidecar.proofs.length !== hashes.length) throw new Error('number of proofs differs from number of blobs')
    }
    return { tx, raw, hash: hashTransaction(raw), blobs: sidecar?.blobs ?? [] }
  }

  #checkReplacement(before: Waiting, after: Waiting): void {
    const percent = before.tx.type === 3 ? 200n : 110n
    const offered = feesOf(after)
    if (feesOf(before).some((fee, at) => (offered[at] ?? 0n) * 100n < fee * percent)) this.#refuse('underpriced', 'replacement underpriced')
  }

  #refuse(reason: RefusalReason, message: string): never {
    throw batcherFault('L1_TX_REFUSED', { reason, message })
  }

  #reach(): void {
    if (!this.isReachable) throw new Fault('L1_UNREACHABLE', 'retry', 'L1 does not answer', '', {})
  }
}
