import { describe, expect, it } from 'vitest'
import type { Address } from '#types/ids'
import { ctxReturnSize, returnBase, stepsBase } from '../assembly/layout.ts'
import type { TraceStep } from '../traceEvents.ts'
import { createTracer } from '../tracing.ts'
import { frameEndAt, frameStartAt, StepRecords, traceSettings } from './stepRecords.ts'

/** Linear memory only as long as a test needs; offsets are those of the full memory. */
function memoryUpTo(end: number): DataView {
  return new DataView(new ArrayBuffer(end))
}

/** Writes a record field by field according to the layout. @returns the offset of the next record */
function putStep(memory: DataView, at: number, { pc, op, words }: { pc: number; op: number; words: readonly bigint[] }): number {
  memory.setUint32(at, pc, true)
  memory.setUint16(at + 4, op, true)
  memory.setUint16(at + 6, 3, true)
  memory.setBigUint64(at + 8, 5_000_000_000n, true)
  memory.setBigInt64(at + 16, -4_800n, true)
  memory.setUint32(at + 24, 1_000, true)
  memory.setUint32(at + 28, 64, true)
  memory.setUint32(at + 32, 3, true)
  memory.setUint32(at + 36, words.length, true)
  memory.setUint32(at + 40, 0x400, true)
  for (const [i, word] of words.entries()) {
    for (let limb = 0; limb < 4; limb++) {
      memory.setBigUint64(at + 48 + 32 * i + 8 * limb, (word >> BigInt(64 * limb)) & 0xffff_ffff_ffff_ffffn, true)
    }
  }
  return at + 48 + 32 * words.length
}

describe('evm/wasm/stepRecords', () => {
  const big = 0x1111_2222_3333_4444_5555_6666_7777_8888_9999_aaaa_bbbb_cccc_dddd_eeee_ffff_0001n

  it('emits each record in order, with its words', () => {
    const memory = memoryUpTo(stepsBase + 0x1000)
    const second = putStep(memory, stepsBase, { pc: 7, op: 0x01, words: [big, 2n] })
    const top = putStep(memory, second, { pc: 8, op: 0x00, words: [] })
    const told: unknown[] = []
    const onStep = (step: TraceStep): void => {
      const { pc, op, depth, gas, refund, stackSize, staticCost } = step
      told.push({ pc, op, depth, gas, refund, stackSize, staticCost, words: pc === 7 ? [step.stack(0), step.stack(1)] : [] })
    }
    new StepRecords().drain(memory, stepsBase, top, { onStep })
    const common = { depth: 3, gas: 5_000_000_000, refund: -4_800, stackSize: 1_000, staticCost: 3 }
    expect(told).toEqual([
      { pc: 7, op: 1, ...common, words: [big, 2n] },
      { pc: 8, op: 0, ...common, words: [] },
    ])
  })

  it.each([0n, 1n, 0x3ffn, 0x400n, 0xffff_ffffn, 0x1_0000_0000n, 0x1_0000_0001n, 2n ** 64n, big, 2n ** 255n, 2n ** 256n - 1n, 10n ** 40n])(
    'returns the word %s equally as a number and as hex',
    (word) => {
      const memory = memoryUpTo(stepsBase + 0x100)
      const top = putStep(memory, stepsBase, { pc: 0, op: 0, words: [word] })
      const onStep = (step: TraceStep): void => {
        expect([step.stack(0), step.stackHex(0)]).toEqual([word, `0x${word.toString(16)}`])
      }
      new StepRecords().drain(memory, stepsBase, top, { onStep })
      expect.assertions(1)
    },
  )

  it.each([-1, 1])('word %i of a step that holds one word is an error of the tracer', (below) => {
    const memory = memoryUpTo(stepsBase + 0x100)
    const top = putStep(memory, stepsBase, { pc: 0, op: 0, words: [1n] })
    expect(() => new StepRecords().drain(memory, stepsBase, top, { onStep: (step) => void step.stack(below) })).toThrow(RangeError)
  })

  it('truncated records are an error of the interpreter and are not emitted', () => {
    const memory = memoryUpTo(stepsBase + 0x100)
    const top = putStep(memory, stepsBase, { pc: 0, op: 0, words: [1n] })
    const onStep = (): void => {
      throw new Error('told')
    }
    expect(() => new StepRecords().drain(memory, stepsBase, top - 32, { onStep })).toThrow('cut off')
  })

  it('reads memory and return data in place', () => {
    const memory = memoryUpTo(stepsBase + 0x100)
    const top = putStep(memory, stepsBase, { pc: 0, op: 0, words: [] })
    memory.setUint8(0x400 + 63, 5)
    memory.setUint32(ctxReturnSize, 2, true)
    memory.setUint16(returnBase, 0x0708)
    const onStep = (step: TraceStep): void => {
      const found = step.memory()
      expect([found.length, found[63], step.returnData()]).toEqual([64, 5, Uint8Array.of(7, 8)])
    }
    new StepRecords().drain(memory, stepsBase, top, { onStep })
    expect.assertions(1)
  })

  it('reads the start and end of a frame', () => {
    const memory = memoryUpTo(0x400)
    const put = (at: number, word: bigint): void => memory.setBigUint64(at, word, true)
    memory.setUint32(0x100, 5, true)
    memory.setUint32(0x104, 2, true)
    put(0x108, 77n)
    for (const [at, address] of [[0x110, 0xaan], [0x130, 0xbbn], [0x150, 0xbbn], [0x170, 9n]] as const) put(at, address) // biome-ignore format: a table
    memory.setUint32(0x190, 0x300, true)
    memory.setUint32(0x194, 2, true)
    memory.setUint16(0x300, 0x6000)
    const address = (byte: string): Address => `0x${byte.padStart(40, '0')}` as Address
    expect(frameStartAt(memory, 0x100, () => true)).toEqual({
      ...{ kind: 'CREATE2', depth: 2, from: address('aa'), to: address('bb'), self: address('bb'), value: 9n, gas: 77 },
      ...{ input: Uint8Array.of(0x60, 0x00), isPrecompile: false },
    })
    memory.setUint32(0x100, 3, true)
    expect(frameStartAt(memory, 0x100, () => true)).toMatchObject({ kind: 'STATICCALL', value: undefined, isPrecompile: true })
    memory.setUint32(0x100, 7, true)
    expect(() => frameStartAt(memory, 0x100, () => true)).toThrow(RangeError)

    memory.setUint32(0x200, 6, true)
    memory.setUint32(0x204, 1, true)
    put(0x208, 500n)
    memory.setUint32(0x210, 0x300, true)
    memory.setUint32(0x214, 1, true)
    memory.setUint32(0x218, 0xff, true)
    const end = frameEndAt(memory, 0x200, (ended) => (ended === 6 ? 'invalid opcode' : 'success'))
    expect(end).toEqual({ depth: 1, gasUsed: 500, output: Uint8Array.of(0x60), end: 'invalid opcode', opcode: 0xfe })
  })

  it.each([
    ['callTracer', { tracer: 'callTracer' }, { mode: 2, words: 0, ops: 0 }],
    ['noopTracer', { tracer: 'noopTracer' }, { mode: 0, words: 0, ops: 0 }],
    ['struct logs', {}, { mode: 3, words: 1_024, ops: 256 }],
    ['struct logs with memory', { enableMemory: true, disableStack: true }, { mode: 7, words: 2, ops: 256 }],
    ['prestateTracer', { tracer: 'prestateTracer' }, { mode: 3, words: 2, ops: 11 }],
  ])('%s requests no more than it needs', (_name, request, expected) => {
    const { mode, words, ops } = traceSettings(createTracer(request).needs)
    const count = [...ops].reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
    expect({ mode, words, ops: count }).toEqual(expected)
  })

  it('the bitmap has exactly the requested opcodes', () => {
    const steps = { ops: [0x54, 0xff], stackWords: 1, memory: false, returnData: false }
    const { ops } = traceSettings({ frames: true, logs: false, accounts: false, steps })
    expect([ops[0x54 >> 3], ops[0xff >> 3]]).toEqual([1 << 4, 1 << 7])
  })
})
