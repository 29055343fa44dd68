import { concatBytes, padLeft } from '#lib/bytes'
import { fromHex, type Hex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { activationRegistryAddress, factoryAddress } from '#nativeContracts/addresses'
import { dice } from '#test/harness/dice'
import { encodeDeposit } from '#types/deposit'
import { type Address, type Hash, hashFromBytes, parseAddress } from '#types/ids'
import { createdBy, creationOf } from '../../../bench/denim/senders.ts'
import { cellAddress, doomedInit, programs, wordOf } from '../../model/programs.ts'

/** Activates B20 tokens. */
export const admin: Address = parseAddress(`0x${'ad'.repeat(20)}`)
const deployer: Address = parseAddress(`0x${'de'.repeat(20)}`)
const factory = createdBy(deployer, 0)
const holders: readonly Address[] = Array.from({ length: 40 }, (_, i) =>
  parseAddress(`0x${(0xa0_0000 + i).toString(16).padStart(40, '2')}`),
)
const salts = 24
const cells: readonly Address[] = Array.from({ length: salts }, (_, salt) => cellAddress(factory, wordOf(salt)))
const slots = 300

const word = (value: bigint | number | Address | Hex): Uint8Array =>
  typeof value === 'string' ? padLeft(fromHex(value), 32) : fromHex(`0x${value.toString(16).padStart(64, '0')}`)
const call = (signature: string, ...words: readonly Parameters<typeof word>[0][]): Uint8Array =>
  concatBytes(keccak256Text(signature).subarray(0, 4), ...words.map(word))
const hashOfText = (text: string): Hash => hashFromBytes(keccak256Text(text))
const padRight = (bytes: Uint8Array): Uint8Array => concatBytes(bytes, new Uint8Array((32 - (bytes.length % 32)) % 32))
const text = (value: string): Uint8Array => concatBytes(word(BigInt(value.length)), padRight(Buffer.from(value)))

/** Where the state is compared: addresses that the deposits touch, and slots. */
export const places = { addresses: [admin, factory, ...holders, ...cells], slots: Array.from({ length: slots }, (_, i) => wordOf(i)) }

/** Random deposits, which need no signature: accounts, contracts that are destroyed and made again at their address, storage, B20 tokens. */
export class RandomDeposits {
  readonly #roll: (below: number) => number
  readonly #hasB20: boolean
  #sent = 0
  #tokens: readonly Address[] = []

  constructor(seed: number, hasB20: boolean) {
    this.#roll = dice(seed)
    this.#hasB20 = hasB20
  }

  /** Deposits that the others need before them. */
  first(): readonly Uint8Array[] {
    const deploy = this.#deposit(deployer, null, creationOf(programs.factory.code))
    return this.#hasB20
      ? [deploy, this.#deposit(admin, activationRegistryAddress, call('activate(bytes32)', hashOfText('base.b20_asset')))]
      : [deploy]
  }

  /** Creates a token of each of some creators. */
  createTokens(): readonly Uint8Array[] {
    return this.#hasB20 ? holders.slice(0, 3).map((holder) => this.#createToken(holder)) : []
  }

  setTokens(tokens: readonly Address[]): void {
    this.#tokens = tokens
  }

  next(count: number): readonly Uint8Array[] {
    return Array.from({ length: count }, () => this.#one())
  }

  #createToken(creator: Address): Uint8Array {
    const struct = concatBytes(word(1), word(0xa0), word(0xe0), word(creator), word(6), text('Token'), text('TKN'))
    const params = concatBytes(word(struct.length + 32), word(32), struct)
    const heads = call('createB20(uint8,bytes32,bytes,bytes[])', 0, 1, 0x80, 0x80 + params.length)
    return this.#deposit(creator, factoryAddress, concatBytes(heads, params, word(0)))
  }

  #one(): Uint8Array {
    const from = this.#pick(holders)
    const cell = this.#pick(cells)
    switch (this.#roll(this.#hasB20 ? 10 : 6)) {
      case 0:
        return this.#deposit(from, factory, word(this.#roll(salts)), 500_000n)
      case 1:
        return this.#deposit(from, cell, word(this.#roll(3) === 0 ? cell : this.#pick(holders)))
      case 2:
        return this.#deposit(from, null, doomedInit(this.#pick(holders)))
      case 3:
        return this.#deposit(
          from,
          parseAddress(
            `0x${this.#roll(2 ** 32)
              .toString(16)
              .padStart(40, '7')}`,
          ),
          new Uint8Array(0),
        )
      case 4:
      case 5: {
        const pairs = Array.from({ length: 2 * (1 + this.#roll(6)) }, (_, i) =>
          i % 2 === 0 ? this.#roll(slots) : this.#roll(3) === 0 ? 0n : BigInt(this.#roll(2 ** 32)) ** BigInt(1 + this.#roll(7)),
        )
        return this.#deposit(from, cell, concatBytes(...pairs.map(word)), 1_000_000n)
      }
      default:
        return this.#b20(from)
    }
  }

  #b20(from: Address): Uint8Array {
    const token = this.#pick(this.#tokens)
    const [to, amount] = [this.#pick(holders), this.#roll(1_000)]
    const creator = holders[this.#tokens.indexOf(token)] as Address
    switch (this.#roll(7)) {
      case 0:
        return this.#deposit(creator, token, call('grantRole(bytes32,address)', hashOfText(this.#roll(2) ? 'MINT_ROLE' : 'BURN_ROLE'), to))
      case 1:
        return this.#deposit(from, token, call('mint(address,uint256)', to, amount))
      case 2:
        return this.#deposit(from, token, call('burn(uint256)', amount))
      case 3:
        return this.#deposit(from, token, call('approve(address,uint256)', to, amount))
      case 4:
        return this.#deposit(from, token, call('transferFrom(address,address,uint256)', to, this.#pick(holders), amount))
      default:
        return this.#deposit(from, token, call('transfer(address,uint256)', to, amount))
    }
  }

  #deposit(from: Address, to: Address | null, data: Uint8Array, gasLimit = 1_000_000n): Uint8Array {
    const refusesWei = to !== null && [factoryAddress, activationRegistryAddress, ...this.#tokens].includes(to)
    const mint = BigInt(refusesWei || this.#roll(3) > 0 ? 0 : this.#roll(10_000))
    const sourceHash = hashOfText(`deposit ${this.#sent++}`)
    return encodeDeposit({ type: 0x7e, sourceHash, from, to, mint, value: mint, gasLimit, isSystemTransaction: false, data })
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#roll(values.length)] as T
  }
}
