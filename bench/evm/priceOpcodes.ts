// The opcodes, each with operands, sizes, or state keys that may be slow. Each is repeated many times in one loop, so that the loop itself does not
// count; pushing the operands counts, because no program can avoid it.
import type { Fork } from '#chainspec/forks'
import { evmRulesAt } from '#chainspec/opRules'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { scheduleTo } from '#test/harness/chain/blocks'
import { addressFromBytes } from '#types/ids'
import { dup, loop, op, push } from './priceCode.ts'
import type { Subject } from './pricePrecompiles.ts'
import { priceView, type Trial } from './priceTrial.ts'
import { hardWords, singleWords, sizes, wordPairs, wordTriples } from './priceWords.ts'

const programAt = addressFromBytes(bytesFromBigint(0xc0den, 20))
const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)

export const pricedRules = (fork: Fork): Trial['rules'] => evmRulesAt(scheduleTo(fork), 0)
const rules = pricedRules('azul')

/** A program with the arguments of each trial as words of its call data, after the number of repetitions. */
export function withArguments(code: Uint8Array, argumentLists: Iterable<readonly bigint[]>, more: Partial<Trial> = {}): Iterable<Trial> {
  const view = priceView([{ address: programAt, code, balance: 10n ** 30n }])
  const trialOf = (values: readonly bigint[]): Trial => ({
    label: values.map((value) => `0x${value.toString(16)}`).join(' '),
    rules,
    view,
    to: programAt,
    dataFor: (repetitions) => concatBytes(word(BigInt(repetitions)), ...values.map(word)),
    ...more,
  })
  return (function* () {
    for (const values of argumentLists) yield trialOf(values)
  })()
}

const repeated = (times: number, code: readonly number[]): number[] => Array.from({ length: times }, () => code).flat()

/** Puts the arguments on the stack, the first one on top. */
const argumentsOnStack = (count: number): number[] =>
  Array.from({ length: count }, (_, i) => [...push(32 * (count - i)), op.calldataload]).flat()

/** An opcode with a number of operands, which are the arguments; `drop`: whether it pushes a result. */
function applied(opcode: number, arity: number, drop = true, times = 32): Uint8Array {
  const body = [...repeated(arity, [dup(arity + 1)]), opcode, ...(drop ? [op.pop] : [])]
  return loop(argumentsOnStack(arity), repeated(times, body))
}

const arithmetic: Readonly<Record<string, number>> = {
  ...{
    ADD: op.add,
    MUL: op.mul,
    SUB: op.sub,
    DIV: op.div,
    SDIV: op.sdiv,
    MOD: op.mod,
    SMOD: op.smod,
    EXP: op.exp,
    SIGNEXTEND: op.signextend,
  },
  ...{ LT: op.lt, SLT: op.slt, EQ: op.eq, AND: op.and, BYTE: op.byte, SHL: op.shl, SHR: op.shr, SAR: op.sar },
}
const modular: Readonly<Record<string, number>> = { ADDMOD: op.addmod, MULMOD: op.mulmod }
const unary: Readonly<Record<string, number>> = {
  ISZERO: op.iszero,
  NOT: op.not,
  CLZ: op.clz,
  CALLDATALOAD: op.calldataload,
  BLOBHASH: op.blobhash,
  BLOCKHASH: op.blockhash,
}
/** Cheap opcodes without operands: the opcode, and a POP. */
const nullary: Readonly<Record<string, number>> = {
  ...{ PC: op.pc, GAS: op.gas, MSIZE: op.msize, ADDRESS: op.address, ORIGIN: op.origin, CALLER: op.caller, CALLVALUE: op.callvalue },
  ...{
    CALLDATASIZE: op.calldatasize,
    CODESIZE: op.codesize,
    GASPRICE: op.gasprice,
    RETURNDATASIZE: op.returndatasize,
    SELFBALANCE: op.selfbalance,
    PUSH0: op.push0,
  },
}

const entries = (table: Readonly<Record<string, number>>, trials: (opcode: number) => Iterable<Trial>): Subject[] =>
  Object.entries(table).map(([name, opcode]) => ({ name, trials: () => trials(opcode) }))

/** One program for each length of a run of the same code, up to a thousand. */
function* runsOf(code: (length: number) => readonly number[], most = 1_000): Generator<Trial> {
  for (let length = 1; length <= most; length++) {
    for (const trial of withArguments(loop([], code(length)), [[]])) yield { ...trial, label: `${length} in a row` }
  }
}

/** As many PUSH32s as fit into a code, of words that look like jump destinations and of zeros. */
function* pushes(): Generator<Trial> {
  for (const byte of [op.jumpdest, 0]) {
    yield* runsOf((length) => repeated(length, [op.push32, ...new Uint8Array(32).fill(byte), op.pop]), 700)
  }
}

/** Jumps, each to the next; `before` pushes the condition. The loop's head has four bytes. */
function jumps(length: number, before: readonly number[], jump: number): readonly number[] {
  const size = before.length + 5
  const start = 4
  return Array.from({ length }, (_, i) => [...before, ...push(start + (i + 1) * size - 1, 2), jump, op.jumpdest].flat()).flat()
}

/** Offsets a step apart, sizes from nothing to far, each with several offsets. */
function* areas(most: number): Generator<readonly bigint[]> {
  for (const size of sizes(most)) yield [BigInt(size % 3 === 0 ? 0 : size % 67), BigInt(size)]
}

/** Copies that overlap from below, overlap from above, or do not overlap. */
function* moves(most: number): Generator<readonly bigint[]> {
  for (const size of sizes(most)) {
    const [to, from] = [
      [1, 0],
      [0, 1],
      [0, size],
      [32, 0],
      [0, 31],
    ][size % 5] as [number, number]
    yield [BigInt(to), BigInt(from), BigInt(size)]
  }
}

function* offsets(): Generator<readonly bigint[]> {
  for (let offset = 0; offset < 1_000; offset++) yield [BigInt(offset)]
  for (let offset = 1_000; offset < 1_000_000; offset = Math.ceil(offset * 1.4)) yield [BigInt(offset)]
}

const withValue = (lists: Iterable<readonly bigint[]>): Iterable<readonly bigint[]> =>
  (function* () {
    let i = 0
    for (const list of lists) yield [...list, hardWords[i++ % hardWords.length] as bigint]
  })()

/** LOGn of an area: topics are the number of repetitions left. */
const logs = (topics: number): Uint8Array =>
  loop(argumentsOnStack(2), repeated(8, [...repeated(topics, [dup(1)]), ...repeated(2, [dup(3 + topics)]), op.log0 + topics]))

export function opcodeSubjects(): readonly Subject[] {
  const area = 262_144
  return [
    ...entries(arithmetic, (opcode) => withArguments(applied(opcode, 2), wordPairs())),
    ...entries(modular, (opcode) => withArguments(applied(opcode, 3), wordTriples())),
    ...entries(unary, (opcode) => withArguments(applied(opcode, 1), singleWords())),
    ...entries(nullary, (opcode) => runsOf((length) => repeated(length, [opcode, op.pop]))),
    { name: 'JUMPDEST', trials: () => runsOf((length) => repeated(length * 20, [op.jumpdest])) },
    { name: 'JUMP', trials: () => runsOf((length) => jumps(length, [], op.jump)) },
    { name: 'JUMPI', trials: () => runsOf((length) => jumps(length, [op.msize, op.iszero], op.jumpi)) },
    { name: 'PUSH32, POP', trials: pushes },
    { name: 'MLOAD', trials: () => withArguments(applied(op.mload, 1), offsets()) },
    { name: 'MSTORE', trials: () => withArguments(applied(op.mstore, 2, false), withValue(offsets())) },
    { name: 'MSTORE8', trials: () => withArguments(applied(op.mstore8, 2, false), withValue(offsets())) },
    { name: 'KECCAK256', trials: () => withArguments(applied(op.keccak256, 2, true, 8), areas(area)) },
    { name: 'CALLDATACOPY', trials: () => withArguments(applied(op.calldatacopy, 3, false, 8), moves(area)) },
    { name: 'CODECOPY', trials: () => withArguments(applied(op.codecopy, 3, false, 8), moves(area)) },
    { name: 'MCOPY', trials: () => withArguments(applied(op.mcopy, 3, false, 8), moves(area)) },
    ...[0, 1, 2, 3, 4].map((topics) => ({
      name: `LOG${topics}`,
      trials: () => withArguments(logs(topics), areas(32_768), { mostRepetitions: 256 }),
    })),
  ]
}
