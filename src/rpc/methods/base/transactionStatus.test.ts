import { expect, it } from 'vitest'
import { fakeChain, fakeContext, fakePool, fakeSender, fakeSequencer, signedTransaction, topic } from '#test/harness/rpc/fakes'
import { hashTransaction } from '#types/transaction'
import { ethRegistry } from '../../methods.ts'
import type { ForwardedTransaction, SequencerStatus } from '../../submitPorts.ts'

const chain = fakeChain([[], [[]]])
const context = fakeContext(chain)
const mined = chain.transactionHash(1, 0)
const raw = signedTransaction(7)
const hash = hashTransaction(raw)
const pool = fakePool([{ hash, sender: fakeSender, raw, isPending: true }])
const ask = async (over: object, of: string): Promise<unknown> =>
  ethRegistry.get('base_transactionStatus')?.call({ ...context, ...over }, [of])
const inBlock = { state: 'included', blockHash: chain.blocks[1]?.hash, blockNumber: '0x1' }

it.each([
  ['waits in the pool', hash, 'Known', { state: 'pending' }],
  ['is in a block', mined, 'Unknown', inBlock],
  ['nobody has seen', topic(9), 'Unknown', { state: 'unknown' }],
])('base_transactionStatus: without a sequencer: one that %s', async (_what, of, status, detail) => {
  expect(await ask({ pool }, of)).toEqual({ status, detail })
})

const taken: ForwardedTransaction = { state: 'taken', tries: 2, ageMs: 50 }
const linked = (status: SequencerStatus, forwarded?: ForwardedTransaction) =>
  fakeSequencer({ status: async () => status, forwarded: async () => forwarded })
const known: SequencerStatus = { kind: 'status', status: 'Known' }
const failed: SequencerStatus = { kind: 'failed', reason: 'ECONNREFUSED' }
const refused: ForwardedTransaction = { state: 'refused', tries: 1, ageMs: 5, error: { code: -32000, message: 'no' } }

it.each([
  ['its word counts', hash, known, taken, 'Known', { ...taken, pool: 'pending' }],
  ['its word counts, what was refused here notwithstanding', hash, known, refused, 'Known', { ...refused, pool: 'pending' }],
  ['it does not answer: one that it took', topic(8), failed, taken, 'Known', taken],
  ['it does not answer: one that it refused', topic(8), failed, refused, 'Unknown', refused],
  ['it does not answer: one in a block', mined, failed, { ...taken, state: 'included' } as const, 'Unknown', inBlock],
  [
    'a block that had it is not canonical any more',
    hash,
    known,
    { ...taken, state: 'included' } as const,
    'Known',
    { ...taken, pool: 'pending' },
  ],
])('base_transactionStatus: with a sequencer: %s', async (_what, of, says, forwarded, status, detail) => {
  expect(await ask({ pool, sequencer: linked(says, forwarded) }, of)).toEqual({ status, detail })
})

it('base_transactionStatus: a sequencer that does not answer, about one that is not known here: -32603 with the reason', async () => {
  await expect(ask({ pool, sequencer: linked(failed) }, topic(9))).rejects.toMatchObject({
    code: -32603,
    message: 'failed to fetch transaction status: ECONNREFUSED',
  })
})
