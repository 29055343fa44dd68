import type { Address } from '#types/ids'
import { decodeTransaction, type FeeMarketTransaction } from '#types/transaction'
import type { PoolAccountState } from './poolChain.ts'

/** Transaction in the model. */
type Waiting = {
  readonly raw: Uint8Array
  readonly sender: Address
  readonly tx: FeeMarketTransaction
  readonly cost: bigint
  readonly bytes: number
  readonly arrival: number
}

export type ModelLimits = { readonly maxBytes: number; readonly maxAccountBytes: number }

type Standing = { readonly isPending: boolean; readonly worth: bigint }
const counts = (a: Standing, b: Standing): boolean => (a.isPending === b.isPending ? a.worth < b.worth : b.isPending)
const least = (values: readonly bigint[]): bigint => values.reduce((a, b) => (b < a ? b : a))

/**
 * Model of the pool's rules. It recomputes each from a plain list, without queues, indices or caches. All transactions are of type 2 and valid by
 * themselves; there are no L1 fees and no operator fees.
 */
export class PoolModel {
  #all: Waiting[] = []
  #arrivals = 0
  readonly #limits: ModelLimits
  readonly #baseFee: bigint
  readonly #accountOf: (address: Address) => PoolAccountState
  readonly #isDelegated = (address: Address): boolean => this.#accountOf(address).code !== undefined

  constructor(limits: ModelLimits, baseFee: bigint, accountOf: (address: Address) => PoolAccountState) {
    this.#limits = limits
    this.#baseFee = baseFee
    this.#accountOf = accountOf
  }

  of(sender: Address): readonly Waiting[] {
    return this.#all.filter((one) => one.sender === sender).sort((a, b) => (a.tx.nonce < b.tx.nonce ? -1 : 1))
  }

  /** Executable transactions of a sender, by nonce. */
  pending(sender: Address): readonly Waiting[] {
    const { nonce, balance } = this.#accountOf(sender)
    const found: Waiting[] = []
    let left = balance
    for (const one of this.of(sender)) {
      left -= one.cost
      if (one.tx.nonce !== nonce + BigInt(found.length) || left < 0n) break
      found.push(one)
    }
    return this.#isDelegated(sender) ? found.slice(0, 1) : found
  }

  get bytes(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** All transactions by sender and nonce. */
  content(): readonly { readonly raw: Uint8Array; readonly isPending: boolean }[] {
    const senders = [...new Set(this.#all.map(({ sender }) => sender))].sort()
    return senders.flatMap((sender) => {
      const pending = this.pending(sender)
      return this.of(sender).map((one) => ({ raw: one.raw, isPending: pending.includes(one) }))
    })
  }

  /** Transactions in the order in which a block includes them. */
  best(): readonly Uint8Array[] {
    const lanes = [...new Set(this.#all.map(({ sender }) => sender))].map((sender) => [...this.pending(sender)])
    const taken: Uint8Array[] = []
    for (;;) {
      const heads = lanes.flatMap(([first]) => (first && first.tx.maxFeePerGas >= this.#baseFee ? [first] : []))
      const [best] = heads.sort((a, b) => (this.#tip(a) === this.#tip(b) ? a.arrival - b.arrival : this.#tip(a) > this.#tip(b) ? -1 : 1))
      if (best === undefined) return taken
      taken.push(best.raw)
      lanes.find(([first]) => first === best)?.shift()
    }
  }

  #tip({ tx }: Pick<Waiting, 'tx'>): bigint {
    return least([tx.maxPriorityFeePerGas, tx.maxFeePerGas - this.#baseFee])
  }

  /** Adds a transaction. @returns the kind of the outcome */
  add(raw: Uint8Array, sender: Address): string {
    const tx = decodeTransaction(raw) as FeeMarketTransaction
    if (this.#all.some((one) => equal(one.raw, raw))) return 'known'
    const { nonce, balance } = this.#accountOf(sender)
    const own = this.of(sender)
    const old = own.find((one) => one.tx.nonce === tx.nonce)
    if (tx.nonce < nonce) return 'nonce-too-low'
    if (this.#isDelegated(sender) && !old && tx.nonce > nonce)
      return own.some((one) => one.tx.nonce === nonce) ? 'delegated-limit' : 'nonce-too-high'
    if (old && !(isRaised(old.tx.maxFeePerGas, tx.maxFeePerGas) && isRaised(old.tx.maxPriorityFeePerGas, tx.maxPriorityFeePerGas)))
      return 'replacement-underpriced'
    const cost = tx.gasLimit * tx.maxFeePerGas + tx.value
    const before = own.filter((one) => one.tx.nonce < tx.nonce)
    if (before.reduce((sum, one) => sum + one.cost, cost) > balance) return 'insufficient-funds'
    const one: Waiting = { raw, sender, tx, cost, bytes: 1_800 + raw.length, arrival: this.#arrivals }
    const refused = this.#makeRoom(one, old, own)
    if (refused) return refused
    this.#arrivals++
    this.#all = [...this.#all.filter((other) => other !== old), one]
    return 'added'
  }

  #makeRoom(one: Waiting, old: Waiting | undefined, own: readonly Waiting[]): string | undefined {
    const gone = new Set<Waiting>(old ? [old] : [])
    const left = (): Waiting[] => this.#all.filter((other) => !gone.has(other))
    const sum = (list: readonly Waiting[]): number => list.reduce((bytes, other) => bytes + other.bytes, one.bytes)
    while (sum(left().filter(({ sender }) => sender === one.sender)) > this.#limits.maxAccountBytes) {
      const last = own.findLast((other) => !gone.has(other))
      if (last === undefined || last.tx.nonce <= one.tx.nonce) return 'account-full'
      gone.add(last)
    }
    const before = own.filter((other) => other.tx.nonce < one.tx.nonce)
    const { nonce } = this.#accountOf(one.sender)
    const next = nonce + BigInt(this.pending(one.sender).length)
    const isPending = this.#isDelegated(one.sender) ? one.tx.nonce === nonce : one.tx.nonce <= next
    const newcomer = { isPending, worth: least([...before, one].map((other) => this.#tip(other))) }
    while (sum(left()) > this.#limits.maxBytes) {
      const tails = [...new Set(left().map(({ sender }) => sender))].flatMap(
        (sender) => this.of(sender).findLast((other) => !gone.has(other)) ?? [],
      )
      const may = tails.filter(({ sender, tx }) => sender !== one.sender || tx.nonce > one.tx.nonce)
      const [victim] = may.sort((a, b) => this.#leaves(a, b))
      if (victim === undefined || !counts(this.#standing(victim), newcomer)) return 'pool-full'
      gone.add(victim)
    }
    this.#all = left()
    // the caller removes the replaced transaction
    if (old) this.#all.push(old)
    return undefined
  }

  #leaves(a: Waiting, b: Waiting): number {
    if (counts(this.#standing(a), this.#standing(b))) return -1
    return counts(this.#standing(b), this.#standing(a)) ? 1 : b.arrival - a.arrival
  }

  #standing(one: Waiting): Standing {
    const upTo = this.of(one.sender).filter(({ tx }) => tx.nonce <= one.tx.nonce)
    return { isPending: this.pending(one.sender).includes(one), worth: least(upTo.map((other) => this.#tip(other))) }
  }

  /** Applies a new head. @param unwound transactions of blocks that are no longer canonical, oldest first */
  onHead(unwound: readonly { readonly raw: Uint8Array; readonly sender: Address }[]): void {
    this.#all = this.#all.filter(({ sender, tx }) => tx.nonce >= this.#accountOf(sender).nonce)
    for (const { raw, sender } of unwound) this.add(raw, sender)
  }

  drop(raw: Uint8Array): void {
    this.#all = this.#all.filter((one) => !equal(one.raw, raw))
  }
}

const isRaised = (from: bigint, to: bigint): boolean => to > from && to * 100n >= from * 110n
const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i])
