import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { L1Block } from '#derive/ports'
import { createL1Chain } from '#test/harness/l1/chain'
import { createReadAhead } from './readAhead.ts'

const chain = createL1Chain({ chainId: 900, genesisTimeSec: 1_700_000_000, blockTimeSec: 12 })
for (let number = 1; number < 10; number++) chain.mine()

type Asked = {
  readonly number: number
  readonly signal: AbortSignal
  resolve(block: L1Block | undefined): void
  reject(error: Error): void
}

function scripted() {
  const asked: Asked[] = []
  const ahead = createReadAhead((number, signal) => new Promise((resolve, reject) => asked.push({ number, signal, resolve, reject })))
  return { asked, ahead, numbers: () => asked.map(({ number }) => number) }
}
const { signal } = new AbortController()

describe('l1/readAhead', () => {
  it('fetches each number once, and aborts numbers that are no longer wanted', () => {
    const { asked, ahead, numbers } = scripted()
    ahead.want(1, 3)
    ahead.want(2, 4)
    expect(numbers()).toEqual([1, 2, 3, 4])
    expect(asked.map((one) => one.signal.aborted)).toEqual([true, false, false, false])
    expect(ahead.take(1, signal)).toBeUndefined()
    ahead.clear()
    expect(asked.every((one) => one.signal.aborted)).toBe(true)
  })

  it('returns an answer once, and removes its listener from the signal', async () => {
    const { asked, ahead } = scripted()
    ahead.want(1, 1)
    const answer = ahead.take(1, signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    asked[0]?.resolve(chain.blocks[1])
    expect(await answer).toBe(chain.blocks[1])
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(ahead.take(1, signal)).toBeUndefined()
  })

  it.each([
    ['a failure', (one: Asked) => one.reject(new Error('no'))],
    ['a block that does not exist yet', (one: Asked) => one.resolve(undefined)],
  ])('does not keep %s', async (_what, end) => {
    const { asked, ahead, numbers } = scripted()
    ahead.want(1, 1)
    asked.forEach(end)
    await new Promise(setImmediate)
    expect(ahead.take(1, signal)).toBeUndefined()
    ahead.want(1, 1)
    expect(numbers()).toEqual([1, 1])
  })

  it("the caller's signal aborts a taken fetch", () => {
    const { asked, ahead } = scripted()
    const stop = new AbortController()
    ahead.want(1, 1)
    const answer = ahead.take(1, stop.signal)?.catch(() => 'ended')
    stop.abort()
    expect(asked[0]?.signal.aborted).toBe(true)
    asked[0]?.reject(new Error('aborted'))
    return expect(answer).resolves.toBe('ended')
  })

  it('a signal that was aborted before aborts a taken fetch at once', () => {
    const { asked, ahead } = scripted()
    ahead.want(1, 1)
    ahead.take(1, AbortSignal.abort())?.catch(() => {})
    expect(asked[0]?.signal.aborted).toBe(true)
  })
})
