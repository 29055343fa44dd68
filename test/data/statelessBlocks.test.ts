import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createReferenceEvm } from '#evm/referenceEvm'
import { executeStateless } from '#execution/stateless'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'

it.each(readdirSync(join(sharedDataDir, 'blocks')))('execution/stateless: %s executes to its hash', (name) => {
  const result = executeStateless(createReferenceEvm(), readSharedJson(`blocks/${name}`))
  expect(result.hash).toBe(result.expected)
})
