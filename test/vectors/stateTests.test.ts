import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createReferenceEvm } from '#evm/referenceEvm'
import { runStateTest } from './runStateTest.ts'
import type { StateTest } from './stateTestCases.ts'

const file = resolve(import.meta.dirname, '../fixtures/state-tests.json.zst')
const tests = JSON.parse(zstdDecompressSync(readFileSync(file)).toString('utf8')) as StateTest[]
const evm = createReferenceEvm()

describe('evm/referenceEvm: the sample of public state tests ends in the recorded state and logs', () => {
  it.each([...Map.groupBy(tests, (test) => dirname(test.file))])(
    '%s',
    (_folder, group) => {
      expect(group.flatMap((test) => runStateTest(evm, test))).toEqual([])
    },
    120_000,
  )

  it('has 500 cases of 81 folders', () => {
    expect(tests.reduce((sum, { cases }) => sum + cases.length, 0)).toBe(500)
    expect(new Set(tests.map((test) => dirname(test.file))).size).toBe(81)
  })
})
