import { depositorAccount, l1BlockAddress, messagePasser } from '#chainspec/addresses'
import type { GenesisAccount } from '#chainspec/genesis'
import { concatBytes, equalBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { accountOf, hashOf, signedBy } from '#test/harness/chain/blocks'
import { testAccount, testAddress } from '#test/harness/evm/sessions'
import { encodeDeposit } from '#types/deposit'
import { type Address, type Hash, hashFromBytes } from '#types/ids'
import { cellCode, cellInit, doomedInit, loggers, programs, wordOf } from './programs.ts'
import type { Action, ModelAccount, World } from './world.ts'

export type Roll = (below: number) => number

const names = ['alice', 'bob', 'carol', 'dave']
/** Accounts without code that send deposits and receive wei. */
const people: readonly Address[] = [...names.map(accountOf), ...Array.from({ length: 24 }, (_, i) => testAddress(0x20 + i))]
const factory = testAddress(0xf1)
const reverter = testAddress(0xf2)
const halter = testAddress(0xf3)
const loggerAt = (topics: number): Address => testAddress(0xe0 + topics)
/** The message passer is a cell too: headers have its storage root from Isthmus on. */
const genesisCells: readonly Address[] = [messagePasser, ...Array.from({ length: 5 }, (_, i) => testAddress(0xc1 + i))]
const wideCell = testAddress(0xc1)
export const firstWideSlot = 1_000
const wideSlots = 360
/** Above this number no transaction creates a cell that stays. */
const maxAccounts = 90

const codes: readonly (readonly [Address, Uint8Array])[] = [
  ...genesisCells.map((address) => [address, cellCode] as const),
  [factory, programs.factory.code],
  [reverter, programs.reverter.code],
  [halter, programs.halter.code],
  ...loggers.map(({ code }, topics) => [loggerAt(topics), code] as const),
]
const slotsAtGenesis = new Map([
  [wordOf(1), 11n],
  [wordOf(2), 1n << 200n],
])

/** World of the genesis. */
export const genesisWorld: World = new Map<Address, ModelAccount>([
  ...names.map((name) => [accountOf(name), { nonce: 0n, balance: 10n ** 18n, code: new Uint8Array(0), slots: new Map() }] as const),
  ...codes.map(
    ([address, code]) => [address, { nonce: 1n, balance: 0n, code, slots: code === cellCode ? slotsAtGenesis : new Map() }] as const,
  ),
])

/** Accounts of the genesis besides alice and bob, which every small chain has. */
export const genesisAccounts: readonly GenesisAccount[] = [...genesisWorld].flatMap(([address, { nonce, balance, code, slots }]) =>
  address === accountOf('alice') || address === accountOf('bob')
    ? []
    : [testAccount(address, { nonce, balance, code: toHex(code), storage: new Map(slots) })],
)

/** A message before its sender is chosen. */
type Message = { readonly to: Address | null; readonly value: bigint; readonly data: Uint8Array; readonly gasLimit: bigint }

const pick = <T>(roll: Roll, values: readonly T[]): T => {
  const value = values[roll(values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}
const words = (...values: readonly Hash[]): Uint8Array => concatBytes(...values.map(fromHex))
const wordOfAddress = (address: Address): Hash => `0x${'00'.repeat(12)}${address.slice(2)}` as Hash

function storedWord(roll: Roll): Hash {
  const kind = roll(8)
  if (kind < 3) return wordOf(0)
  return kind < 7 ? wordOf(1 + roll(300)) : hashOf(`value ${roll(1_000)}`)
}

/** Writes or clears so many slots that the history of the block is indexed at once. */
function wideStore(roll: Roll): Uint8Array {
  const value = wordOf(roll(3) === 0 ? 0 : 1 + roll(1_000))
  return concatBytes(...Array.from({ length: wideSlots }, (_, i) => words(wordOf(firstWideSlot + i), value)))
}

function cellsIn(world: World): Address[] {
  return [...world].flatMap(([address, { code }]) => (equalBytes(code, cellCode) ? [address] : []))
}

function randomMessage(roll: Roll, world: World, cells: readonly Address[]): Message {
  const plain = { value: BigInt(roll(3) === 0 ? roll(10_000) : 0), gasLimit: 500_000n, data: new Uint8Array(0) }
  const cell = cells.length > 0 ? pick(roll, cells) : factory
  if (roll(120) === 0) return { ...plain, to: wideCell, data: wideStore(roll), gasLimit: 9_000_000n }
  const kind = roll(18)
  if (kind < 4) return { ...plain, to: pick(roll, people), value: BigInt(roll(5_000)), gasLimit: 60_000n }
  if (kind < 10) {
    const pairs = Array.from({ length: 1 + roll(5) }, () => words(wordOf(roll(12)), storedWord(roll)))
    return { ...plain, to: cell, data: concatBytes(...pairs) }
  }
  if (kind === 10) return { ...plain, to: cell, data: words(wordOfAddress(roll(4) === 0 ? cell : pick(roll, [...people, ...cells]))) }
  if (kind < 13) {
    const data = words(...Array.from({ length: 5 }, () => wordOf(roll(6))))
    return { ...plain, to: loggerAt(roll(5)), data, value: 0n }
  }
  if (kind < 15) return { ...plain, to: factory, data: words(wordOf(roll(6))) }
  if (kind === 15) return { ...plain, to: roll(2) === 0 ? reverter : halter, gasLimit: 60_000n }
  const isLasting = kind === 16 && world.size < maxAccounts
  return { ...plain, to: null, data: isLasting ? cellInit : doomedInit(pick(roll, people)) }
}

const hashed = (raw: Uint8Array): Hash => hashFromBytes(keccak256(raw))

function deposit(roll: Roll, world: World, message: Message, id: string): Action {
  const sender = pick(roll, people)
  const mint = roll(2) === 0 ? BigInt(roll(20_000)) : 0n
  const balance = (world.get(sender)?.balance ?? 0n) + mint
  const value = roll(8) === 0 ? balance + 1_000_000n : message.value
  const raw = encodeDeposit({
    ...{ type: 0x7e, sourceHash: hashOf(`deposit ${roll(2 ** 30)} ${id}`), from: sender, isSystemTransaction: false },
    ...{ ...message, value, mint },
  })
  return { ...message, raw, hash: hashed(raw), sender, value, mint, maxTip: 0n }
}

function signedAction(roll: Roll, name: string, nonce: bigint, message: Message): Action {
  const maxTip = BigInt(roll(4))
  const raw = signedBy(name, { ...message, nonce, maxPriorityFeePerGas: maxTip })
  return { ...message, raw, hash: hashed(raw), sender: accountOf(name), nonce, maxTip }
}

/** Model's account of the L1 attributes transaction, which calls an account without code. */
export function attributesAction(raw: Uint8Array): Action {
  return { raw, hash: hashed(raw), sender: depositorAccount, to: l1BlockAddress, value: 0n, data: new Uint8Array(0), mint: 0n, maxTip: 0n }
}

/** Number of signed transactions that are remembered for other branches. */
const maxRecent = 64

/** Generator of transactions. It includes a signed transaction again on another branch where its nonce fits. */
export class TransactionSource {
  readonly #recent: Action[] = []

  /** Returns deposits, then signed transactions, for a block on a world. @param number of the block */
  next(roll: Roll, world: World, number: number): readonly Action[] {
    const cells = cellsIn(world)
    const count = roll(4) === 0 ? 0 : roll(7)
    const deposits = Array.from({ length: roll(3) === 0 ? roll(4) : 0 }, (_, i) =>
      deposit(roll, world, randomMessage(roll, world, cells), `${number} ${i}`),
    )
    const sent = new Map<Address, bigint>()
    for (const { sender } of deposits) sent.set(sender, (sent.get(sender) ?? 0n) + 1n)
    const signed = Array.from({ length: count }, () => {
      const name = pick(roll, names)
      const sender = accountOf(name)
      const nonce = (world.get(sender)?.nonce ?? 0n) + (sent.get(sender) ?? 0n)
      sent.set(sender, (sent.get(sender) ?? 0n) + 1n)
      const again = this.#recent.filter((action) => action.sender === sender && action.nonce === nonce)
      return again.length > 0 && roll(2) === 0
        ? pick(roll, again)
        : this.#remember(signedAction(roll, name, nonce, randomMessage(roll, world, cells)))
    })
    return [...deposits, ...signed]
  }

  #remember(action: Action): Action {
    this.#recent.push(action)
    if (this.#recent.length > maxRecent) this.#recent.shift()
    return action
  }
}

/** Addresses that checks read, besides those of the world. */
export const knownAddresses: readonly Address[] = [...people, ...codes.map(([address]) => address), depositorAccount, testAddress(0xfe)]
