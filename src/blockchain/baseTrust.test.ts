import { expect, it } from 'vitest'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { parseAddress, parseHash, zeroHash } from '#types/ids'
import { encodeTrustRecord, grades, meetsGrade, type TrustRecord } from '#types/trust'
import { putBaseTrust, readBaseTrust } from './baseTrust.ts'
import { putGenesisId } from './chainStore.ts'

const hash = parseHash(`0x${'12'.repeat(32)}`)
const record: TrustRecord = {
  block: { number: 60_000_590, hash },
  grade: 'attested',
  l1: { number: 24_000_000, hash: zeroHash },
  game: parseAddress(`0x${'61'.repeat(20)}`),
}

it('blockchain/baseTrust: a chain without a record begins with genesis, which is derived', () => {
  const kv = createMemoryKv()
  kv.write((tx) => putGenesisId(tx, { number: 0, hash }))
  using reader = kv.snapshot()
  expect(readBaseTrust(reader)).toEqual({ block: { number: 0, hash }, grade: 'derived' })
})

it.each([record, { block: record.block, grade: 'given' } satisfies TrustRecord])(
  'blockchain/baseTrust: reads the record that was written',
  (kept) => {
    const kv = createMemoryKv()
    kv.write((tx) => putBaseTrust(tx, kept))
    using reader = kv.snapshot()
    expect(readBaseTrust(reader)).toEqual(kept)
  },
)

it('types/trust: refuses to decode a record with an unknown grade', () => {
  const kv = createMemoryKv()
  kv.write((tx) => putBaseTrust(tx, { ...record, grade: 'believed' as TrustRecord['grade'] }))
  using reader = kv.snapshot()
  expect(() => readBaseTrust(reader)).toThrow('grade is unknown')
  expect(new TextDecoder().decode(encodeTrustRecord(record))).toContain('"grade":"attested"')
})

it('types/trust: a grade meets itself and each weaker one', () => {
  for (const [i, grade] of grades.entries())
    expect(grades.filter((demanded) => meetsGrade(grade, demanded))).toEqual(grades.slice(0, i + 1))
})
