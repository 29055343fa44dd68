import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { ExecutionConfig } from '#block/executionConfig'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { l1BlockAddress } from '#chainspec/addresses'
import type { ForkSchedule } from '#chainspec/forks'
import { bigintFromBytes, bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { createTxPool, type TxPool, type TxPoolDeps, type TxPoolLimits } from '#txpool/txPool'
import { type Address, addressFromBytes, emptyCodeHash, type Hash, hashFromBytes, zeroHash } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { createStateDiff } from '#types/stateDiffTable'
import {
  decodeTransaction,
  depositType,
  encodeTransaction,
  type FeeMarketTransaction,
  hashTransaction,
  type SignedTransaction,
} from '#types/transaction'
import { createManualClock, type ManualClock } from '../clock.ts'
import { hashOf, scheduleTo } from './blocks.ts'
import { emptyTrieDiff } from './emptyTrieDiff.ts'
import { headerOf } from './headers.ts'

/** Address of account number n on a chain without real signatures: r contains the number of the sender. */
export const poolAccount = (n: number): Address => addressFromBytes(bytesFromBigint(BigInt(n) + (1n << 150n), 20))

/** Transaction of account number n. */
export function poolTransaction(n: number, fields: Partial<FeeMarketTransaction> = {}): Uint8Array {
  const to = poolAccount(999_999)
  const tx = { type: 2, chainId: 901n, nonce: 0n, maxFeePerGas: 10_000n, maxPriorityFeePerGas: 10n, gasLimit: 21_000n, to, value: 1n }
  return encodeTransaction({
    ...tx,
    data: new Uint8Array(0),
    accessList: [],
    yParity: 0,
    r: BigInt(n) + 1n,
    s: 1n,
    ...fields,
  } as SignedTransaction)
}

export type PoolAccountState = { readonly nonce: bigint; readonly balance: bigint; readonly code?: Uint8Array }

const rich: PoolAccountState = { nonce: 0n, balance: 10n ** 18n }
const codeHashOf = ({ code }: PoolAccountState): Hash => (code ? hashFromBytes(keccak256(code)) : emptyCodeHash)

type Made = { readonly block: ExecutedBlock; readonly accounts: ReadonlyMap<Address, PoolAccountState> }

/** Chain for tests of the pool. A test sets the transactions of a block and the accounts after it; nothing is executed. */
export class PoolChain {
  readonly config: ExecutionConfig
  readonly clock: ManualClock = createManualClock()
  readonly slots = new Map<Hash, bigint>()
  readonly #known = new Map<Hash, Made>()
  #canonical: Made[]
  gasLimit = 30_000_000n
  baseFee = 1_000n
  /** Number of reads of an account, and of opened views. */
  reads = 0
  views = 0
  #made = 0

  constructor(schedule: ForkSchedule = scheduleTo('isthmus')) {
    this.config = {
      schedule,
      eip1559: { elasticity: 6, denominator: 50, denominatorCanyon: 250 },
      l2ChainId: 901,
      genesis: { l1: { number: 0, hash: zeroHash }, l2: { number: 0, hash: zeroHash } },
    }
    this.#canonical = [this.#make(undefined, [], new Map())]
  }

  get head(): ExecutedBlock {
    return this.#top.block
  }

  get #top(): Made {
    return this.#canonical.at(-1) as Made
  }

  account(address: Address): PoolAccountState {
    return this.#top.accounts.get(address) ?? rich
  }

  /** Adds a block with these transactions and sets these accounts. The senders pay nothing. */
  include(raws: readonly Uint8Array[], left: Iterable<readonly [Address, PoolAccountState]> = []): HeadRecord {
    const accounts = new Map<Address, PoolAccountState>()
    for (const raw of raws) {
      const tx = decodeTransaction(raw) as SignedTransaction
      const sender = senderOf(tx)
      accounts.set(sender, { ...this.account(sender), nonce: tx.nonce + 1n })
    }
    for (const [address, account] of left) accounts.set(address, account)
    this.#canonical = [...this.#canonical, this.#make(this.#top, raws, accounts)]
    return this.record()
  }

  /** Unwinds the last blocks; they remain readable by hash. */
  unwind(blocks: number): void {
    this.#canonical = this.#canonical.slice(0, this.#canonical.length - blocks)
  }

  record(): HeadRecord {
    const [genesis, ...above] = this.#canonical.map(({ block }) => block)
    const base = { number: 0, hash: genesis?.hash ?? zeroHash }
    const { hash, header } = this.head
    const unsafe = {
      hash,
      number: header.number,
      parentHash: header.parentHash,
      timestamp: header.timestamp,
      l1Origin: base,
      sequenceNumber: 0,
    }
    return { heads: { unsafe, safe: unsafe, finalized: unsafe }, committed: base, base, overlays: above }
  }

  view(): ReturnType<TxPoolDeps['view']> {
    this.views++
    const { accounts, block } = this.#top
    const latest = { number: block.header.number, hash: block.hash }
    const account = (address: Address): PoolAccountState => accounts.get(address) ?? rich
    const canonical = this.#canonical
    return {
      heads: { latest, safe: latest, finalized: latest },
      header: (hash) => this.#known.get(hash)?.block.header,
      canonicalHash: (number) => canonical[number]?.block.hash,
      block: (hash) => {
        const found = this.#known.get(hash)?.block
        return found && { hash, block: found, senders: found.executed.map(({ sender }) => sender) }
      },
      state: () => ({
        account: (address) => {
          this.reads++
          const { nonce, balance } = account(address)
          return { nonce, balance, codeHash: codeHashOf(account(address)), storageRoot: zeroHash }
        },
        code: (address) => account(address).code ?? new Uint8Array(0),
        slot: (address, slot) => (address === l1BlockAddress ? (this.slots.get(slot) ?? 0n) : 0n),
        prove: () => {
          throw new Error('proofs are not supported')
        },
        leaves: () => {
          throw new Error('ranges are not supported')
        },
      }),
      [Symbol.dispose]: () => {},
    }
  }

  /** Creates a pool with this chain's head. */
  pool(limits: TxPoolLimits = {}, deps: Partial<TxPoolDeps> = {}): TxPool {
    const { config, clock } = this
    const pool = createTxPool({ config, clock, view: () => this.view(), senders: { of: senderOf }, log: silentLog, ...deps }, limits)
    pool.onPublished(this.record())
    return pool
  }

  #make(parent: Made | undefined, raws: readonly Uint8Array[], changed: ReadonlyMap<Address, PoolAccountState>): Made {
    const hash = hashOf(`pool chain ${this.#made++}`)
    const number = parent ? parent.block.header.number + 1 : 0
    const entries = [...changed]
    const diff = createStateDiff({
      accounts: entries.map(([address, account]) => ({
        key: keccak256(fromHex(address)),
        change: { nonce: account.nonce, balance: account.balance, codeHash: codeHashOf(account) },
        wiped: false,
      })),
      slots: [],
      codes: [...new Map(entries.flatMap(([, account]) => (account.code ? [[codeHashOf(account), account.code] as const] : [])))].map(
        ([hash, code]) => ({ hash, code }),
      ),
    })
    const header = headerOf({
      number,
      parentHash: parent?.block.hash ?? zeroHash,
      timestamp: 1_000_000 + 2 * number,
      gasLimit: this.gasLimit,
      baseFeePerGas: this.baseFee,
      extraData: Uint8Array.of(0, 0, 0, 0, 50, 0, 0, 0, 6),
      gasUsed: this.gasLimit / 6n,
    })
    const executed = raws.map((raw) => ({
      hash: hashTransaction(raw),
      sender: senderOf(decodeTransaction(raw) as SignedTransaction),
      receipt: createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs: [] }),
      gasUsed: 21_000n,
    }))
    const block = {
      header,
      hash,
      transactions: raws,
      executed,
      diff,
      trie: { root: zeroHash, nodes: emptyTrieDiff, storageRoots: new Map() },
    } as ExecutedBlock
    const made = { block, accounts: new Map([...(parent?.accounts ?? []), ...changed]) }
    this.#known.set(hash, made)
    return made
  }
}

function senderOf(tx: SignedTransaction): Address {
  return poolAccount(Number(tx.r - 1n))
}

/** Returns all candidates of a cursor, in order. */
export function drain(pool: TxPool, baseFee = 1_000n, how: 'named' | 'counted' = 'named'): readonly string[] {
  const cursor = pool.best(baseFee)
  const found: string[] = []
  for (let candidate = cursor.next(); candidate; candidate = cursor.next()) found.push(how === 'named' ? nameOf(candidate.raw) : '')
  return found
}

/** Names a transaction of this chain `account/nonce`. */
export function nameOf(raw: Uint8Array): string {
  const tx = decodeTransaction(raw)
  if (tx.type === depositType) return 'deposit'
  return `${bigintFromBytes(fromHex(senderOf(tx))) - (1n << 150n)}/${tx.nonce}`
}
