import { Buffer } from 'node:buffer'
import { expect, it, vi } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock, settle } from '#test/harness/clock'
import type { CallContext } from '../context.ts'
import { createRegistry, methodsOf, type ParamCodec, param } from '../registry.ts'
import { emptyTally } from './caller.ts'
import { createDispatcher } from './dispatch.ts'
import { UnreadTotal } from './unread.ts'

const text: ParamCodec<string> = { doc: 'text', parse: String }
const result = { doc: 'text', encode: (value: string) => value }

/** Registry in which submitted calls are answered on demand, and reads at once. */
function desk() {
  const begun: string[] = []
  const answers = new Map<string, (value: string) => void>()
  const method = methodsOf<CallContext>()
  const common = { doc: 'Test.', params: [param('what', text)], result, example: { params: [] } } as const
  const registry = createRegistry<CallContext>([
    method({
      ...{ ...common, name: 'submit', cost: 'submit' },
      run: (_context, what) => {
        begun.push(what)
        return new Promise<string>((resolve) => answers.set(what, resolve))
      },
    }),
    method({
      ...{ ...common, name: 'read', cost: 'instant' },
      run: (_context, what) => {
        begun.push(what)
        return what
      },
    }),
  ])
  const deps = {
    registry,
    contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }),
    log: silentLog,
    clock: createManualClock(),
  }
  return { begun, answers, dispatcher: createDispatcher(deps, { maxBatch: 10, maxResponseBytes: 10_000 }) }
}
const callerOf = (maxBytes = 1_000_000) => {
  const unread = new UnreadTotal({ log: silentLog }, maxBytes).join('http', () => {})
  const share = unread.share()
  return { unread, share, caller: { isGone: false, share, tally: emptyTally() } }
}
const bytesOf = (body: unknown): Buffer => Buffer.from(JSON.stringify(body))
const call = (id: number, method: string, what: string) => ({ jsonrpc: '2.0', id, method, params: [what] })

it('rpc/server/dispatch: starts submissions of a batch together, then runs a read after all of them, and answers in order', async () => {
  const { begun, answers, dispatcher } = desk()
  const batch = [call(1, 'submit', 'a'), call(2, 'submit', 'b'), call(3, 'read', 'c'), call(4, 'submit', 'd')]
  const answered = dispatcher.answer(bytesOf(batch), callerOf().caller)
  await settle()
  expect(begun).toEqual(['a', 'b'])
  answers.get('b')?.('second')
  await settle()
  expect(begun).toEqual(['a', 'b'])
  answers.get('a')?.('first')
  await settle()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  answers.get('d')?.('last')
  const ids = (JSON.parse(String(await answered)) as { id: number; result: string }[]).map(({ id, result: of }) => [id, of])
  expect(ids).toEqual([
    [1, 'first'],
    [2, 'second'],
    [3, 'c'],
    [4, 'last'],
  ])
})

it('rpc/server/dispatch: counts answers to submissions against the size limit of a batch', async () => {
  const { answers, dispatcher } = desk()
  const { caller, share } = callerOf()
  const answered = dispatcher.answer(bytesOf([call(1, 'submit', 'a'), call(2, 'submit', 'b')]), caller)
  await settle()
  answers.get('a')?.('x'.repeat(6_000))
  answers.get('b')?.('x'.repeat(6_000))
  expect(JSON.parse(String(await answered))).toMatchObject({ id: null, error: { code: -32008 } })
  expect(share.takeKept()).toEqual([])
})

it('rpc/server/dispatch: counts answers once they are made, and releases those of a batch when its connection closes', async () => {
  const { answers, dispatcher } = desk()
  const { unread, caller, share } = callerOf()
  const answered = dispatcher.answer(bytesOf([call(1, 'read', 'x'.repeat(1_000)), call(2, 'submit', 'b')]), caller)
  await settle()
  const [kept = ''] = share.takeKept()
  expect(kept).toContain('xxx')
  expect(unread.bytes).toBe(kept.length)
  share.keep(kept)
  unread[Symbol.dispose]()
  caller.isGone = true
  expect(share.takeKept()).toEqual([])
  answers.get('b')?.('late')
  await answered
  expect([share.takeKept(), unread.bytes]).toEqual([[], kept.length])
})

it('rpc/server/dispatch: does not count notifications and their results', async () => {
  const { dispatcher } = desk()
  const { unread, caller } = callerOf()
  const notification = { jsonrpc: '2.0', method: 'read', params: ['x'] }
  expect(await dispatcher.answer(bytesOf([notification, notification]), caller)).toBeUndefined()
  expect(unread.bytes).toBe(0)
})

it('rpc/server/dispatch: copies a result that is already JSON text into the answer unchanged', async () => {
  const method = methodsOf<CallContext>()
  const written = method({
    ...{ name: 'read', doc: 'Test.', params: [], cost: 'instant', example: { params: [] } },
    result: { doc: 'a list', text: () => '[1,{"a":null}]' },
    run: () => undefined,
  })
  const deps = { registry: createRegistry<CallContext>([written]), log: silentLog, clock: createManualClock() }
  const dispatcher = createDispatcher(
    { ...deps, contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }) },
    { maxBatch: 10, maxResponseBytes: 10_000 },
  )
  const answer = await dispatcher.answer(bytesOf({ jsonrpc: '2.0', id: '"', method: 'read' }), callerOf().caller)
  expect(JSON.parse(String(answer))).toEqual({ jsonrpc: '2.0', id: '"', result: [1, { a: null }] })
})

it('rpc/server/dispatch: returns the id as sent, and refuses ids that cannot be sent back', async () => {
  const { dispatcher } = desk()
  const ask = async (id: string) => {
    const body = Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"read","params":["x"]}`)
    return JSON.parse(String(await dispatcher.answer(body, callerOf().caller))) as Record<string, unknown>
  }
  for (const id of [0, -1, 1.5, 1e21, 2 ** 53, '', 'a"b\\', '\u2028', null])
    expect(await ask(JSON.stringify(id))).toMatchObject({ id, result: 'x' })
  for (const id of ['1e999', '-1e999', 'true', '[]', '{"text":"7"}'])
    expect(await ask(id)).toMatchObject({ id: null, error: { code: -32600 } })
})

it.each(['9007199254740993', '-9007199254740993', '18446744073709551615', `1${'0'.repeat(60)}7`, '1e21'])(
  'rpc/server/dispatch: returns the id %s digit by digit, in results, errors and batches',
  async (id) => {
    const { dispatcher } = desk()
    const ask = async (body: string) => String(await dispatcher.answer(Buffer.from(body), callerOf().caller))
    const request = (method: string) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":["x",{"id":1}]}`
    const found = `{"jsonrpc":"2.0","id":${id},"result":"x"}`
    const refused = `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`
    expect([await ask(request('read')), await ask(request('none'))]).toEqual([found, refused])
    const batch = `[${request('none')},{"jsonrpc":"2.0","id":"7","method":"read","params":["y"]},${request('read')}]`
    expect(await ask(batch)).toBe(`[${refused},{"jsonrpc":"2.0","id":"7","result":"y"},${found}]`)
  },
)

it('rpc/server/dispatch: refuses an id beyond 2^53 in a message of more than 4,096 values, instead of changing it', async () => {
  const { dispatcher } = desk()
  const body = (more: string) => `{"jsonrpc":"2.0","id":9007199254740993,"method":"read","params":["x","${'x'.repeat(100_000)}"${more}]}`
  const ask = async (more: string) => String(await dispatcher.answer(Buffer.from(body(more)), callerOf().caller))
  expect(await ask(',1'.repeat(4_000))).toBe('{"jsonrpc":"2.0","id":9007199254740993,"result":"x"}')
  expect(JSON.parse(await ask(',1'.repeat(4_096)))).toMatchObject({ id: null, error: { code: -32600 } })
})

it.each([
  ['15 MB of lists', Buffer.alloc(15_000_000, '[')],
  ['a call that nests', bytesOf({ ...call(1, 'read', 'x'), more: JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as unknown })],
  ['15 MB of objects', Buffer.from(`[${'{},'.repeat(4_999_999)}1]`)],
])('rpc/server/dispatch: refuses %s before parsing', async (_what, body) => {
  const data = 'nested deeper than 128 levels, or more than 1000000 values'
  const parse = vi.spyOn(JSON, 'parse')
  const answer = String(await desk().dispatcher.answer(body, callerOf().caller))
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
  expect(JSON.parse(answer)).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error', data } })
})

it('rpc/server/dispatch: charges for the bytes of a body before parsing, and for a body that is not JSON', async () => {
  const taken: number[] = []
  const bucket = {
    take(units: number) {
      taken.push(units)
      return units > 100 ? { limit: 1, remaining: 0, retryAfterMs: 1_000 } : undefined
    },
  }
  const ask = async (body: Buffer) => JSON.parse(String(await desk().dispatcher.answer(body, { ...callerOf().caller, bucket }))) as unknown
  expect(await ask(Buffer.alloc(15_000_000, '['))).toMatchObject({ id: null, error: { code: -32016 } })
  expect(await ask(Buffer.from('{'))).toMatchObject({ error: { code: -32700 } })
  expect(await ask(bytesOf([]))).toMatchObject({ error: { code: -32600 } })
  expect(await ask(bytesOf(call(1, 'read', 'x'.repeat(131_072))))).toMatchObject({ error: { code: -32008 } })
  expect(await ask(bytesOf(call(1, 'read', 'x')))).toMatchObject({ result: 'x' })
  expect(taken).toEqual([228, 1, 1, 2, 1, 1])
})
