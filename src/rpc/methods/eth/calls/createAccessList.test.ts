import { expect, it } from 'vitest'
import { account, fakeChain, fakeContext, topic } from '#test/harness/rpc/fakes'
import type { CallOutcome } from '../../../callPorts.ts'
import { createAccessList } from './createAccessList.ts'

const to = account(2)
const accessList = [{ address: to, slots: [topic(1)] }]

function listed(outcome: CallOutcome): unknown {
  const plain = fakeContext(fakeChain([[], []]))
  const measured = { outcome, gasUsed: 30_000n, gasRefunded: 0n }
  return createAccessList.call({ ...plain, calls: { ...plain.calls, list: () => ({ accessList, measured }) } }, [{ to }])
}

it('rpc/methods/eth/calls/createAccessList: returns the list, the gas, and the reason of a failure', () => {
  const expected = { accessList: [{ address: to, storageKeys: [topic(1)] }], gasUsed: '0x7530' }
  expect(listed({ kind: 'success', output: new Uint8Array(0) })).toEqual(expected)
  expect(listed({ kind: 'revert', output: new Uint8Array(0) })).toEqual({ ...expected, error: 'execution reverted' })
})

it('rpc/methods/eth/calls/createAccessList: refuses a message that cannot start', () => {
  const refused: CallOutcome = { kind: 'refused', refusal: { kind: 'override', reason: 'why' } }
  expect(() => listed(refused)).toThrow(expect.objectContaining({ code: -32000, message: 'why' }))
})
