import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { runCase } from '#test/harness/evm/case'
import { caseOfFile, type EvmCaseFile } from '#test/harness/evm/caseFile'
import { interpreters } from '#test/harness/evm/interpreters'
import { differenceFromOracle, differenceOfRuns } from '../fuzz/evm/compare.ts'

/** Minimised findings of `npm run fuzz:evm`, and further cases that every run must include. */
const folder = resolve(import.meta.dirname, '../fixtures/evm-cases')
const files = readdirSync(folder).sort()
const evms = interpreters.map(({ name, create }) => ({ name, evm: create() }))

it.each(files)('evm: ends %s on every interpreter as @ethereumjs/evm does, with and without interruption', async (name) => {
  const file = JSON.parse(readFileSync(resolve(folder, name), 'utf8')) as EvmCaseFile
  const given = caseOfFile(file)
  const [first, ...others] = evms.map(({ evm }) => runCase(evm, given))
  if (!first) throw new Error('no interpreter')
  expect(await differenceFromOracle(given, first), file.about).toBeUndefined()
  const interrupted = evms.map(({ evm }) => runCase(evm, given, 'missing'))
  for (const other of [...others, ...interrupted]) expect(differenceOfRuns(given, first, other), file.about).toBeUndefined()
})
