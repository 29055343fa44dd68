import { describe, expect, it } from 'vitest'
import { BatcherWorld } from '#test/harness/batcherWorld'
import { forksTo } from '#test/harness/deriveWorld'

describe('batcher', () => {
  it('what it posts is derived as the same blocks, each posted once', async () => {
    const world = new BatcherWorld(forksTo('jovian'))
    world.sequence()
    await world.start()
    await world.slots(10)
    await world.untilSafe()
    expect(world.world.agrees).toBe(true)
    expect(world.batcher.status()).toMatchObject({ state: 'posting' })
    await world.kill()
  })
})
