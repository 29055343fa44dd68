import { describe, expect, it } from 'vitest'
import { evmForks } from '#chainspec/evmRules'
import { type CaseAccount, type EvmCase, type MessageEnd, runCase } from '#test/harness/evm/case'
import { addressOf } from '#test/harness/evm/host'
import { interpreters } from '#test/harness/evm/interpreters'
import { Assembler } from '../fuzz/evm/assembler.ts'
import { differenceFromOracle, differenceOfRuns } from '../fuzz/evm/compare.ts'
import { type Opcode, opcodes, opcodesOf } from '../fuzz/evm/opcodes.ts'

const sender = addressOf(0x11)
const caller = addressOf(0x22)
const contract = addressOf(0x33)
const plenty = 200_000n
const maxStack = 1_024
const evms = interpreters.map(({ create }) => create())

/** Opcodes that end a frame. */
const endsFrame = ['STOP', 'RETURN', 'REVERT', 'SELFDESTRUCT']

/** Operands with which an opcode has an effect and a cost, the top of the stack first. Other opcodes use 1 for each operand. */
const operands: Readonly<Record<string, readonly number[]>> = {
  RETURN: [0, 32],
  REVERT: [0, 32],
  RETURNDATACOPY: [0, 0, 0],
  CALL: [0, 0x700, 0, 0, 32, 0, 32],
  CALLCODE: [0, 0x700, 0, 0, 32, 0, 32],
  DELEGATECALL: [0, 0x700, 0, 32, 0, 32],
  STATICCALL: [0, 0x700, 0, 32, 0, 32],
  CREATE: [0, 0, 0],
  CREATE2: [0, 0, 0, 0],
}
/** Operands for static calls: a CALL with value, which a static call forbids. */
const staticOperands: Readonly<Record<string, readonly number[]>> = { CALL: [0, 0x700, 1, 0, 0, 0, 0] }

type Parts = { readonly below?: number; readonly words?: number; readonly table?: typeof operands }

/** Code of an opcode with its operands above other words, and the gas of the code after it. */
function codeFor(opcode: Opcode, { below = 0, words = opcode.takes, table = operands }: Parts = {}): Uint8Array {
  const asm = new Assembler()
  const target = asm.label()
  for (let i = 0; i < below; i++) asm.op(0x30)
  for (let i = words - 1; i >= 0; i--) {
    if (opcode.name.startsWith('JUMP') && i === 0) asm.pushLabel(target)
    else asm.push(table[opcode.name]?.[i] ?? 1)
  }
  asm.op(opcode.code)
  if (opcode.name.startsWith('JUMP') && opcode.takes > 0) asm.place(target)
  if (opcode.name.startsWith('PUSH')) asm.op(...new Uint8Array(Number(opcode.name.slice(4))))
  return asm.finish()
}
const gasAfter = ({ name, takes }: Opcode): bigint => (name.startsWith('JUMP') && takes > 0 ? 1n : 0n)

const account = (code: Uint8Array): CaseAccount => ({ nonce: 1n, balance: 100n, code, storage: new Map() })

function caseFor(code: Uint8Array, gas: bigint, fork: EvmCase['fork'] = 'osaka'): EvmCase {
  const accounts = new Map([
    [sender, account(new Uint8Array(0))],
    [contract, account(code)],
  ])
  return { fork, accounts, messages: [{ from: sender, to: contract, value: 0n, data: new Uint8Array(0), gas }] }
}

/** Result of a case's last message, on which all interpreters and the oracle must agree. */
async function endOf(given: EvmCase): Promise<MessageEnd> {
  const [first, ...others] = evms.map((evm) => runCase(evm, given))
  if (!first) throw new Error('no interpreter')
  for (const other of others) expect(differenceOfRuns(given, first, other)).toBeUndefined()
  expect(await differenceFromOracle(given, first)).toBeUndefined()
  const end = first.messages.at(-1)
  if (!end) throw new Error('no message')
  return end
}

/** Code that calls the contract with STATICCALL and returns the success flag. */
function staticCaller(): Uint8Array {
  const asm = new Assembler()
  for (const word of [0, 0, 0, 0]) asm.push(word)
  asm.push(BigInt(contract))
  asm.push(plenty)
  asm.op(0xfa, 0x60, 0, 0x52, 0x60, 32, 0x60, 0, 0xf3)
  return asm.finish()
}

describe.each(opcodes.map((opcode) => [opcode.name, opcode] as const))('evm: %s', (name, opcode) => {
  const goodEnd = name === 'REVERT' ? 'revert' : 'success'

  it('succeeds with exactly its gas cost, and halts with one less', async () => {
    const { kind, gasUsed } = await endOf(caseFor(codeFor(opcode), plenty))
    expect(kind).toBe(goodEnd)
    expect(await endOf(caseFor(codeFor(opcode), gasUsed))).toMatchObject({ kind: goodEnd, gasUsed })
    const tooLittle = gasUsed - gasAfter(opcode) - 1n
    if (name !== 'STOP') expect(await endOf(caseFor(codeFor(opcode), tooLittle))).toMatchObject({ kind: 'halt', gasUsed: tooLittle })
  })

  const tooFewWords = opcode.takes > 0 ? [opcode.takes - 1] : []
  it.each(tooFewWords)('halts with one word too few: %i', async (words) => {
    expect((await endOf(caseFor(codeFor(opcode, { words }), plenty))).kind).toBe('halt')
  })

  it('halts on a full stack only if it adds words', async () => {
    const full = codeFor(opcode, { below: maxStack - opcode.takes })
    expect((await endOf(caseFor(full, plenty))).kind).toBe(opcode.gives > opcode.takes ? 'halt' : goodEnd)
    const oneLess = codeFor(opcode, { below: maxStack - Math.max(opcode.takes, opcode.gives) })
    expect((await endOf(caseFor(oneLess, plenty))).kind).toBe(goodEnd)
  })

  it('halts in a static call only if it changes state', async () => {
    const given = caseFor(codeFor(opcode, { table: { ...operands, ...staticOperands } }), plenty)
    const accounts = new Map([...given.accounts, [caller, account(staticCaller())]])
    const messages = given.messages.map((message) => ({ ...message, to: caller, gas: 2n * plenty }))
    const end = await endOf({ ...given, accounts, messages })
    expect(BigInt(end.output)).toBe(opcode.writes || name === 'REVERT' ? 0n : 1n)
  })
})

describe.each(evmForks)('evm: under %s', (fork) => {
  it('halts with all gas on an undefined opcode', async () => {
    const known = new Set(opcodesOf(fork).map(({ code }) => code))
    const unknown = Array.from({ length: 256 }, (_, code) => code).filter((code) => !known.has(code))
    expect(unknown).toContain(0xfe)
    for (const code of unknown) {
      const given = caseFor(Uint8Array.of(...new Uint8Array(8).fill(0x30), code), plenty, fork)
      expect(await endOf(given), `opcode ${code.toString(16)}`).toMatchObject({ kind: 'halt', gasUsed: plenty })
    }
  })

  it('executes each defined opcode with the same end under every fork', async () => {
    for (const opcode of opcodesOf(fork)) {
      const { kind } = await endOf(caseFor(codeFor(opcode), plenty, fork))
      expect(kind, opcode.name).toBe(opcode.name === 'REVERT' ? 'revert' : 'success')
    }
  })
})

it('evm: ends a frame at each opcode that ends frames', async () => {
  for (const name of endsFrame) {
    const opcode = opcodes.find((each) => each.name === name)
    if (!opcode) throw new Error(name)
    const { kind } = await endOf(caseFor(Uint8Array.of(...codeFor(opcode), 0xfe), plenty))
    expect(kind, name).toBe(name === 'REVERT' ? 'revert' : 'success')
  }
})
