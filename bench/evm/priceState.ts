// The opcodes that touch the state: cold and warm accounts and slots, codes of 24 KB, calls, creations, destructions. The n-th repetition
// from the end takes the n-th account or slot.
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { type Address, addressFromBytes } from '#types/ids'
import { dup, loop, op, push, swap } from './priceCode.ts'
import { createBytes } from './priceNumbers.ts'
import { pricedRules, withArguments } from './priceOpcodes.ts'
import type { Subject } from './pricePrecompiles.ts'
import { type PricedAccount, priceView, type Trial } from './priceTrial.ts'

const programAt = addressFromBytes(bytesFromBigint(0xc0den, 20))
const word = (value: number | bigint): Uint8Array => bytesFromBigint(BigInt(value), 32)
const rules = pricedRules('azul')
const starts = 1_000
const stateSize = 3_000
const accountsFrom = 0x10_0000
const addressAt = (index: number): Address => addressFromBytes(bytesFromBigint(BigInt(accountsFrom + index), 20))

/** Pushes the number of the repetition plus the first argument: a slot or, with the first account's address, an address. */
const place = [...[...push(32), op.calldataload], dup(2), op.add]

type Program = { readonly before?: readonly number[]; readonly body: readonly number[]; readonly most?: number }

function* overPlaces(
  accounts: readonly PricedAccount[],
  { before = [], body, most }: Program,
  more: Partial<Trial> = {},
): Generator<Trial> {
  const account = { address: programAt, code: loop(before, body), balance: 10n ** 30n, ...slotsOfProgram }
  const view = priceView([account, ...accounts])
  for (let start = 0; start < starts; start++) {
    const [from, kind] = start % 2 === 0 ? [accountsFrom + start, 'there'] : [0x7000_0000 + start * 7_919, 'not there']
    const dataFor = (repetitions: number): Uint8Array => concatBytes(word(repetitions), word(from))
    const mostRepetitions = Math.min(most ?? stateSize, start % 2 === 0 ? stateSize - start : stateSize)
    yield { label: `from ${start}, ${kind}`, rules, view, to: programAt, dataFor, mostRepetitions, ...more }
  }
}

const slotsOfProgram: Pick<PricedAccount, 'slots'> = {
  slots: Array.from({ length: stateSize }, (_, i) => [word(accountsFrom + i), word(i + 1)] as const),
}

const smallAccounts = (code?: Uint8Array): PricedAccount[] =>
  Array.from({ length: stateSize }, (_, i) => ({ address: addressAt(i), balance: 1n, ...(code && { code }) }))

/** Contents of a code that may make its translation slow. */
const fillings: readonly (readonly [string, readonly number[]])[] = [
  ['JUMPDEST', [op.jumpdest]],
  ['PUSH1 JUMPI', [...push(0), op.jumpi]],
  ['PUSH32', [op.push32]],
  ['ADD', [op.add]],
  ['STOP', [op.stop]],
  ['GAS', [op.gas]],
  ['JUMPDEST PUSH1', [op.jumpdest, op.push0 + 1]],
  ['PUSH0 DUP1 SWAP1 MSTORE', [op.push0, dup(1), swap(1), op.mstore]],
  ['SLOAD', [op.sload]],
  ['invalid', [op.revert + 1]],
]

/** Codes of a size, different in their last bytes; they begin with STOP. */
function filled(filling: readonly number[], size: number, index: number): Uint8Array {
  const code = Uint8Array.from({ length: size }, (_, i) => filling[i % filling.length] ?? 0)
  code[0] = op.stop
  code.set(bytesFromBigint(BigInt(index), 4), size - 4)
  return code
}

/** More codes than an interpreter caches, so that each is new to it. */
const largeCodes = 600
const maxCodeBytes = 24_576

function* overLargeCodes(body: readonly number[], before: readonly number[] = []): Generator<Trial> {
  for (const [name, filling] of [...fillings, ['random', []] as const]) {
    const bytes = createBytes('codes')
    const codeAt = (i: number): Uint8Array =>
      name === 'random' ? concatBytes(Uint8Array.of(op.stop), bytes(maxCodeBytes - 1)) : filled(filling, maxCodeBytes, i)
    const accounts = Array.from({ length: largeCodes }, (_, i) => ({ address: addressAt(i), code: codeAt(i) }))
    const view = priceView([{ address: programAt, code: loop(before, body) }, ...accounts])
    for (let trial = 0; trial < 92; trial++) {
      const start = (trial * 53) % (largeCodes - 60)
      const dataFor = (repetitions: number): Uint8Array => concatBytes(word(repetitions), word(accountsFrom + start))
      yield { label: `24 KB of ${name}, from ${start}`, rules, view, to: programAt, dataFor, mostRepetitions: 60 }
    }
  }
}

/** Calls the address on the stack with 10,000 gas and no input. */
const calling = (opcode: number, value = 0): number[] => {
  const areas = [...push(0), ...push(0), ...push(0), ...push(0)]
  const hasValue = opcode === op.call || opcode === op.callcode
  return [
    ...areas,
    ...(hasValue ? push(value) : []),
    ...[...push(32), op.calldataload],
    dup(hasValue ? 7 : 6),
    op.add,
    ...push(10_000),
    opcode,
    op.pop,
  ]
}

/** CREATE or CREATE2 of call data from the second argument's word on, as long as the rest of it. */
function* creations(opcode: number): Generator<Trial> {
  const head = 64
  const before = [...push(head), op.calldatasize, op.sub, dup(1), ...push(head), ...push(0), op.calldatacopy]
  const salt = opcode === op.create2 ? [dup(1)] : []
  const body = [...salt, dup(2 + salt.length), ...push(0), ...push(0), opcode, op.pop]
  const view = priceView([{ address: programAt, code: loop(before, body) }])
  const bytes = createBytes('init codes')
  for (let i = 0; i < 1_010; i++) {
    const size = i % 5 === 4 ? 49_152 - i : ((i * 487) % 49_000) + 8
    const [name, filling] = fillings[i % fillings.length] ?? ['STOP', [0]]
    const code = filled(filling, size, i)
    if (i % 11 === 10) code.set(bytes(size - 1), 1)
    // every third returns the largest code of zeros that little gas allows
    if (i % 3 === 2) code.set([...push(size % 200), ...push(0), op.return])
    const dataFor = (repetitions: number): Uint8Array => concatBytes(word(repetitions), word(0), code)
    yield { label: `${size} bytes of ${i % 11 === 10 ? 'random' : name}`, rules, view, to: programAt, dataFor, mostRepetitions: 200 }
  }
}

/** Creates contracts worth something or nothing that destroy themselves for the first account, in initcode of several sizes. */
function* destructions(fork: 'bedrock' | 'azul'): Generator<Trial> {
  const initCode = BigInt(`0x${Buffer.from([op.origin, op.selfdestruct]).toString('hex')}`) << 240n
  const before = [...push(initCode, 32), ...push(0), op.mstore]
  for (let size = 2; size <= 1_001; size++) {
    const body = [...push(size), ...push(0), ...push(size % 3), op.create, op.pop]
    const more = { rules: pricedRules(fork), mostRepetitions: 500 }
    for (const trial of withArguments(loop(before, body), [[]], more))
      yield { ...trial, label: `worth ${size % 3}, initcode of ${size} bytes` }
  }
}

/** A contract that calls itself to the maximal depth, with different sizes of memory. */
function* recursions(): Generator<Trial> {
  const call = [...push(0), ...push(0), ...push(32), ...push(0), ...push(0), op.address, op.gas, op.call, op.pop]
  for (let size = 0; size < 1_000; size++) {
    const memory = [...push(1), ...push(size * 7), op.mstore, ...push(1), ...push(0), op.mstore]
    for (const trial of withArguments(loop(memory, call), [[]], { mostRepetitions: 1 }))
      yield { ...trial, label: `with memory of ${size * 7} bytes` }
  }
}

export function stateSubjects(): readonly Subject[] {
  const small = smallAccounts
  const stopping = Uint8Array.of(op.stop)
  const returning = Uint8Array.from([...push(1_024), ...push(0), op.return])
  const reverting = Uint8Array.from([...push(1_024), ...push(0), op.revert])
  const cold = (name: string, body: readonly number[], accounts: () => PricedAccount[] = small): Subject => ({
    name,
    trials: () => overPlaces(accounts(), { body }),
  })
  const large = (name: string, body: readonly number[]): Subject => ({
    name: `${name}, codes of 24 KB`,
    trials: () => overLargeCodes(body),
  })
  const copyCode = [...push(24_576), ...push(0), ...push(0), ...place.slice(0, 3), dup(5), op.add, op.extcodecopy]
  return [
    cold('BALANCE, cold', [...place, op.balance, op.pop]),
    cold('EXTCODEHASH, cold', [...place, op.extcodehash, op.pop]),
    cold('EXTCODESIZE, cold', [...place, op.extcodesize, op.pop], () => small(stopping)),
    cold('SLOAD, cold', [...place, op.sload, op.pop]),
    cold('SLOAD, cold then warm', [...place, op.sload, op.pop, ...Array.from({ length: 20 }, () => [...place, op.sload, op.pop]).flat()]),
    cold('SSTORE, cold, set', [dup(1), ...place.slice(0, 3), dup(3), op.add, op.sstore]),
    cold('SSTORE, cold, cleared', [...push(0), ...place.slice(0, 3), dup(3), op.add, op.sstore]),
    cold('SSTORE, set and set back', [
      dup(1),
      ...place.slice(0, 3),
      dup(3),
      op.add,
      op.sstore,
      ...push(0),
      ...place.slice(0, 3),
      dup(3),
      op.add,
      op.sstore,
    ]),
    cold('TSTORE', [dup(1), ...place.slice(0, 3), dup(3), op.add, op.tstore]),
    cold('TSTORE, TLOAD', [dup(1), ...place.slice(0, 3), dup(3), op.add, op.tstore, ...place, op.tload, op.pop]),
    large('EXTCODESIZE', [...place, op.extcodesize, op.pop]),
    large('EXTCODECOPY', copyCode),
    large('CALL', calling(op.call)),
    large('DELEGATECALL', calling(op.delegatecall)),
    cold('CALL, cold', calling(op.call), () => small(stopping)),
    cold('CALL, cold, nothing there or no code', calling(op.call)),
    cold('CALL, cold, with value', calling(op.call, 1)),
    cold('STATICCALL, cold', calling(op.staticcall), () => small(returning)),
    cold('CALLCODE, cold', calling(op.callcode), () => small(reverting)),
    ...(['call', 'delegatecall', 'staticcall', 'callcode'] as const).map((name) =>
      cold(`${name.toUpperCase()}, warm`, Array.from({ length: 20 }, () => calling(op[name])).flat(), () => small(returning)),
    ),
    { name: 'CALL of itself', trials: recursions },
    { name: 'CREATE', trials: () => creations(op.create) },
    { name: 'CREATE2', trials: () => creations(op.create2) },
    { name: 'SELFDESTRUCT, bedrock', trials: () => destructions('bedrock') },
    { name: 'SELFDESTRUCT, azul', trials: () => destructions('azul') },
  ]
}
