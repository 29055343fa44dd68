import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { bytes } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { internalError, invalidInput, invalidParams, RpcError, serverBusy, unsupported } from '../../errors.ts'
import type { Filters } from '../../filters.ts'
import type { Json } from '../../json.ts'
import type { SequencerLink, TransactionPool } from '../../poolPorts.ts'
import { param, type ResultCodec } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { poolRefusalError } from './poolErrors.ts'

async function addHere(pool: TransactionPool, raw: Uint8Array): Promise<Hash> {
  const outcome = await pool.add(raw)
  if (outcome.kind === 'refused') throw poolRefusalError(outcome.refusal)
  if (outcome.kind === 'known') throw invalidInput('already known')
  return outcome.hash
}

/** The sequencer's words, unchanged. */
async function passOn(sequencer: SequencerLink, raw: Uint8Array, filters: Filters): Promise<Json> {
  const answer = await sequencer.send(raw)
  switch (answer.kind) {
    case 'result':
      filters.notePending(hashTransaction(raw))
      return answer.result
    case 'error':
      throw new RpcError(answer.code, answer.message, answer.data)
    case 'busy':
      throw serverBusy()
    case 'unanswered':
      throw internalError('the sequencer does not answer')
  }
}

async function submit({ sequencer, pool, filters }: EthContext, raw: Uint8Array): Promise<Json> {
  if (raw.length === 0) throw invalidParams('empty transaction data')
  if (sequencer) return await passOn(sequencer, raw, filters)
  if (pool === undefined) throw unsupported('transactions: this node has no pool and knows no sequencer')
  const hash = await addHere(pool, raw)
  filters.notePending(hash)
  return hash
}

const sentResult: ResultCodec<Json> = { doc: '32 bytes in hex: the hash of the transaction', encode: (value) => value }

export const sendRawTransaction = ethMethod({
  name: 'eth_sendRawTransaction',
  doc: 'Puts a signed transaction into the pool, or passes it on to the sequencer where one is set (--sequencer.http): its answer is then passed on as it is.',
  params: [param('transaction', bytes)],
  result: sentResult,
  cost: 'submit',
  example: { params: ['0x1234'] },
  run: submit,
})
