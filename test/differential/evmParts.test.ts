import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createWasmEvm } from '#evm/wasmEvm'
import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { addressOf, prague, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { createWorld } from '#test/vectors/stateTestWorld'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const reference = createReferenceEvm()
const wasm = createWasmEvm()

/** Jumps to the target in the calldata. */
const dispatch = [0x5f, 0x35, 0x56]
/** Opcodes that make parts, blocks and constants, and a few others. */
const opcodes = [
  0x5b, 0x5b, 0x5f, 0x60, 0x62, 0x7f, 0x01, 0x03, 0x15, 0x19, 0x1b, 0x0a, 0x14, 0x16, 0x38, 0x50, 0x55, 0x56, 0x57, 0x58, 0x5a, 0x80, 0x81,
  0x90, 0xf1,
]

/** Positions of JUMPDEST bytes, including invalid ones in pushed data. */
const placesOf = (code: readonly number[]): number[] => code.flatMap((opcode, at) => (opcode === 0x5b ? [at] : []))

const anyCode = fc
  .record({
    parts: fc.array(fc.array(fc.constantFrom(...opcodes), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 40 }),
    repeats: fc.constantFrom(1, 1, 3, 30),
  })
  .map(({ parts, repeats }) => [...dispatch, ...Array.from({ length: repeats }, () => parts.flat()).flat()].slice(0, 24_576))

/** A few opcodes repeated often: code with the largest translation. */
const anyFlood = fc
  .array(fc.constantFrom(...opcodes), { minLength: 1, maxLength: 4 })
  .map((unit) => [...dispatch, ...Array.from({ length: Math.ceil(400 / unit.length) }, () => unit).flat()])

type Run = { readonly code: readonly number[]; readonly targets: readonly number[] }

const anyRun: fc.Arbitrary<Run> = fc.oneof(
  fc.record({ code: anyCode, picks: fc.array(fc.nat(), { minLength: 1, maxLength: 25 }) }).map(({ code, picks }) => {
    const places = [...placesOf(code), code.length - 1]
    return { code, targets: picks.map((pick) => places[pick % places.length] as number) }
  }),
  anyFlood.map((code) => ({ code, targets: [code.length - 1, ...placesOf(code).reverse()] })),
)

it('evm/assembly/translate: ends code that is entered in parts and in any order like the reference interpreter', () => {
  fc.assert(
    fc.property(anyRun, ({ code, targets }) => {
      const { view } = createWorld({
        [sender]: testAccount({ balance: '0x64' }),
        [contract]: testAccount({ code: toHex(Uint8Array.from(code)) }),
      })
      using ours = wasm.open(view, testBlock, prague)
      using theirs = reference.open(view, testBlock, prague)
      for (const target of targets) {
        const data = bytesFromBigint(BigInt(target), 32)
        const [ended, expected] = [ours, theirs].map((session) => {
          session.beginTransaction(testTransaction(sender))
          const { kind, gasLeft, output } = session.run({ caller: sender, to: contract, value: 0n, data, gas: 60_000n })
          session.endTransaction()
          return { kind, gasLeft, output }
        })
        expect(ended).toEqual(expected)
      }
      expect(ours.diff().bytes).toEqual(theirs.diff().bytes)
    }),
    { numRuns: Number(process.env['BASALT_RUNS'] ?? 150) },
  )
})
