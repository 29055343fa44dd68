import { concatBytes } from '#lib/bytes'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type Address, addressFromBytes, emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'

/** Effects of a program on its own account. Each method is one instruction; the model of the world applies it. */
export type Machine = {
  readonly self: Address
  readonly value: bigint
  /** Word of the calldata by its index; zero after the end. */
  word(index: number): Hash
  readonly words: number
  store(slot: Hash, value: bigint): void
  log(topics: readonly Hash[], data: Uint8Array): void
  destroy(heir: Address): void
  /** CREATE2 of a cell with all of the call's value. */
  createCell(salt: Hash): void
}

/** Contract with its code and its effects, described twice: in bytecode and in terms of the model. */
export type Program = { readonly code: Uint8Array; readonly run: (machine: Machine) => 'success' | 'failure' }

const bytes = (hex: string): Uint8Array => fromHex(`0x${hex.replaceAll(' ', '')}`)
export const wordOf = (value: number): Hash => `0x${value.toString(16).padStart(64, '0')}` as Hash
export const addressIn = (word: Hash): Address => addressFromBytes(fromHex(word).subarray(12))

/**
 * With one word of calldata: SELFDESTRUCT to it. Otherwise for each pair of words SSTORE(first, second), then LOG1 with the first word of all as topic
 * and no data.
 */
const cell: Program = {
  code: bytes(
    '36 6020 14 6028 57' + // one word: jump to 0x28
      '6000 5b 80 36 11 15 601f 57' + // from 9: while the offset is below the size
      '80 6020 01 35 81 35 55 6040 01 6009 56' +
      '5b 6000 35 6000 80 a1' + // from 0x1f
      '00 5b 6000 35 ff',
  ),
  run(machine) {
    if (machine.words === 1) {
      machine.destroy(addressIn(machine.word(0)))
      return 'success'
    }
    for (let i = 0; i < machine.words; i += 2) machine.store(machine.word(i), BigInt(machine.word(i + 1)))
    machine.log([machine.word(0)], new Uint8Array(0))
    return 'success'
  },
}

/** Init code of a cell whose slots 0 and 5 are set by its construction. */
export const cellInit = concatBytes(
  bytes(`6001600055 6007600555 60${hexByte(cell.code.length)} 6016 6000 39 60${hexByte(cell.code.length)} 6000 f3`),
  cell.code,
)
/** Slots of a new cell. */
export const cellSlots: readonly (readonly [Hash, bigint])[] = [
  [wordOf(0), 1n],
  [wordOf(5), 7n],
]

function hexByte(value: number): string {
  return value.toString(16).padStart(2, '0')
}

/** Returns init code that writes a slot and destroys its own account. */
export const doomedInit = (heir: Address): Uint8Array => concatBytes(bytes('6001600055 73'), fromHex(heir), bytes('ff'))
export const heirOfDoomed = (init: Uint8Array): Address | undefined =>
  init.length === 27 && init[26] === 0xff ? addressFromBytes(init.subarray(6, 26)) : undefined

/** CREATE2 of a cell with the first word as salt and the call's value. */
const factory: Program = {
  code: concatBytes(
    bytes(`60${hexByte(cellInit.length)} 6017 6000 39 6000 35 60${hexByte(cellInit.length)} 6000 34 f5 50 00 00 00 00 00 00`),
    cellInit,
  ),
  run(machine) {
    machine.createCell(machine.word(0))
    return 'success'
  },
}

/** LOG0 to LOG4: the first words are the topics, the fifth is the data. */
const logger = (topics: number): Program => ({
  code: bytes(
    `6080 35 6000 52${Array.from({ length: topics }, (_, i) => ` 60${hexByte(32 * (topics - 1 - i))} 35`).join('')} 6020 6000 a${topics} 00`,
  ),
  run(machine) {
    machine.log(
      Array.from({ length: topics }, (_, i) => machine.word(i)),
      fromHex(machine.word(4)),
    )
    return 'success'
  },
})

/** Writes a slot, then reverts. */
const reverter: Program = { code: bytes('6001600055 6000 6000 fd'), run: () => 'failure' }
/** Halts, which uses all gas. */
const halter: Program = { code: bytes('fe'), run: () => 'failure' }

export const loggers = [0, 1, 2, 3, 4].map(logger)
export const programs = { cell, factory, reverter, halter }

const byCode: ReadonlyMap<Hex, Program> = new Map([...Object.values(programs), ...loggers].map((program) => [toHex(program.code), program]))
/** @throws RangeError for a code that is none of these programs */
export function programOf(code: Uint8Array): Program {
  const program = byCode.get(toHex(code))
  if (program === undefined) throw new RangeError(`no program with code ${toHex(code)}`)
  return program
}

export const cellCode = cell.code
const cellInitHash = keccak256(cellInit)

/** Address of a cell that a factory creates. @see EIP-1014 */
export function cellAddress(creator: Address, salt: Hash): Address {
  return addressFromBytes(keccak256(concatBytes(Uint8Array.of(0xff), fromHex(creator), fromHex(salt), cellInitHash)).subarray(12))
}

export const codeHashOf = (code: Uint8Array): Hash => (code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code)))
