import type { Address, Hash } from '#types/ids'
import type { PoolEntry } from './entry.ts'
import type { PoolTotals } from './poolTotals.ts'

/** Account facts that decide which transactions can run. `code`: none, an EIP-7702 delegation, or a contract's. */
export type SenderAccount = {
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hash
  readonly code: 'none' | 'delegation' | 'contract'
}

/**
 * Transactions of one sender in nonce order. The first `pendingCount` of them are pending: their nonces follow the account's without a gap, and its
 * balance covers their total cost. An account with a delegation has at most one pending transaction, because any transaction may spend its balance.
 */
export class SenderQueue {
  readonly address: Address
  /** keccak of the address */
  readonly addressKey: Uint8Array
  readonly #totals: PoolTotals
  #entries: PoolEntry[] = []
  #account: SenderAccount
  #pendingCount = 0
  #pendingCost = 0n
  #totalCost = 0n
  #heldBytes = 0
  /** incremented by every change */
  version = 0

  constructor(address: Address, addressKey: Uint8Array, account: SenderAccount, totals: PoolTotals) {
    this.address = address
    this.addressKey = addressKey
    this.#account = account
    this.#totals = totals
  }

  get account(): SenderAccount {
    return this.#account
  }

  get entries(): readonly PoolEntry[] {
    return this.#entries
  }

  get pendingCount(): number {
    return this.#pendingCount
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Nonce after the pending transactions. */
  get nextNonce(): bigint {
    return this.#account.nonce + BigInt(this.#pendingCount)
  }

  /** Returns the index of the first transaction with this nonce or a higher one. */
  placeOf(nonce: bigint): number {
    let low = 0
    let high = this.#entries.length
    const last = this.#entries[high - 1]
    if (last !== undefined && last.tx.nonce < nonce) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle]?.tx.nonce ?? 0n) < nonce) low = middle + 1
      else high = middle
    }
    return low
  }

  at(nonce: bigint): PoolEntry | undefined {
    const entry = this.#entries[this.placeOf(nonce)]
    return entry?.tx.nonce === nonce ? entry : undefined
  }

  pendingAt(nonce: bigint): PoolEntry | undefined {
    const ahead = nonce - this.#account.nonce
    return ahead >= 0n && ahead < this.#pendingCount ? this.#entries[Number(ahead)] : undefined
  }

  /** Returns the balance in wei needed for a transaction and all with lower nonces; undefined when the balance covers those and all later ones. */
  wantFor(nonce: bigint, costWei: bigint): bigint | undefined {
    const place = this.placeOf(nonce)
    const same = this.#entries[place]
    const replacedCost = same?.tx.nonce === nonce ? same.costWei : 0n
    if (this.#totalCost - replacedCost + costWei <= this.#account.balance) return undefined
    let sum = costWei
    for (let i = 0; i < place; i++) sum += this.#entries[i]?.costWei ?? 0n
    return sum
  }

  /** Returns the last transactions, of at least `bytes` together; undefined when one of them does not come after the nonce. */
  lastAfter(nonce: bigint, bytes: number): readonly PoolEntry[] | undefined {
    const last: PoolEntry[] = []
    for (let rest = bytes; rest > 0; ) {
      const entry = this.#entries.at(-1 - last.length)
      if (entry === undefined || entry.tx.nonce <= nonce) return undefined
      last.push(entry)
      rest -= entry.heldBytes
    }
    return last
  }

  /** Whether a transaction would be pending, provided that the balance covers it. */
  wouldBePending(nonce: bigint): boolean {
    if (this.#account.code === 'delegation') return nonce === this.#account.nonce
    return nonce <= this.nextNonce
  }

  /** Adds a transaction that the balance covers. @returns the transaction with the same nonce that it replaces */
  put(entry: PoolEntry): PoolEntry | undefined {
    const place = this.placeOf(entry.tx.nonce)
    const same = this.#entries[place]
    this.version++
    this.#totals.enter(entry)
    this.#heldBytes += entry.heldBytes
    this.#totalCost += entry.costWei
    if (same?.tx.nonce !== entry.tx.nonce) {
      this.#entries.splice(place, 0, entry)
      this.#weigh(place)
      this.#promote()
      return undefined
    }
    const wasPending = same.place === 'pending'
    this.#entries[place] = entry
    this.#weigh(place)
    this.#forget(same)
    if (wasPending) {
      this.#pendingCost += entry.costWei - same.costWei
      this.#totals.move(entry, 'pending')
    }
    this.#demoteWhile(() => this.#pendingCost > this.#account.balance)
    this.#promote()
    return same
  }

  /** Removes a transaction. The sender's later ones wait until its nonce is filled again. */
  remove(entry: PoolEntry): void {
    const place = this.placeOf(entry.tx.nonce)
    if (this.#entries[place] !== entry) return
    this.version++
    this.#demoteWhile(() => this.#pendingCount > place)
    this.#entries.splice(place, 1)
    this.#forget(entry)
    this.#weigh(place)
  }

  /** Applies the account's new state. @returns the transactions whose nonces are used, which are removed */
  settle(account: SenderAccount): readonly PoolEntry[] {
    this.version++
    this.#account = account
    const used = this.#entries.splice(0, this.placeOf(account.nonce))
    for (const entry of used) this.#forget(entry)
    this.#pendingCount = 0
    this.#pendingCost = 0n
    const pending = this.#countAffordable()
    for (const [i, entry] of this.#entries.entries()) {
      if (i < pending) this.#take(entry)
      else this.#totals.move(entry, 'queued')
    }
    if (used.length > 0) this.#weigh(0)
    return used
  }

  #mostPending(): number {
    const { code } = this.#account
    if (code === 'contract') return 0
    return code === 'delegation' ? 1 : this.#entries.length
  }

  /** Returns the number of transactions, from the first on, that can be pending. */
  #countAffordable(): number {
    const { nonce, balance } = this.#account
    const most = this.#mostPending()
    let [count, cost, next] = [0, 0n, nonce]
    for (const entry of this.#entries) {
      cost += entry.costWei
      if (count === most || entry.tx.nonce !== next || cost > balance) break
      count++
      next++
    }
    return count
  }

  #take(entry: PoolEntry): void {
    this.#pendingCount++
    this.#pendingCost += entry.costWei
    this.#totals.move(entry, 'pending')
  }

  #promote(): void {
    const { balance } = this.#account
    const most = this.#mostPending()
    for (;;) {
      const entry = this.#entries[this.#pendingCount]
      if (entry === undefined || this.#pendingCount >= most) return
      if (entry.tx.nonce !== this.nextNonce || this.#pendingCost + entry.costWei > balance) return
      this.#take(entry)
    }
  }

  #demoteWhile(isTooMuch: () => boolean): void {
    while (this.#pendingCount > 0 && isTooMuch()) {
      const entry = this.#entries[--this.#pendingCount]
      if (entry === undefined) return
      this.#pendingCost -= entry.costWei
      this.#totals.move(entry, 'queued')
    }
  }

  #forget(entry: PoolEntry): void {
    this.#heldBytes -= entry.heldBytes
    this.#totalCost -= entry.costWei
    this.#totals.move(entry, 'gone')
  }

  /** Updates the minimum tip and fee cap from an index on, and stops at the first that does not change. */
  #weigh(from: number): void {
    let before = this.#entries[from - 1]
    for (let i = from; i < this.#entries.length; i++) {
      const entry = this.#entries[i]
      if (entry === undefined) return
      const tip = before && before.leastTip < entry.tipCap ? before.leastTip : entry.tipCap
      const feeCap = before && before.leastFeeCap < entry.feeCap ? before.leastFeeCap : entry.feeCap
      if (i > from && tip === entry.leastTip && feeCap === entry.leastFeeCap) return
      entry.leastTip = tip
      entry.leastFeeCap = feeCap
      before = entry
    }
  }
}
