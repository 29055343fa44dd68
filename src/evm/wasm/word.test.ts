import { expect, it } from 'vitest'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { dice } from '#test/harness/dice'
import { addressOf, osaka, push, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createWorld } from '#test/vectors/stateTestWorld'
import { createWasmEvm } from '../wasmEvm.ts'

type Operation = readonly [name: string, opcode: string, operands: 1 | 2 | 3, rule: (a: bigint, b: bigint, n: bigint) => bigint]

const limit = 2n ** 256n
const all = limit - 1n
const bn254 = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n
const sender = addressOf(0x11)
const contract = addressOf(0x22)
const evm = createWasmEvm()

const unsigned = (value: bigint): bigint => BigInt.asUintN(256, value)
const signed = (value: bigint): bigint => BigInt.asIntN(256, value)
const flag = (value: boolean): bigint => (value ? 1n : 0n)

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (const bit of exponent.toString(2)) result = unsigned(result * result * (bit === '1' ? base : 1n))
  return result
}

const operations: readonly Operation[] = [
  ['ADD', '01', 2, (a, b) => unsigned(a + b)],
  ['MUL', '02', 2, (a, b) => unsigned(a * b)],
  ['SUB', '03', 2, (a, b) => unsigned(a - b)],
  ['DIV', '04', 2, (a, b) => (b === 0n ? 0n : a / b)],
  ['SDIV', '05', 2, (a, b) => (b === 0n ? 0n : unsigned(signed(a) / signed(b)))],
  ['MOD', '06', 2, (a, b) => (b === 0n ? 0n : a % b)],
  ['SMOD', '07', 2, (a, b) => (b === 0n ? 0n : unsigned(signed(a) % signed(b)))],
  ['ADDMOD', '08', 3, (a, b, n) => (n === 0n ? 0n : (a + b) % n)],
  ['MULMOD', '09', 3, (a, b, n) => (n === 0n ? 0n : (a * b) % n)],
  ['EXP', '0a', 2, power],
  ['SIGNEXTEND', '0b', 2, (a, b) => (a >= 31n ? b : unsigned(BigInt.asIntN(Number(a) * 8 + 8, b)))],
  ['LT', '10', 2, (a, b) => flag(a < b)],
  ['GT', '11', 2, (a, b) => flag(a > b)],
  ['SLT', '12', 2, (a, b) => flag(signed(a) < signed(b))],
  ['SGT', '13', 2, (a, b) => flag(signed(a) > signed(b))],
  ['EQ', '14', 2, (a, b) => flag(a === b)],
  ['ISZERO', '15', 1, (a) => flag(a === 0n)],
  ['AND', '16', 2, (a, b) => a & b],
  ['OR', '17', 2, (a, b) => a | b],
  ['XOR', '18', 2, (a, b) => a ^ b],
  ['NOT', '19', 1, (a) => all - a],
  ['BYTE', '1a', 2, (a, b) => (a >= 32n ? 0n : (b >> (248n - 8n * a)) & 255n)],
  ['SHL', '1b', 2, (a, b) => (a >= 256n ? 0n : unsigned(b << a))],
  ['SHR', '1c', 2, (a, b) => (a >= 256n ? 0n : b >> a)],
  ['SAR', '1d', 2, (a, b) => unsigned(signed(b) >> (a >= 256n ? 256n : a))],
  ['CLZ', '1e', 1, (a) => 256n - BigInt(a === 0n ? 0 : a.toString(2).length)],
]

const edges = [0n, 1n, 2n, 3n, 31n, 32n, 255n, 256n, 10n ** 18n, 2n ** 64n, 2n ** 128n, 2n ** 255n, 2n ** 255n - 1n, all - 1n, all, bn254]

/** Returns error-prone words: edges, single bits, runs of bits, limbs of all zeros and all ones, small and random words. */
function wordsFrom(seed: number): () => bigint {
  const roll = dice(seed)
  const limb = (): bigint => {
    const random = (BigInt(roll(2 ** 32)) << 32n) | BigInt(roll(2 ** 32))
    return [0n, 1n, 2n ** 64n - 1n, 2n ** 63n, 1n << BigInt(roll(64)), random, random, random][roll(8)] ?? random
  }
  const limbs = (): bigint => limb() | (limb() << 64n) | (limb() << 128n) | (limb() << 192n)
  const shapes = [
    (): bigint => edges[roll(edges.length)] ?? 0n,
    (): bigint => 1n << BigInt(roll(256)),
    (): bigint => (1n << BigInt(roll(257))) - 1n,
    (): bigint => limit - (1n << BigInt(roll(256))),
    (): bigint => BigInt(roll(300)),
    (): bigint => limbs() >> BigInt(roll(256)),
    limbs,
    limbs,
  ]
  return () => (shapes[roll(shapes.length)] ?? limbs)()
}

/** Returns the output of a program as words. */
function run(code: string, data: Uint8Array): bigint[] {
  using session = evm.open(createWorld({ [contract]: testAccount({ code: `0x${code}` }) }).view, testBlock, osaka)
  session.beginTransaction(testTransaction(sender))
  const { kind, output } = session.run({ caller: sender, to: contract, value: 0n, data, gas: 10_000_000n })
  expect(kind).toBe('success')
  return Array.from({ length: output.length / 32 }, (_, at) => bigintFromBytes(output.subarray(at * 32, at * 32 + 32)))
}

const casesPerRun = 64

/** Runs an operation for each of `cases`; operands are given from the top of the stack on, as input or as constants of the code. */
function results(opcode: string, cases: readonly (readonly bigint[])[], from: 'input' | 'code'): bigint[] {
  let code = ''
  cases.forEach((operands, at) => {
    for (let k = operands.length - 1; k >= 0; k--) {
      const constant = (operands[k] ?? 0n).toString(16).padStart(64, '0')
      code += from === 'code' ? push(constant) : `${push((at * operands.length + k) * 32)}35`
    }
    code += `${opcode}${push(at * 32)}52`
  })
  return run(`${code}${push(cases.length * 32)}${push(0)}f3`, concatBytes(...cases.flat().map((word) => bytesFromBigint(word, 32))))
}

function compare([, opcode, , rule]: Operation, cases: readonly (readonly bigint[])[], from: 'input' | 'code' = 'input'): void {
  const got = results(opcode, cases, from)
  cases.forEach((operands, at) => {
    const [a = 0n, b = 0n, n = 0n] = operands
    if (got[at] !== rule(a, b, n)) expect({ operands, result: got[at] }).toEqual({ operands, result: rule(a, b, n) })
  })
}

it.each(operations)('evm word: %s equals big integers', (...operation) => {
  const [, , operands] = operation
  const word = wordsFrom(0x5eed)
  for (let round = 0; round < 24; round++) {
    compare(
      operation,
      Array.from({ length: casesPerRun }, () => Array.from({ length: operands }, word)),
      round % 8 === 7 ? 'code' : 'input',
    )
  }
})

it.each(operations.filter(([, , operands]) => operands > 1))('evm word: %s of operands close to each other', (...operation) => {
  const word = wordsFrom(77)
  for (let round = 0; round < 4; round++) {
    const cases = Array.from({ length: casesPerRun }, (_, at) => {
      const a = word()
      const b = [a, unsigned(a + 1n), unsigned(a - 1n), a >> 64n][at % 4] ?? a
      return [a, b, unsigned(b + BigInt(at % 3))].slice(0, operation[2])
    })
    compare(operation, cases)
  }
})

it.each(operations.filter(([name]) => ['SIGNEXTEND', 'BYTE', 'SHL', 'SHR', 'SAR'].includes(name)))(
  'evm word: %s by each number up to 260',
  (...operation) => {
    const word = wordsFrom(5)
    for (let from = 0n; from < 260n; from += 52n) {
      compare(
        operation,
        Array.from({ length: 52 }, (_, at) => [from + BigInt(at), word()]),
      )
    }
  },
)

it.each([
  ['the modulus of BN254', bn254],
  ['the modulus of secp256k1', 2n ** 256n - 2n ** 32n - 977n],
  ['2^255 - 19', 2n ** 255n - 19n],
  ['2^256 - 1', all],
  ['2^256 - 2', all - 1n],
  ['2^255', 2n ** 255n],
  ['2^240', 2n ** 240n],
  ['2^240 + 1', 2n ** 240n + 1n],
  ['2^240 - 1', 2n ** 240n - 1n],
  ['three limbs', bn254 >> 64n],
  ['two limbs', bn254 >> 128n],
  ['one limb', bn254 >> 192n],
])('evm word: MULMOD and ADDMOD by the same modulus repeatedly, %s', (_what, modulus) => {
  const word = wordsFrom(Number(modulus % 1_000n))
  const near = (at: number): bigint =>
    [word() % modulus, modulus - 1n - BigInt(at % 2), word(), all - BigInt(at % 3), (word() / modulus) * modulus][at % 5] ?? 0n
  for (let round = 0; round < 8; round++) {
    const cases = Array.from({ length: casesPerRun }, (_, at) => {
      const a = near(at + round)
      const b = [a, BigInt(at), near(at * 3 + 1)][at % 4] ?? near(at)
      return [a, b, modulus]
    })
    for (const operation of operations.filter(([name]) => name.endsWith('MOD') && name.length === 6)) compare(operation, cases)
  }
})

it('evm word: division by the same divisor repeatedly, of one, two and four limbs', () => {
  const word = wordsFrom(9)
  for (const divisor of [10n ** 18n, 997n, 2n ** 64n - 1n, 2n ** 96n + 1n, 2n ** 127n, bn254]) {
    for (const operation of operations.filter(([name]) => /^S?(DIV|MOD)$/.test(name))) {
      compare(
        operation,
        Array.from({ length: casesPerRun }, (_, at) => [at % 3 === 0 ? unsigned(word() * divisor - 1n) : word(), divisor]),
      )
    }
  }
})
