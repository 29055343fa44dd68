import { Buffer } from 'node:buffer'
import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import { scriptedMemory } from '#test/harness/rpc/memoryPressure'
import type { CallContext } from '../context.ts'
import { type CostClass, createRegistry, methodsOf } from '../registry.ts'
import { emptyTally } from '../server/caller.ts'
import { createDispatcher } from '../server/dispatch.ts'
import { UnreadTotal } from '../server/unread.ts'
import { createGates } from './gates.ts'

const method = methodsOf<CallContext>()
const common = { doc: 'Test.', params: [], result: { doc: 'text', encode: (value: string) => value }, example: { params: [] } } as const
const classes = [
  'instant',
  'point-read',
  'block-read',
  'range-read',
  'execution',
  'trace',
  'submit',
  'submit-sync',
  'engine',
] as const satisfies CostClass[]

/** A dispatcher with a method of each class, named after it; `slow` is a trace that ends when it is cancelled or `finish` is called. */
function desk() {
  const memory = scriptedMemory()
  const slow = Promise.withResolvers<string>()
  let isCancelled = (): boolean => false
  const registry = createRegistry<CallContext>([
    ...classes.map((cost) => method({ ...common, name: cost, cost, run: () => 'done' })),
    method({
      ...{ ...common, name: 'slow', cost: 'trace' },
      run: ({ cancellation }) => {
        isCancelled = () => cancellation.isCancelled
        return slow.promise
      },
    }),
  ])
  const contextOf = (cancellation: CallContext['cancellation']): CallContext => ({ cancellation })
  const deps = { registry, contextOf, gates: createGates(memory), log: silentLog, clock: createManualClock() }
  const dispatcher = createDispatcher(deps, { maxBatch: 10, maxResponseBytes: 10_000 })
  const share = new UnreadTotal({ log: silentLog }, 1_000_000).join('http', () => {}).share()
  const ask = async (name: string): Promise<unknown> => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params: [] }))
    return JSON.parse(String(await dispatcher.answer(body, { isGone: false, share, tally: emptyTally() })))
  }
  return { memory, ask, isCancelled: () => isCancelled(), finish: () => slow.resolve('late') }
}

const busy = (cost: string) => ({
  error: { code: -32009, message: 'Server is busy, try again later', data: { limit: 'memory', class: cost, max: 1_000 } },
})

it.each([
  ['normal', []],
  ['high', ['range-read', 'trace']],
  ['full', ['block-read', 'range-read', 'execution', 'trace']],
] as const)('rpc/limits/gates: at level %s of memory, %j are refused (−32009)', async (level, refused) => {
  const { memory, ask } = desk()
  memory.set(level)
  for (const cost of classes)
    expect(await ask(cost), cost).toMatchObject((refused as readonly string[]).includes(cost) ? busy(cost) : { result: 'done' })
  memory.set('normal')
  for (const cost of classes) expect(await ask(cost), cost).toMatchObject({ result: 'done' })
})

it('rpc/limits/gates: full memory ends running traces, which are cancelled (−32009); high memory does not', async () => {
  const { memory, ask, isCancelled } = desk()
  const answer = ask('slow')
  memory.set('high')
  await settle()
  expect(isCancelled()).toBe(false)
  memory.set('full')
  expect(await answer).toMatchObject(busy('trace'))
  expect(isCancelled()).toBe(true)
})

it('rpc/limits/gates: a trace that ended because of memory leaves its gate when it ends itself', async () => {
  const { memory, ask, finish } = desk()
  const answers = Array.from({ length: 6 }, () => ask('slow')) // four run, two wait
  memory.set('full')
  for (const answer of answers) expect(await answer).toMatchObject(busy('trace'))
  memory.set('normal')
  const waiting = ask('trace')
  finish()
  expect(await waiting).toMatchObject({ result: 'done' })
})

it('rpc/server/unread: ends the largest connections at once when memory is short, and has the whole bound afterwards', () => {
  const memory = scriptedMemory()
  const total = new UnreadTotal({ log: silentLog, memory }, 100)
  const ended: string[] = []
  for (const [name, bytes] of [
    ['small', 10],
    ['large', 60],
    ['middle', 20],
  ] as const)
    total.join('http', () => ended.push(name)).add(bytes)
  memory.set('high')
  expect([ended, total.share]).toEqual([['large'], 0.5])
  memory.set('full')
  expect([ended, total.share]).toEqual([['large', 'middle'], 0.25])
  memory.set('normal')
  total.join('http', () => ended.push('new')).add(90)
  expect([ended, total.share]).toEqual([['large', 'middle'], 1])
})
