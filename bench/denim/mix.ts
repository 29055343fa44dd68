import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { dice } from '#test/harness/dice'
import { type Address, parseAddress } from '#types/ids'
import { codeOf } from '../evm/workloads.ts'
import { type Call, createdBy, creationOf, Signers, selector, senderCount, senders, word } from './senders.ts'

const [mint, transfer] = [selector('mint(address,uint256)'), selector('transfer(address,uint256)')]

/** Writes the block number to ten slots and reads ten others, from the slot in its calldata on. */
const storageCode = fromHex(
  `0x${Array.from({ length: 10 }, (_, at) => {
    const [write, read] = [at, at + 16].map((slot) => slot.toString(16).padStart(2, '0'))
    return `4360${write}5f35015560${read}5f35015450`
  }).join('')}00`,
)

/** Of ten transactions, two are plain transfers, five ERC-20 transfers, three write storage. */
const kinds = ['plain', 'token', 'storage', 'token', 'token', 'plain', 'storage', 'token', 'storage', 'token'] as const
/** Receivers for each receiver that is a new account. */
const newReceiver = 8
/** Writes of storage for each write to new slots. */
const newSlots = 3

/** Endless sequence of signed transactions: the same one in each run. Each sender first mints tokens. */
export class Mix {
  readonly #roll = dice(20_261_105)
  readonly #signers = new Signers()
  readonly #token = createdBy(senders[0] as Address, 0)
  readonly #storage = createdBy(senders[0] as Address, 1)
  #sent = 0
  #bases = 1

  /** The transactions that the others need before them: the first sender creates the contracts. */
  deployments(): readonly Uint8Array[] {
    return [codeOf('Token'), storageCode].map((code) => this.#signers.sign(0, { to: null, data: creationOf(code), gas: 2_000_000n }))
  }

  next(): Uint8Array {
    const at = this.#sent++
    return this.#signers.sign(at % senderCount, this.#call(at))
  }

  #call(at: number): Call {
    const self = senders[at % senderCount] as Address
    if (at < senderCount) return { to: this.#token, data: concatBytes(mint, word(self), word(10n ** 24n)), gas: 100_000n }
    const kind = kinds[(at + Math.floor(at / senderCount)) % kinds.length]
    if (kind === 'plain') return { to: this.#receiver(), value: BigInt(1 + this.#roll(1_000_000)), data: new Uint8Array(), gas: 21_000n }
    if (kind === 'token') {
      const data = concatBytes(transfer, word(this.#receiver()), word(1 + this.#roll(1_000_000)))
      return { to: this.#token, data, gas: 100_000n }
    }
    const base = this.#roll(newSlots) === 0 ? this.#bases++ : this.#roll(this.#bases)
    return { to: this.#storage, data: word(BigInt(base) << 8n), gas: 400_000n }
  }

  #receiver(): Address {
    if (this.#roll(newReceiver) !== 0) return senders[this.#roll(senderCount)] as Address
    return parseAddress(
      `0x${[0, 1, 2, 3, 4]
        .map(() =>
          this.#roll(2 ** 32)
            .toString(16)
            .padStart(8, '0'),
        )
        .join('')}`,
    )
  }
}
