import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { executeStateless } from '#block/stateless'
import { interpreters } from '#test/harness/evm/interpreters'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'

const blocks = readdirSync(join(sharedDataDir, 'blocks'))

it.each(interpreters.flatMap(({ name, create }) => blocks.map((block) => ({ name, create, block }))))(
  'block/stateless: executes $block to its hash, $name',
  ({ create, block }) => {
    const result = executeStateless(create(), readSharedJson(`blocks/${block}`))
    expect(result.hash).toBe(result.expected)
  },
)
