// Transactions over a generated state. Half of the slots that they name are uniformly random, among all slots or in one large contract; the others
// are few and often named.

import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { activationRegistryAddress, factoryAddress } from '#nativeContracts/addresses'
import { dice } from '#test/harness/dice'
import { type Address, addressFromBytes } from '#types/ids'
import { encodeCall, encodeStruct } from '../../src/devnet/abi.ts'
import { featureHash, features, mintRole } from '../../src/devnet/b20/names.ts'
import { type Call, creationOf, Signers, selector, senderCount, senders, word } from '../denim/senders.ts'
import { vaultCode } from './codes.ts'
import { type StateModel, traders } from './model.ts'

type Kind = 'plain' | 'token' | 'swap' | 'manySlots' | 'b20' | 'creation' | 'setCode' | 'delegated'
/** Number of transactions of each kind among a hundred. */
const shares: readonly (readonly [Kind, number])[] = [
  ['token', 36],
  ['swap', 30],
  ['plain', 14],
  ['manySlots', 8],
  ['b20', 8],
  ['creation', 2],
  ['setCode', 1],
  ['delegated', 1],
]
const kinds: readonly Kind[] = shares.flatMap(([kind, share]) => Array.from({ length: share }, () => kind))

/** The hot slots are the first ones of the contracts with the most slots. */
const [hotContracts, hotSlots] = [64, 2_048]
/** Senders that hold B20 tokens. */
const b20Senders = 200
/** Transfers for each transfer to a new holder. */
const newHolderEvery = 8
const swapPools = 3
const [swapWrites, swapReads, manyWrites, manyReads] = [2, 3, 12, 36]

const transfer = selector('transfer(address,uint256)')
const transferData = (to: Uint8Array, amount: number): Uint8Array => concatBytes(transfer, new Uint8Array(12), to, word(amount))

/** Slot of a contract, by rank and index. */
type Slot = { readonly rank: number; readonly at: number }

/** Endless sequence of signed transactions, the same one for each start. */
export class StateMix {
  readonly #model: StateModel
  readonly #roll: (below: number) => number
  readonly #signers: Signers
  readonly #b20: Address
  #sent = 0
  /** Number of slots of the generated state that the transactions name; a sender's own balances are not counted. */
  readonly named = { cold: 0, hot: 0 }

  /** @param start a block, with the nonces of the senders after it; by default the genesis block */
  constructor(model: StateModel, start: { readonly block: number; readonly nonces: readonly number[] } = { block: 0, nonces: [] }) {
    this.#roll = dice(20_261_123 + start.block)
    this.#signers = new Signers(start.nonces)
    if (model.slotsOf(0) <= traders + 1) throw new RangeError('too few slots: no token has holders other than the senders')
    this.#model = model
    const creator = concatBytes(new Uint8Array(12), fromHex(senders[0] as Address))
    const hash = keccak256(concatBytes(creator, word(1))).subarray(0, 9)
    this.#b20 = addressFromBytes(concatBytes(Uint8Array.of(0xb2), new Uint8Array(10), hash))
  }

  /** Transactions of the first blocks, which the others need before them: they create a B20 token and mint it. */
  setUp(): readonly (readonly Uint8Array[])[] {
    const admin = senders[0] as Address
    const params = encodeStruct('(uint8,string,string,address,uint8)', [1, 'Bench', 'BNC', admin, 6])
    const grant = encodeCall('grantRole(bytes32,address)', [mintRole, admin])
    const create = encodeCall('createB20(uint8,bytes32,bytes,bytes[])', [0, `0x${'1'.padStart(64, '0')}`, params, [grant]])
    const activate = encodeCall('activate(bytes32)', [featureHash(features.asset)])
    const calls: Call[] = [
      { to: activationRegistryAddress, data: activate, gas: 1_000_000n },
      { to: factoryAddress, data: create, gas: 2_000_000n },
    ]
    for (const holder of senders.slice(0, b20Senders)) {
      calls.push({ to: this.#b20, data: encodeCall('mint(address,uint256)', [holder, 10n ** 24n]), gas: 200_000n })
    }
    // the first block has the upgrade transactions of the forks
    return [[], calls.map((call) => this.#signers.sign(0, call))]
  }

  next(): Uint8Array {
    const sender = this.#sent++ % senderCount
    const kind = kinds[this.#roll(kinds.length)] as Kind
    const { contracts } = this.#model
    if (kind === 'setCode') {
      const call = { to: senders[sender] as Address, data: new Uint8Array(), gas: 200_000n }
      return this.#signers.signDelegation(sender, this.#addressOf(1 + 4 * this.#roll(Math.floor(contracts / 4))), call)
    }
    if (kind === 'b20') {
      const data = transferData(this.#account(), 1 + this.#roll(1_000))
      return this.#signers.sign(this.#roll(b20Senders), { to: this.#b20, data, gas: 200_000n })
    }
    return this.#signers.sign(sender, this.#call(kind))
  }

  #call(kind: Exclude<Kind, 'setCode' | 'b20'>): Call {
    switch (kind) {
      case 'plain':
        return { to: addressFromBytes(this.#account()), value: BigInt(1 + this.#roll(1_000_000)), data: new Uint8Array(), gas: 60_000n }
      case 'token': {
        const { to, data } = this.#transfer()
        return { to: addressFromBytes(to), data, gas: 150_000n }
      }
      case 'swap':
        return { to: this.#model.router, data: this.#swap(), gas: 1_500_000n }
      case 'manySlots': {
        const { to, data } = this.#touch(manyWrites, manyReads)
        return { to: addressFromBytes(to), data, gas: 1_500_000n }
      }
      case 'creation':
        return { to: null, data: creationOf(concatBytes(vaultCode, word(this.#sent))), gas: 1_000_000n }
      case 'delegated': {
        const data = concatBytes(word(64), word(this.#roll(1_000)))
        return { to: addressFromBytes(this.#model.addressOf(this.#delegated())), data, gas: 200_000n }
      }
    }
  }

  /** Touches pools of different contracts and transfers two tokens, as a swap over a route does. */
  #swap(): Uint8Array {
    const records: Uint8Array[] = []
    for (let pool = 0; pool < swapPools; pool++) records.push(recordOf(this.#touch(swapWrites, swapReads)))
    for (let token = 0; token < 2; token++) records.push(recordOf(this.#transfer()))
    return concatBytes(...records)
  }

  /** Transfers a token to one of its holders, or to a new one. */
  #transfer(): { readonly to: Uint8Array; readonly data: Uint8Array } {
    const { rank, at } = this.#slot(true)
    const holder = this.#roll(newHolderEvery) === 0 ? this.#account() : this.#model.holder(rank, at - 1)
    return { to: this.#model.addressOf(rank), data: transferData(holder, 1 + this.#roll(1_000_000)) }
  }

  /** Writes and reads slots of one vault, the first of them chosen among all slots; another half of them is uniformly random in the vault. */
  #touch(writes: number, reads: number): { readonly to: Uint8Array; readonly data: Uint8Array } {
    const { rank, at } = this.#slot(false)
    const slots = this.#model.slotsOf(rank)
    const numbers = Array.from({ length: writes + reads }, (_, index) => {
      const isCold = index % 2 === 1
      if (index > 0) this.named[isCold ? 'cold' : 'hot']++
      const chosen = index === 0 ? at : isCold ? this.#roll(slots) : this.#often(Math.min(slots, hotSlots))
      return this.#model.slotNumber(rank, chosen)
    })
    return { to: this.#model.addressOf(rank), data: concatBytes(word(32 + 32 * writes), ...numbers) }
  }

  /** Chooses the balance of a holder in a token that all senders hold, or a slot of a vault. */
  #slot(isToken: boolean): Slot {
    const isCold = this.#roll(2) === 0
    this.named[isCold ? 'cold' : 'hot']++
    for (;;) {
      const slot = isCold ? this.#model.locate(this.#roll(this.#model.spec.slots)) : this.#hotSlot()
      if ((this.#model.kindOf(slot.rank) === 'token') !== isToken) continue
      if (!isToken || slot.at > traders) return slot
    }
  }

  #hotSlot(): Slot {
    const rank = this.#often(Math.min(hotContracts, this.#model.contracts))
    const slots = this.#model.slotsOf(rank)
    const first = this.#model.kindOf(rank) === 'token' ? traders + 1 : 0
    return slots > first ? { rank, at: first + this.#often(Math.min(hotSlots, slots - first)) } : { rank: 1, at: 0 }
  }

  /** Returns an integer below a bound; the probability of n is about 1 / (n + 1). */
  #often(below: number): number {
    return Math.min(below - 1, Math.floor(Math.exp((this.#roll(2 ** 32) / 2 ** 32) * Math.log(below + 1))) - 1)
  }

  /** Returns the address of any account without its own code; the account may be new. */
  #account(): Uint8Array {
    const { contracts, spec } = this.#model
    if (this.#roll(newHolderEvery) === 0) return concatBytes(...Array.from({ length: 5 }, () => word(this.#roll(2 ** 32)).subarray(28)))
    return this.#model.addressOf(contracts + this.#roll(spec.accounts - contracts))
  }

  #addressOf(rank: number): Address {
    return addressFromBytes(this.#model.addressOf(rank))
  }

  #delegated(): number {
    return this.#model.delegatedAt(this.#roll(this.#model.delegations))
  }
}

/** Encodes a call for the router. */
function recordOf({ to, data }: { readonly to: Uint8Array; readonly data: Uint8Array }): Uint8Array {
  return concatBytes(word(data.length).subarray(20), to, data)
}
