import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { account, fakeChain, fakeContext, fakePool, fakeSequencer, signedTransaction, topic } from '#test/harness/rpc/fakes'
import { emptyRoot, type Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { ethRegistry } from '../../../methods.ts'

const slot = topic(5)
const chain = fakeChain([[], [], []], { [account(1)]: { slots: { [slot]: 7n } } })
const headSec = chain.blocks[2]?.block.header.timestamp ?? 0
const raw = signedTransaction(3)

function setUp(): { readonly given: unknown[]; ask: (condition: unknown) => Promise<unknown> } {
  const given: unknown[] = []
  const sequencer = fakeSequencer({
    send: async (_raw, condition) => {
      given.push(condition)
      return { kind: 'result', result: hashTransaction(raw) }
    },
  })
  const context = { ...fakeContext(chain), sequencer }
  return { given, ask: async (condition) => ethRegistry.get('eth_sendRawTransactionConditional')?.call(context, [toHex(raw), condition]) }
}

const slots = (value: Hash) => ({ knownAccounts: { [account(1)]: { [slot]: value } } })
const hex = (value: number): string => `0x${value.toString(16)}`

it.each([
  ['nothing', {}],
  ['the number of the head', { blockNumberMin: '0x2', blockNumberMax: '0x2' }],
  ['its time', { timestampMin: hex(headSec), timestampMax: hex(headSec) }],
  ['the value of a slot', slots(topic(7))],
  ['a storage root', { knownAccounts: { [account(2)]: emptyRoot } }],
])('rpc/methods/eth/submit: forwards a conditional transaction with its condition: %s', async (_what, condition) => {
  const { given, ask } = setUp()
  expect(await ask(condition)).toBe(hashTransaction(raw))
  expect(given).toEqual([condition])
})

const headerCheck = { code: -32003, message: expect.stringContaining('failed header check') }
const stateCheck = { code: -32003, message: expect.stringContaining('failed state check') }
const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [topic(i), topic(1)]))
it.each([
  ['a future block', { blockNumberMin: '0x3' }, headerCheck],
  ['a past block', { blockNumberMax: '0x1' }, headerCheck],
  ['a future time', { timestampMin: hex(headSec + 1) }, headerCheck],
  ['a past time', { timestampMax: hex(headSec - 1) }, headerCheck],
  ['another value', slots(topic(8)), stateCheck],
  ['another storage root', { knownAccounts: { [account(1)]: topic(1) } }, stateCheck],
  ['a reversed range', { blockNumberMin: '0x3', blockNumberMax: '0x2' }, { code: -32602 }],
  [
    'too much to look up',
    { knownAccounts: { [account(1)]: many } },
    { code: -32602, message: 'conditional cost, 1001, exceeded max: 1000' },
  ],
  ['a list', [], { code: -32602 }],
  ['a malformed account', { knownAccounts: { '0x12': emptyRoot } }, { code: -32602 }],
])('rpc/methods/eth/submit: refuses a conditional transaction without forwarding it: %s', async (_what, condition, error) => {
  const { given, ask } = setUp()
  await expect(ask(condition)).rejects.toMatchObject(error)
  expect(given).toEqual([])
})

it('rpc/methods/eth/submit: refuses a conditional transaction without a sequencer (-32004)', async () => {
  const pool = fakePool()
  const asked = async () => ethRegistry.get('eth_sendRawTransactionConditional')?.call({ ...fakeContext(chain), pool }, [toHex(raw), {}])
  await expect(asked).rejects.toMatchObject({ code: -32004 })
  expect(pool.added).toEqual([])
})
