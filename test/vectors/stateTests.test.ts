import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { interpreters } from '#test/harness/evm/interpreters'
import { runStateTest } from './runStateTest.ts'
import type { StateTest } from './stateTestCases.ts'

const file = resolve(import.meta.dirname, '../fixtures/state-tests.json.zst')
const tests = JSON.parse(zstdDecompressSync(readFileSync(file)).toString('utf8')) as StateTest[]
const evms = interpreters.map(({ name, create }) => ({ name, evm: create() }))

describe('evm: ends the sample of public state tests in the recorded state and logs on each interpreter', () => {
  it.each([...Map.groupBy(tests, (test) => dirname(test.file))])(
    '%s',
    (_folder, group) => {
      expect(group.flatMap((test) => runStateTest(evms, test))).toEqual([])
    },
    120_000,
  )

  it('has 500 cases of 81 folders and every fork, including invalid transactions of Osaka', () => {
    const cases = tests.flatMap((test) => test.cases)
    expect(Map.groupBy(cases, ({ fork }) => fork).size).toBe(5)
    expect(cases.filter(({ fork, root }) => fork === 'osaka' && root === null).length).toBeGreaterThan(20)
    expect(cases).toHaveLength(500)
    expect(new Set(tests.map((test) => dirname(test.file))).size).toBe(81)
  })
})
