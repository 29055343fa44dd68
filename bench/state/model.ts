// A large state as a function of a seed: which accounts and slots exist, and their values. Every part can be computed alone.
import { concatBytes, trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { dice } from '#test/harness/dice'
import { type Address, addressFromBytes, emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import { senders } from '../denim/senders.ts'
import { delegationTo, proxyCode, templateCount, templatesOf, tokenCode, vaultCode } from './codes.ts'

export type StateSpec = { readonly seed: number; readonly accounts: number; readonly slots: number }

export type ContractKind = 'token' | 'vault' | 'proxy'
export type Code = { readonly hash: Hash; readonly code: Uint8Array }
/** An account. `rank`: of a contract with slots. */
export type ModelAccount = {
  readonly address: Uint8Array
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Code
  readonly rank: number | undefined
}

/** Accounts for each contract. */
const accountsPerContract = 10
/** Contracts for each contract with code of its own; the others share the templates. */
const ownCodeEvery = 20
/** Number of other accounts for each account with a delegation (EIP-7702). */
const delegatedEvery = 100
/** Contracts that the proxies call. */
const implementations = 16
/** The first slots of a vault have the numbers 0, 1, 2 …; the others have random numbers, as the slots of a mapping. */
const plainSlots = 16
/** Balance of the senders and the router in each token. */
const traderBalance = fromHex(`0x${(10n ** 24n).toString(16)}`)
/** The senders and the router have the first balances of each token. */
export const traders: number = senders.length + 1

const kinds = { account: 1, balance: 2, code: 3, slot: 4, holder: 5, value: 6, router: 7 } as const
const noCode: Code = { hash: emptyCodeHash, code: new Uint8Array(0) }
const codeFrom = (code: Uint8Array): Code => ({ hash: hashFromBytes(keccak256(code)), code })
const word = (value: number): Uint8Array => {
  const out = new Uint8Array(32)
  new DataView(out.buffer).setUint32(28, value)
  return out
}

export class StateModel {
  readonly spec: StateSpec
  /** Number of contracts. Account `rank` is the contract with the `rank`-th most slots. */
  readonly contracts: number
  /** Calls other contracts for its caller. Not one of the counted accounts. */
  readonly router: Address
  /** Number of slots of all contracts up to a rank, exclusive; by rank. */
  readonly #slotsBefore: Float64Array
  readonly #tokens: readonly Code[]
  readonly #vaults: readonly Code[]

  constructor(spec: StateSpec) {
    this.spec = spec
    this.contracts = Math.max(implementations * 4, Math.floor(spec.accounts / accountsPerContract))
    if (spec.accounts < this.contracts) throw new RangeError(`a state needs at least ${this.contracts} accounts`)
    this.#slotsBefore = zipf(this.contracts, spec.slots)
    this.#tokens = templatesOf(tokenCode, 'token').map(codeFrom)
    this.#vaults = templatesOf(vaultCode, 'vault').map(codeFrom)
    this.router = addressFromBytes(this.#random(kinds.router, 0, 0).subarray(12))
  }

  addressOf(index: number): Uint8Array {
    return this.#random(kinds.account, index, 0).subarray(12)
  }

  account(index: number): ModelAccount {
    const address = this.addressOf(index)
    const random = new DataView(this.#random(kinds.balance, index, 0).buffer)
    if (index < this.contracts) return { address, nonce: 1n, balance: 0n, code: this.codeOf(index), rank: index }
    const isDelegated = index % delegatedEvery === 0
    return {
      address,
      nonce: BigInt(random.getUint16(0) >> (random.getUint8(2) & 15)),
      balance: 1n + (random.getBigUint64(4) >> BigInt(random.getUint8(3) & 31)),
      code: isDelegated ? codeFrom(delegationTo(this.addressOf(1))) : noCode,
      rank: undefined,
    }
  }

  /** Number of accounts that delegate to a contract. */
  get delegations(): number {
    return Math.floor((this.spec.accounts - 1) / delegatedEvery) - Math.floor((this.contracts - 1) / delegatedEvery)
  }

  /** Returns the index of the n-th account that delegates to a contract. */
  delegatedAt(n: number): number {
    return (Math.floor((this.contracts - 1) / delegatedEvery) + 1 + n) * delegatedEvery
  }

  kindOf(rank: number): ContractKind {
    return rank % 2 === 0 ? 'token' : rank % 4 === 1 ? 'vault' : 'proxy'
  }

  codeOf(rank: number): Code {
    const kind = this.kindOf(rank)
    if (kind === 'proxy') return codeFrom(proxyCode(this.addressOf(1 + 4 * ((rank >> 2) % implementations))))
    const random = new DataView(this.#random(kinds.code, rank, 0).buffer)
    const template = Math.floor(templateCount * (random.getUint32(0) / 2 ** 32) ** 3)
    const shared = (kind === 'token' ? this.#tokens : this.#vaults)[template] as Code
    return random.getUint32(4) % ownCodeEvery === 0 ? codeFrom(concatBytes(shared.code, word(rank))) : shared
  }

  slotsOf(rank: number): number {
    return (this.#slotsBefore[rank + 1] ?? 0) - (this.#slotsBefore[rank] ?? 0)
  }

  /** Returns the contract and the index of the n-th of all slots. */
  locate(n: number): { readonly rank: number; readonly at: number } {
    let [from, to] = [0, this.contracts]
    while (to - from > 1) {
      const middle = (from + to) >>> 1
      if ((this.#slotsBefore[middle] ?? 0) <= n) from = middle
      else to = middle
    }
    return { rank: from, at: n - (this.#slotsBefore[from] ?? 0) }
  }

  /** Returns the owner of a token's balance by its index, from 0 on: the senders, the router, then others. */
  holder(rank: number, index: number): Uint8Array {
    const sender = senders[index]
    if (sender !== undefined) return fromHex(sender)
    if (index === traders - 1) return fromHex(this.router)
    const other = index - traders
    const { accounts } = this.spec
    return other < accounts ? this.addressOf((other + 7_919 * rank) % accounts) : this.#random(kinds.holder, other, rank).subarray(12)
  }

  /** Returns the number of a slot by its index below `slotsOf(rank)`. */
  slotNumber(rank: number, at: number): Uint8Array {
    if (this.kindOf(rank) === 'token') return at === 0 ? word(0) : balanceSlot(this.holder(rank, at - 1))
    return at < plainSlots ? word(at) : this.#random(kinds.slot, rank, at)
  }

  /** Returns the value of a slot, without leading zeros; never zero. */
  slotValue(rank: number, at: number): Uint8Array {
    const isToken = this.kindOf(rank) === 'token'
    if (isToken && at >= 1 && at <= traders) return traderBalance
    const random = this.#random(kinds.value, rank, at)
    const size = isToken ? 6 + ((random[0] ?? 0) & 3) : ([2, 20, 31][(random[0] ?? 0) % 3] as number)
    const value = trimLeft(random.subarray(1, 1 + size))
    return value.length === 0 ? Uint8Array.of(1) : value
  }

  #random(kind: number, first: number, second: number): Uint8Array {
    return randomBytes(Math.imul(this.spec.seed, 0x9e3779b1) + kind, first, second)
  }
}

/** Returns 32 pseudo-random bytes, the last eight of which are the two integers: they are distinct for distinct integers. */
function randomBytes(seed: number, first: number, second: number): Uint8Array {
  const roll = dice(seed ^ Math.imul(first, 0x85ebca6b) ^ Math.imul(second + 1, 0xc2b2ae35))
  const out = new Uint8Array(32)
  for (let at = 0; at < 24; at += 4) putWord(out, at, roll(2 ** 32))
  putWord(out, 24, first)
  putWord(out, 28, second)
  return out
}

function putWord(out: Uint8Array, at: number, value: number): void {
  out[at] = value >>> 24
  out[at + 1] = value >>> 16
  out[at + 2] = value >>> 8
  out[at + 3] = value
}

const mappingInput = new Uint8Array(64)
mappingInput[63] = 1

/** Returns the slot of an owner's balance in a token. */
function balanceSlot(owner: Uint8Array): Uint8Array {
  mappingInput.set(owner, 12)
  return keccak256(mappingInput)
}

/** Distributes slots over contracts: the contract of rank r has a share of 1 / (r + 1). @returns the sums before each rank, and the total */
function zipf(contracts: number, slots: number): Float64Array {
  const sums = new Float64Array(contracts + 1)
  for (let rank = 0; rank < contracts; rank++) sums[rank + 1] = (sums[rank] ?? 0) + 1 / (rank + 1)
  const total = sums[contracts] ?? 1
  for (let rank = 0; rank <= contracts; rank++) sums[rank] = Math.round(((sums[rank] ?? 0) / total) * slots)
  return sums
}
