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
  ['in the pool', hash, 'Known', { state: 'pending' }],
  ['in a block', mined, 'Unknown', inBlock],
  ['that is unknown', topic(9), 'Unknown', { state: 'unknown' }],
])('rpc/methods/base/transactionStatus: without a sequencer, reports a transaction %s', async (_what, of, status, detail) => {
  expect(await ask({ pool }, of)).toEqual({ status, detail })
})

const taken: ForwardedTransaction = { state: 'taken', tries: 2, ageMs: 50 }
const linked = (status: SequencerStatus, forwarded?: ForwardedTransaction) =>
  fakeSequencer({ status: async () => status, forwarded: async () => forwarded })
const known: SequencerStatus = { kind: 'status', status: 'Known' }
const failed: SequencerStatus = { kind: 'failed', reason: 'ECONNREFUSED' }
const refused: ForwardedTransaction = { state: 'refused', tries: 1, ageMs: 5, error: { code: -32000, message: 'no' } }

it.each([
  ['returns its status', hash, known, taken, 'Known', { ...taken, pool: 'pending' }],
  ['returns its status, also for a transaction that it refused before', hash, known, refused, 'Known', { ...refused, pool: 'pending' }],
  ['without its answer, reports a taken transaction', topic(8), failed, taken, 'Known', taken],
  ['without its answer, reports a refused transaction', topic(8), failed, refused, 'Unknown', refused],
  ['without its answer, reports a transaction in a block', mined, failed, { ...taken, state: 'included' } as const, 'Unknown', inBlock],
  [
    'reports a transaction as taken when its block left the canonical chain',
    hash,
    known,
    { ...taken, state: 'included' } as const,
    'Known',
    { ...taken, pool: 'pending' },
  ],
])('rpc/methods/base/transactionStatus: with a sequencer, %s', async (_what, of, says, forwarded, status, detail) => {
  expect(await ask({ pool, sequencer: linked(says, forwarded) }, of)).toEqual({ status, detail })
})

it('rpc/methods/base/transactionStatus: fails with the reason when neither sequencer nor node know the transaction (-32603)', async () => {
  await expect(ask({ pool, sequencer: linked(failed) }, topic(9))).rejects.toMatchObject({
    code: -32603,
    message: 'failed to fetch transaction status: ECONNREFUSED',
  })
})
