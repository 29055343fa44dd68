import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import { delegateIn } from '#types/account'
import type { ChainView } from '#types/chainView'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import type { WorldReads } from '#types/worldReads'
import { objectBytes } from './entry.ts'
import { type HeadFacts, readHeadFacts } from './headFacts.ts'
import type { SenderAccount } from './senderQueue.ts'

/** Part of a chain view that the pool reads. */
export type PoolView = Disposable & Pick<ChainView, 'heads' | 'header' | 'state' | 'block' | 'canonicalHash'>

/** A block that a reorg unwound, with the senders of its transactions. */
export type UnwoundBlock = { readonly transactions: readonly Uint8Array[]; readonly senders: readonly Address[] }

/** Reads the state of the unsafe head during one call. The view is opened at the first read. */
export class HeadReader implements Disposable {
  readonly #open: () => PoolView
  #view: PoolView | undefined
  #state: WorldReads | undefined

  constructor(open: () => PoolView) {
    this.#open = open
  }

  get view(): PoolView {
    this.#view ??= this.#open()
    return this.#view
  }

  get #reads(): WorldReads {
    this.#state ??= this.view.state(this.view.heads.latest)
    if (this.#state === undefined)
      throw executionFault('CHAIN_STORE_DAMAGED', { what: `the state of the head ${this.view.heads.latest.hash}` })
    return this.#state
  }

  facts(config: ExecutionConfig): HeadFacts {
    const { hash } = this.view.heads.latest
    const header = this.view.header(hash)
    if (header === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${hash}, the head` })
    return readHeadFacts(config, header, this.#reads)
  }

  account(address: Address): SenderAccount {
    const { nonce, balance, codeHash } = this.#reads.account(address) ?? { nonce: 0n, balance: 0n, codeHash: emptyCodeHash }
    return { nonce, balance, codeHash, code: codeHash === emptyCodeHash ? 'none' : codeKind(this.#reads.code(address)) }
  }

  /**
   * Yields the blocks from the canonical chain up to `from`, oldest first. Ends earlier when a pool of `maxBytes` has no room for more of their
   * transactions. Blocks that are not known are left out.
   */
  *unwound(from: Hash, maxBytes: number): Generator<UnwoundBlock> {
    let bytes = 0
    for (const block of this.#above(from).reverse()) {
      const viewed = this.view.block(block)
      if (viewed === undefined) continue
      const { transactions } = viewed.block
      yield { transactions, senders: viewed.senders }
      for (const raw of transactions) bytes += objectBytes + raw.length
      if (bytes > maxBytes) return
    }
  }

  /** Returns the blocks from `from` down to the canonical chain, newest first. */
  #above(from: Hash): Hash[] {
    const hashes: Hash[] = []
    for (let hash = from; ; ) {
      const header = this.view.header(hash)
      if (header === undefined || this.view.canonicalHash(header.number) === hash) return hashes
      hashes.push(hash)
      hash = header.parentHash
    }
  }

  [Symbol.dispose](): void {
    this.#view?.[Symbol.dispose]()
  }
}

/** Returns the kind of an account with this code, which must not be empty. */
export const codeKind = (code: Uint8Array): SenderAccount['code'] => (delegateIn(code) ? 'delegation' : 'contract')
