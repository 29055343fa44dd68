import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { VersionedRows } from './versionedRows.ts'

const keyOf = (n: number): Uint8Array => keccak256(Uint8Array.of(n & 255, n >> 8))

type Key = { readonly key: number; readonly second: number | null }
const halves = ({ key, second }: Key): readonly [Uint8Array, Uint8Array?] => (second === null ? [keyOf(key)] : [keyOf(key), keyOf(second)])
const nameOf = ({ key, second }: Key): string => `${key} ${second}`

it('simulation/replay/versionedRows: returns the last version of a row before any step', () => {
  const write = fc.record({ key: fc.nat(4), second: fc.option(fc.nat(2)), value: fc.nat(1_000), isNextStep: fc.boolean() })
  fc.assert(
    fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
      const rows = new VersionedRows(1)
      const told: { readonly name: string; readonly step: number; readonly value: number }[] = []
      let step = 0
      for (const { isNextStep, value, ...key } of writes) {
        step += isNextStep ? 1 : 0
        rows.setWord(rows.push(rows.rowOf(...halves(key)), step), 0, value)
        told.push({ name: nameOf(key), step, value })
      }
      for (const key of writes) {
        const row = rows.find(...halves(key))
        for (let steps = 0; steps <= step + 1; steps++) {
          const last = told.findLast(({ name, step: of }) => name === nameOf(key) && of < steps)
          const version = rows.versionBefore(row, steps)
          expect(version === 0 ? undefined : [rows.stepOf(version), rows.word(version, 0)]).toEqual(last && [last.step, last.value])
        }
      }
    }),
    { numRuns: 60 },
  )
})

it('simulation/replay/versionedRows: finds each of thousands of rows by its key only', () => {
  const rows = new VersionedRows(8)
  for (let n = 0; n < 3_000; n++) rows.bytes(rows.push(rows.rowOf(keyOf(n), keyOf(n + 1)), 0), 0, 32).set(keyOf(n))
  const found = Array.from({ length: 3_000 }, (_, n) => rows.find(keyOf(n), keyOf(n + 1)))
  expect(new Set(found).size).toBe(3_000)
  expect(found.every((row, n) => Buffer.compare(rows.bytes(rows.versionBefore(row, 1), 0, 32), keyOf(n)) === 0)).toBe(true)
  expect(rows.find(keyOf(1), keyOf(1))).toBe(0)
  expect(rows.find(keyOf(1))).toBe(0)
})
