import { expect, it } from 'vitest'
import { type CaseAccount, type CaseMessage, type EvmCase, runCase } from '#test/harness/evm/case'
import { addressOf } from '#test/harness/evm/host'
import { oldEvmForks } from '#test/reference/oldForks'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { type Address, parseAddress } from '#types/ids'
import { Assembler } from '../fuzz/evm/assembler.ts'
import { differenceFromOracle } from '../fuzz/evm/compare.ts'
import { type Opcode, opcodes } from '../fuzz/evm/opcodes.ts'

/** Address of a numbered contract, for more contracts than a byte can number. */
const contractAt = (number: number): Address => parseAddress(`0x${number.toString(16).padStart(40, '0')}`)
const sender = addressOf(0x11)
const stopping = addressOf(0x22)
const empty = addressOf(0x33)
const gas = 400_000n
const none = new Uint8Array(0)

const account = (code: Uint8Array, storage: CaseAccount['storage'] = new Map(), nonce = 1n): CaseAccount => ({
  nonce,
  balance: 100n,
  code,
  storage,
})

type Word = number | bigint
/** Pushes the words, the last one first, then runs the opcodes. */
type Line = readonly [words: readonly Word[], ...opcodes: readonly number[]]

function codeOf(lines: readonly Line[]): Uint8Array {
  const asm = new Assembler()
  for (const [words, ...ops] of lines) {
    for (const word of words.toReversed()) asm.push(word)
    asm.op(...ops)
  }
  return asm.finish()
}

/** Initcode that returns code of a size, with `first` as its first byte. */
const deploying = (size: number, first = 0): bigint =>
  BigInt(`0x60${first.toString(16).padStart(2, '0')}6000536200${size.toString(16).padStart(4, '0')}6000f3`)
const createWith = (size: number, first = 0): readonly Line[] => {
  const initcode = deploying(size, first)
  const bytes = initcode.toString(16).length / 2
  return [
    [[0, initcode], 0x52],
    [[0, 32 - bytes, bytes], 0xf0],
  ]
}
const call = (wanted: Word, to: Word, value: Word, opcode = 0xf1): Line => [[wanted, to, value, 0, 0, 0, 32], opcode]
const precompile = (number: number, size: number): readonly Line[] => [
  [[0, 32], 0x52],
  [[32, 1], 0x52],
  [[64, 32], 0x52],
  [[96, 3n ** 160n], 0x52],
  [[200_000, number, 0, 0, size, 0, 64], 0xf1],
  [[0], 0x51],
]
const stores = (...values: readonly number[]): readonly Line[] => values.map((value): Line => [[1, value], 0x55])

/** Programs around the prices and rules of creation, calls and removal that changed between forks. */
const programs: Readonly<Record<string, { readonly code: readonly Line[]; readonly gas?: bigint; readonly storage?: number }>> = {
  'a slot set, cleared, set again': { code: stores(1, 0, 2, 2, 0) },
  'a slot that was set, changed, cleared and restored': { code: stores(6, 0, 5, 0, 7), storage: 5 },
  'a store with 2,300 gas left': { code: [...stores(1), call(0, BigInt(stopping), 0), [[1, 2], 0x55]], gas: 30_300n, storage: 3 },
  'powers of small and large exponents': {
    code: [
      [[3, 2n ** 255n], 0x0a],
      [[3, 255], 0x0a],
      [[3, 0], 0x0a],
    ],
  },
  'a call of an absent account': { code: [call(1_000, 0x9999, 0), call(1_000, 0x9999, 1)] },
  'a call of an empty account': { code: [call(1_000, BigInt(empty), 0), call(1_000, BigInt(empty), 1)] },
  'a call with more gas than is left': { code: [call(10n ** 9n, BigInt(stopping), 0)] },
  'the other call opcodes': { code: [call(1_000, BigInt(stopping), 1, 0xf2), [[1_000, BigInt(stopping), 0, 0, 0, 32], 0xf4]] },
  'a creation': { code: createWith(32) },
  'a creation above the code size limit': { code: createWith(24_577), gas: 6_000_000n },
  'a creation of code that begins with 0xef': { code: createWith(2, 0xef) },
  'a creation without gas for its code': { code: createWith(1_000), gas: 100_000n },
  'self-destruction in favour of an absent account': { code: [[[0x9998], 0xff]] },
  'self-destruction in favour of an empty account': { code: [[[BigInt(empty)], 0xff]] },
  'self-destruction in favour of itself': { code: [[[], 0x30, 0xff]] },
  'two self-destructions of one contract': { code: [call(60_000, 0x4001, 0), call(60_000, 0x4001, 0)] },
  'the power of big numbers': { code: precompile(5, 128) },
  'curve points: sum, product, pairing': {
    code: [...precompile(6, 128), ...precompile(7, 96), ...precompile(8, 0), ...precompile(8, 192)],
  },
  'the compression of blake2': { code: precompile(9, 213) },
  'an address without a precompile yet': { code: precompile(10, 32) },
}

/** Operands with which an opcode has an effect. */
const operandsOf = ({ name, takes }: Opcode): readonly Word[] => {
  if (name === 'RETURNDATACOPY') return [0, 0, 0]
  if (name.startsWith('CREATE')) return new Array<number>(takes).fill(0)
  if (name === 'DELEGATECALL' || name === 'STATICCALL') return [100, BigInt(stopping), 0, 0, 0, 0]
  if (name === 'CALL' || name === 'CALLCODE') return [100, BigInt(stopping), 0, 0, 0, 0, 0]
  return new Array<number>(takes).fill(1)
}

const contracts = new Map<Address, CaseAccount>([
  [sender, account(none)],
  [stopping, account(Uint8Array.of(0))],
  [empty, { ...account(none), nonce: 0n, balance: 0n }],
  [contractAt(0x4001), account(codeOf([[[BigInt(sender)], 0xff]]))],
])
const messages: { readonly what: string; readonly message: CaseMessage }[] = []

function add(what: string, code: Uint8Array, limit = gas, storage?: number): void {
  const to = contractAt(0x5000 + messages.length)
  contracts.set(to, account(code, storage === undefined ? new Map() : new Map([[1n, BigInt(storage)]])))
  messages.push({ what, message: { from: sender, to, value: 0n, data: none, gas: limit } })
}
for (const opcode of opcodes) {
  if (opcode.name.startsWith('JUMP') || opcode.name.startsWith('PUSH')) continue
  add(opcode.name, codeOf([[operandsOf(opcode), opcode.code]]))
}
for (const [what, { code, gas: limit, storage }] of Object.entries(programs)) add(what, codeOf(code), limit, storage)

it.each(oldEvmForks)('reference: %s: runs opcodes, prices, creations, calls and removals as @ethereumjs/evm does', async (old) => {
  const given: EvmCase = { fork: 'paris', old, accounts: contracts, messages: messages.map(({ message }) => message) }
  const run = runCase(createReferenceEvm(), given)
  const difference = await differenceFromOracle(given, run)
  const number = Number(/^message (\d+)/.exec(difference ?? '')?.[1] ?? -1)
  expect(difference, messages[number]?.what).toBeUndefined()
})
